#include "fovea/data/visits/encoder.h"

#include <ATen/ATen.h>

#include <cmath>

#include "tests/data/testing.h"

namespace fovea::visits::encoder_test {
namespace {

using Texts = std::vector<std::string>;

VisitEncoder encoder(int64_t most = 200) {
  VisitEncoder encoder;
  encoder.codes = std::make_shared<const Vocabulary>(Vocabulary(Texts{"x", "y", "z"}));
  encoder.outcome = "yes";
  encoder.time_unit = "days";
  encoder.maximum_visits = most;
  return encoder;
}

PatientRecord patient() {
  return {"p", {{{"x", "never seen"}, 0}, {{}, 2}, {{"z"}, 9}}, "yes"};
}

at::Tensor whole(const std::vector<int64_t>& numbers) {
  return at::tensor(numbers, at::kLong);
}

TEST(VisitData, CodesKnowTheirVisits) {
  const Example example = encoder().example(patient());
  EXPECT_TRUE(example.tensors.at("codes").equal(whole({4, Vocabulary::kUnknown, 6})));
  EXPECT_TRUE(example.tensors.at("visit_of").equal(whole({0, 0, 2})));
  const at::Tensor gaps = example.tensors.at("gaps");
  EXPECT_EQ(gaps[0].item<float>(), 0);
  EXPECT_NEAR(gaps[2].item<double>(), std::log(8), 1e-6) << "seven days after the visit before";
  EXPECT_EQ(example.axis("outcome").labels, (Texts{"yes"}));
  EXPECT_EQ(example.axis("visits").labels, (Texts{"visit 1", "visit 2", "visit 3"}));
  EXPECT_EQ(example.axis("visits").times, (std::vector<double>{0, 2, 9}));
  EXPECT_EQ(example.axis("visits").time_unit, "days");
  EXPECT_EQ(example.axis("codes").labels, (Texts{"x", "never seen", "z"}));
  EXPECT_EQ(example.axis("codes").offsets, (std::vector<int64_t>{0, 2, 2, 3}));
  EXPECT_TRUE(example.truth.empty());
}

TEST(VisitData, APatientWithoutVisitsIsAnExample) {
  const Example example = encoder().example({"p", {}, ""});
  EXPECT_EQ(example.tensors.at("codes").size(0), 0);
  EXPECT_EQ(example.axis("codes").offsets, (std::vector<int64_t>{0}));
  const std::vector<Example> both{example, encoder().example(patient())};
  const Batch batch = collate_visits(both);
  EXPECT_FALSE(batch.at("visits.keep")[0].any().item<bool>());
  EXPECT_TRUE(batch.at("visits.keep")[1].all().item<bool>());
}

TEST(VisitData, LongRecordsLoseTheirFirstVisits) {
  const Example example = encoder(2).example(patient());
  EXPECT_TRUE(example.tensors.at("codes").equal(whole({6})));
  EXPECT_EQ(example.axis("visits").labels, (Texts{"visit 2", "visit 3"}));
  ASSERT_EQ(example.cuts.size(), 1u);
  EXPECT_EQ(example.cuts[0].unit, "visits");
  EXPECT_EQ(example.cuts[0].read, 2);
  EXPECT_EQ(example.cuts[0].of, 3);
  EXPECT_TRUE(encoder().example(patient()).cuts.empty());
  const VisitDataset rows({{patient(), 1}}, encoder(2));
  EXPECT_EQ(rows.cut_patients(), 1);
  EXPECT_EQ(rows.visits(), 2);
}

TEST(VisitData, BatchesEqualCollatedExamples) {
  const PatientRecord other{"q", {{{"y", "z"}, {}}, {{"y"}, {}}}, "no"};
  const VisitDataset rows({{patient(), 1}, {other, 0}}, encoder());
  EXPECT_NEAR(rows.unknown_share(), 1.0 / 6, 1e-9);
  const std::vector<int64_t> picked{1, 0};
  const Batch batch = rows.batch(picked);
  const std::vector<Example> examples{rows.example(1), rows.example(0)};
  const Batch collated = collate_visits(examples);
  EXPECT_TRUE(batch.at("target").equal(whole({0, 1})));
  for (const char* name : {"codes", "codes.keep", "visit_of", "gaps", "visits.keep"})
    EXPECT_TRUE(batch.at(name).equal(collated.at(name))) << name;
  EXPECT_TRUE(batch.at("codes.keep").sum(1).equal(whole({3, 3})));
  EXPECT_TRUE(batch.at("visits.keep").sum(1).equal(whole({2, 3})));
}

TEST(VisitData, PlantedCausesAreMarkedWhereTheyCount) {
  VisitEncoder planted = encoder();
  planted.planted = {{"x"}, {"z"}, 2};
  const PatientRecord record{"p", {{{"x", "y"}, {}}, {{"x"}, {}}, {{"y", "z"}, {}}}, "no"};
  const Example example = planted.example(record);
  EXPECT_TRUE(example.truth.at("contributions")
                  .equal(at::tensor({0, 0, 1, 0, 1}).to(at::kBool).unsqueeze(0)))
      << "the first visit is too old";
  EXPECT_TRUE(example.truth.at("visits").equal(at::tensor({0, 1, 1}).to(at::kBool).unsqueeze(0)));
  EXPECT_TRUE(
      example.truth.at("raising").equal(at::tensor({1, 0, 1, 0, 0}).to(at::kBool).unsqueeze(0)))
      << "however old";
  EXPECT_TRUE(
      example.truth.at("lowering").equal(at::tensor({0, 0, 0, 0, 1}).to(at::kBool).unsqueeze(0)));
}

TEST(VisitData, ErasedCodesAreUnknown) {
  const Example example = encoder().example(patient());
  const std::vector<int64_t> code{2}, visit{0}, none{7};
  EXPECT_TRUE(erase_codes(example, "codes", code)
                  .tensors.at("codes")
                  .equal(whole({4, Vocabulary::kUnknown, Vocabulary::kUnknown})));
  EXPECT_TRUE(erase_codes(example, "visits", visit)
                  .tensors.at("codes")
                  .equal(whole({Vocabulary::kUnknown, Vocabulary::kUnknown, 6})));
  EXPECT_EQ(erase_codes(example, "codes", code).axis("codes").labels, example.axis("codes").labels);
  expect_error(ErrorKind::InvalidArgument, "7", [&] { erase_codes(example, "visits", none); });
  expect_error(ErrorKind::InvalidArgument, "7", [&] { erase_codes(example, "codes", none); });
  expect_error(ErrorKind::Unsupported, "outcome", [&] { erase_codes(example, "outcome", code); });
}

}  // namespace
}  // namespace fovea::visits::encoder_test

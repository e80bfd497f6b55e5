#include "fovea/data/traces/encoder.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

namespace fovea::traces::encoder_test {
namespace {

using Numbers = std::vector<int64_t>;

Numbers numbers_of(const at::Tensor& tensor) {
  const at::Tensor own = tensor.contiguous();
  return {own.data_ptr<int64_t>(), own.data_ptr<int64_t>() + own.numel()};
}

/// Line of a page.
int64_t line(int64_t page, int64_t offset) {
  return page * kPageLines + offset;
}

std::shared_ptr<const TraceStore> store_of(const std::vector<StoredAccess>& accesses) {
  auto store = std::make_shared<TraceStore>("");
  for (const StoredAccess& access : accesses) store->push_back(access);
  store->finish();
  return store;
}

/// Page 100 three times, 200 twice, and single pages, 7 behind the one before each.
const std::vector<StoredAccess> kAccesses{
    {line(100, 1), 0xa}, {line(200, 2), 0xb}, {line(207, 3), 0xa}, {line(100, 4), 0xa},
    {line(107, 5), 0xc}, {line(100, 6), 0xa}, {line(200, 7), 0xb}};

std::shared_ptr<const TraceCoding> coding() {
  const auto store = store_of(kAccesses);
  return std::make_shared<const TraceCoding>(learn_vocabulary(*store, store->size(), {}));
}

TEST(TraceCoding, FrequentPagesHaveNumbersAndSoHaveStepsToTheOthers) {
  const auto store = store_of(kAccesses);
  const TraceVocabulary vocabulary = learn_vocabulary(*store, store->size(), {});
  EXPECT_EQ(vocabulary.pages, (Numbers{100, 200}));
  EXPECT_EQ(vocabulary.steps, Numbers{7});
  EXPECT_EQ(vocabulary.pcs, (std::vector<uint64_t>{0xa, 0xb})) << "0xc came once";
  const TraceCoding own(vocabulary);
  EXPECT_EQ(own.page_numbers(), 4);
  EXPECT_EQ(own.pc_numbers(), 3);
  EXPECT_EQ(own.number_of_page(100, {}), 1);
  EXPECT_EQ(own.number_of_page(200, 193), 2) << "its own number comes first";
  EXPECT_EQ(own.number_of_page(307, 300), 3) << "never seen, but 7 further";
  EXPECT_EQ(own.number_of_page(307, 301), 0);
  EXPECT_EQ(own.number_of_page(307, {}), 0);
  EXPECT_EQ(own.number_of_pc(0xc), 0);
}

TEST(TraceCoding, OnlyTheTrainingPartIsLookedAt) {
  const auto store = store_of(kAccesses);
  EXPECT_EQ(learn_vocabulary(*store, 4, {}).pages, Numbers{100});
}

TEST(TraceCoding, LimitsKeepTheMostFrequent) {
  const auto store = store_of(kAccesses);
  VocabularyLimits limits;
  limits.pages = 1;
  limits.minimum_count = 1;
  limits.steps = 1;
  const TraceVocabulary vocabulary = learn_vocabulary(*store, store->size(), limits);
  EXPECT_EQ(vocabulary.pages, Numbers{100});
  EXPECT_EQ(vocabulary.steps, Numbers{7}) << "100 came twice as well: the smaller one first";
}

TEST(TraceCoding, NumbersMeanPages) {
  const auto own = coding();
  EXPECT_EQ(own->page_of(0, 5), std::nullopt);
  EXPECT_EQ(own->page_of(1, 5), 100);
  EXPECT_EQ(own->page_of(3, 5), 12) << "7 further";
  EXPECT_EQ(own->page_of(4, 5), std::nullopt) << "there is no such number";
  EXPECT_EQ(own->page_of(3, kMostLines / kPageLines - 1), std::nullopt) << "memory ends";
}

TEST(TraceCoding, SurvivesJson) {
  const auto own = coding();
  const TraceCoding again = TraceCoding::from_json(own->to_json(), "trace.json");
  EXPECT_EQ(again.to_json(), own->to_json());
  EXPECT_EQ(again.number_of_page(307, 300), 3);
  for (const char* broken :
       {"[]", R"({"format": "fovea-trace", "version": 0})",
        R"({"format": "fovea-trace", "version": 1, "pages": ["xyz"], "steps": [], "pcs": []})",
        R"({"format": "fovea-trace", "version": 1, "pages": [17], "steps": [], "pcs": []})",
        R"({"format": "fovea-trace", "version": 1, "pages": ["fffffffffffffff"], "steps": [],
            "pcs": []})",
        R"({"format": "fovea-trace", "version": 1, "pages": [], "steps": ["a"], "pcs": []})",
        R"({"format": "fovea-trace", "version": 1, "pages": [], "steps": []})"})
    expect_error(ErrorKind::BadData, "trace.json",
                 [&] { TraceCoding::from_json(parse_json(broken, "text"), "trace.json"); });
  const Json newer{{"format", "fovea-trace"}, {"version", 2}};
  expect_error(ErrorKind::Unsupported, "trace.json",
               [&] { TraceCoding::from_json(newer, "trace.json"); });
}

TEST(TraceEncoder, ShorterHistoriesBeginWithTheUnknown) {
  const TraceEncoder encoder(coding(), {4, 2});
  const Example example =
      encoder.example(std::vector<StoredAccess>{{line(200, 9), 0xb}, {line(207, 63), 0xc}});
  EXPECT_EQ(numbers_of(example.tensors.at("pages")), (Numbers{0, 0, 2, 3}));
  EXPECT_EQ(numbers_of(example.tensors.at("offsets")), (Numbers{64, 64, 9, 63}));
  EXPECT_EQ(numbers_of(example.tensors.at("pcs")), (Numbers{0, 0, 2, 0}));
  EXPECT_EQ(numbers_of(example.tensors.at("lines")),
            (Numbers{-1, -1, line(200, 9), line(207, 63)}));
  EXPECT_EQ(example.axis("accesses").labels,
            (std::vector<std::string>{"none", "none", "c8240", "cffc0"}));
  EXPECT_EQ(example.axis("accesses").values[3], "by c");
  EXPECT_EQ(example.axis("experts").labels.size(), 2u);
}

TEST(TraceEncoder, LongerHistoriesAreCutButSayWhereTheFirstStepCameFrom) {
  const TraceEncoder encoder(coding(), {2, 0});
  const Example example = encoder.example(std::vector<StoredAccess>{
      {line(1, 0), 1}, {line(300, 0), 1}, {line(307, 1), 1}, {line(100, 2), 1}});
  EXPECT_EQ(numbers_of(example.tensors.at("pages")), (Numbers{3, 1}));
  EXPECT_EQ(numbers_of(example.tensors.at("offsets")), (Numbers{1, 2}));
}

TEST(TraceEncoder, ErasesAccessesAndExperts) {
  const TraceEncoder encoder(coding(), {3, 2});
  const Example example = encoder.example(kAccesses);
  const std::vector<int64_t> units{1};
  const Example fewer = encoder.erase(example, "accesses", units);
  EXPECT_EQ(numbers_of(example.tensors.at("pages")), (Numbers{3, 1, 2})) << "the original stays";
  EXPECT_EQ(numbers_of(fewer.tensors.at("pages")), (Numbers{3, 0, 2}));
  EXPECT_EQ(numbers_of(fewer.tensors.at("offsets")), (Numbers{5, 64, 7}));
  EXPECT_EQ(numbers_of(fewer.tensors.at("pcs")), (Numbers{0, 0, 2}));
  EXPECT_EQ(numbers_of(fewer.tensors.at("lines")), numbers_of(example.tensors.at("lines")));
  const Example alone = encoder.erase(example, "experts", units);
  EXPECT_EQ(numbers_of(alone.tensors.at("experts").to(at::kLong)), (Numbers{1, 0}));
  const std::vector<Example> both{example, alone};
  const Batch batch = encoder.collate(both);
  EXPECT_EQ(batch.at("experts").sum().item<int64_t>(), 3) << "who says nothing has all of them";
  EXPECT_EQ(batch.at("pages").sizes(), at::IntArrayRef({2, 3}));
  expect_error(ErrorKind::Unsupported, "words", [&] { encoder.erase(example, "words", units); });
  const std::vector<int64_t> beyond{3};
  expect_error(ErrorKind::InvalidArgument, "unit 3",
               [&] { encoder.erase(example, "accesses", beyond); });
}

TEST(TraceDataset, ABatchIsItsExamplesWithWhatFollows) {
  const auto store = store_of(kAccesses);
  const TraceEncoder encoder(coding(), {3, 0});
  const TraceDataset rows(store, encoder, {0, 1, 6}, {}, nullptr);
  ASSERT_EQ(rows.size(), 6);
  const std::vector<int64_t> all{0, 1, 2, 3, 4, 5};
  const Batch batch = rows.batch(all);
  for (int64_t row = 0; row < 6; ++row) {
    const Example example = rows.example(row);
    for (const char* name : {"pages", "offsets", "pcs", "lines"})
      EXPECT_TRUE(example.tensors.at(name).equal(batch.at(name)[row])) << name << " " << row;
    EXPECT_EQ(batch.at("next")[row].item<int64_t>(), kAccesses[size_t(row + 1)].line);
  }
  EXPECT_EQ(numbers_of(batch.at("target_pages")[0]), (Numbers{kNoTarget, kNoTarget, 2}));
  EXPECT_EQ(numbers_of(batch.at("target_pages")[4]), (Numbers{1, 3, 1}));
  EXPECT_EQ(numbers_of(batch.at("target_offsets")[4]), (Numbers{4, 5, 6}));
  EXPECT_THROW(rows.example(6), Error);
}

TEST(TraceDataset, RowsByStrideWithCandidatesAndCauses) {
  const auto store = store_of(kAccesses);
  auto lines = std::make_shared<ScratchArray<int64_t>>("");
  for (int64_t i = 0; i < 14; ++i) lines->push_back(1000 + i);
  lines->finish();
  const auto causes = std::make_shared<const AccessCauses>(AccessCauses{{0xa, 2}, {0xb, 9}});
  const TraceDataset rows(store, TraceEncoder(coding(), {3, 0}), {2, 2, 2}, {lines, 2}, causes);
  const std::vector<int64_t> first{0}, second{1};
  EXPECT_EQ(rows.batch(first).at("next").item<int64_t>(), kAccesses[3].line);
  EXPECT_EQ(rows.batch(second).at("next").item<int64_t>(), kAccesses[5].line) << "the stride is 2";
  EXPECT_EQ(numbers_of(rows.batch(second).at("candidates")), (Numbers{1008, 1009}));
  const Example example = rows.example(1);  // the next one is by 0xa
  EXPECT_EQ(numbers_of(example.tensors.at("candidates")), (Numbers{1008, 1009}));
  const at::Tensor truth = example.truth.at("history");
  ASSERT_EQ(truth.sizes(), at::IntArrayRef({2, 3}));
  EXPECT_TRUE(truth.select(1, 1).all().item<bool>()) << "two accesses before its own";
  EXPECT_EQ(truth.sum().item<int64_t>(), 2);
  EXPECT_EQ(split(rows.input(1).get<std::string>(), ';').size(), 4u) << "and the one before";
}

TEST(Hexadecimal, AllSixteenDigits) {
  EXPECT_EQ(hexadecimal(0), "0");
  EXPECT_EQ(hexadecimal(0xffffffffffffffff), "ffffffffffffffff");
}

}  // namespace
}  // namespace fovea::traces::encoder_test

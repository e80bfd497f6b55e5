#include "fovea/data/visits/load.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::visits::load_test {
namespace {

using Texts = std::vector<std::string>;

const VisitDataset& rows_of(const std::shared_ptr<Dataset>& rows) {
  return dynamic_cast<const VisitDataset&>(*rows);
}

/// Patients p0 … p9 with the labels in turn.
std::string table(const Texts& labels) {
  std::string content = "patient,codes,label\n";
  for (size_t i = 0; i < 10; ++i)
    content += concat("p", i, ",common rare", i, ",", labels[i % labels.size()], "\n");
  return content;
}

struct Loaded {
  Splits splits;
  VisitCoding coding;
};

Loaded load(const std::string& content, VisitsDataOptions options = {}) {
  const TemporaryFolder folder;
  Loaded loaded;
  loaded.splits = load_visits({folder.write("a.csv", content), {}}, options, loaded.coding, 1);
  return loaded;
}

TEST(VisitsData, FindsTheOutcome) {
  const auto outcome = [](const Texts& labels) { return load(table(labels)).coding.outcome(); };
  EXPECT_EQ(outcome({"no", "yes"}), "yes");
  EXPECT_EQ(outcome({"1", "0"}), "1");
  EXPECT_EQ(outcome({"true", "zebra"}), "true");
  EXPECT_EQ(outcome({"10", "9"}), "10") << "numbers by size";
  EXPECT_EQ(outcome({"alive", "dead"}), "dead") << "else the later one";
}

TEST(VisitsData, SeveralLabelsNeedToBeNamed) {
  expect_error(ErrorKind::BadData, {"3 labels", "<30, >30, NO", "data.positive"}, [] {
    load(table({"NO", ">30", "<30"}));
  });
  VisitsDataOptions options;
  options.positive = {"<30", ">30"};
  const Loaded loaded = load(table({"NO", ">30", "<30"}), options);
  EXPECT_EQ(loaded.coding.classes(), (Texts{"NO", "<30 or >30"}));
  options.positive = {"<3"};
  expect_error(ErrorKind::BadData, {"'<3'", "there are: <30"}, [&] {
    load(table({"NO", ">30", "<30"}), options);
  });
  expect_error(ErrorKind::BadData, {"one side of the outcome"}, [] { load(table({"NO"})); });
}

TEST(VisitsData, PatientsMayHaveSeveralLabels) {
  std::string content = "patient,codes,labels\n", lists;
  const Texts labels{"flu", "flu|gout", "", "gout"};
  for (size_t i = 0; i < 12; ++i) {
    content += concat("p", i, ",common,", labels[i % 4], "\n");
    lists += concat("{\"patient\": \"p", i, "\", \"codes\": [\"common\"], \"label\": ",
                    Json(split(labels[i % 4], '|')).dump(), "}\n");
  }
  const Loaded loaded = load(content);
  EXPECT_EQ(loaded.coding.kind(), AnswerKind::Labels);
  EXPECT_EQ(loaded.coding.classes(), (Texts{"flu", "gout"}));
  EXPECT_EQ(loaded.splits.train->size() + loaded.splits.validation->size(), 12)
      << "who has none of them says something too";
  const TemporaryFolder folder;
  VisitCoding coding;
  const Splits same = load_visits({folder.write("a.jsonl", lists), {}}, {}, coding, 1);
  const std::vector<int64_t> first{0, 1, 2, 3};
  const at::Tensor targets = loaded.splits.train->batch(first).at("target");
  EXPECT_EQ(targets.sizes(), at::IntArrayRef({4, 2}));
  EXPECT_TRUE(targets.equal(same.train->batch(first).at("target")));
  EXPECT_EQ(loaded.splits.train->example(0).axis("outcome").labels, (Texts{"flu", "gout"}));
  const VisitCoding back = VisitCoding::from_json(loaded.coding.to_json(), "visits.json");
  EXPECT_EQ(back.classes(), loaded.coding.classes());
  EXPECT_EQ(back.separator, "|");
  VisitsDataOptions options;
  options.positive = {"flu"};
  expect_error(ErrorKind::InvalidArgument, {"data.positive", "several labels"},
               [&] { load(content, options); });
  options.target.target_kind = "class";
  const Loaded classes = load(content, options);
  EXPECT_EQ(classes.coding.classes(), (Texts{"flu|gout or gout", "flu"}));
  EXPECT_EQ(classes.splits.train->size() + classes.splits.validation->size(), 9);
}

TEST(VisitsData, ColumnsOf0And1AreLabels) {
  std::string content = "patient,codes,flu,age,gout\n";
  for (size_t i = 0; i < 12; ++i)
    content += concat("p", i, ",common,", i % 2, ",", i % 3, ",", i % 4 == 1 ? "yes" : "no", "\n");
  const TemporaryFolder folder;
  const auto path = folder.write("a.csv", content);
  const auto targets = [&](const Roles& roles) {
    VisitCoding coding;
    const Splits splits = load_visits({path, roles}, {}, coding, 1);
    EXPECT_EQ(coding.kind(), AnswerKind::Labels);
    EXPECT_EQ(coding.classes(), (Texts{"flu", "gout"}));
    EXPECT_EQ(splits.train->size() + splits.validation->size(), 12);
    EXPECT_EQ(splits.train->example(0).axis("codes").labels.size(),
              roles.contains("code") ? 2u : 1u);
    return splits.train->batch(std::vector<int64_t>{0, 1, 2, 3}).at("target");
  };
  const at::Tensor named = targets({{"label", {"flu", "gout"}}, {"code", {"age"}}});
  EXPECT_EQ(named.sizes(), at::IntArrayRef({4, 2}));
  EXPECT_GT(named.sum().item<float>(), 0);
  EXPECT_TRUE(named.equal(targets({{"target", {"flu, gout"}}})));
  VisitCoding coding;
  expect_error(ErrorKind::BadData, {"a.csv:4", "'age'"}, [&] {
    load_visits({path, {{"label", {"flu", "age"}}}}, {}, coding, 1);
  });
}

TEST(VisitsData, EveryVisitMayBeAnswered) {
  std::string content = "patient,time,codes,label\n";
  for (size_t i = 0; i < 10; ++i)
    content += concat("p", i, ",1,a b,no\np", i, ",2,c,\np", i, ",3,a,yes\n");
  VisitsDataOptions options;
  options.minimum_count = 1;
  options.reading.labels = "every";
  const Loaded loaded = load(content, options);
  const VisitDataset& rows = rows_of(loaded.splits.train);
  EXPECT_EQ(rows.size(), 18) << "two of the visits of nine patients have a label";
  EXPECT_EQ(rows.input(0)["visits"].size(), 1u);
  EXPECT_EQ(rows.input(1)["visits"].size(), 3u) << "what was known until then";
  const std::vector<int64_t> first{0, 1};
  const Batch batch = rows.batch(first);
  EXPECT_TRUE(batch.at("target").equal(at::tensor({0, 1}, at::kLong)));
  EXPECT_TRUE(batch.at("visits.keep").sum(1).equal(at::tensor({1, 3}, at::kLong)));
  const std::vector<Example> examples{rows.example(0), rows.example(1)};
  const Batch collated = collate_visits(examples);
  for (const char* name : {"codes", "codes.keep", "visit_of", "gaps", "visits.keep"})
    EXPECT_TRUE(batch.at(name).equal(collated.at(name))) << name;
  EXPECT_EQ(rows.length(0), 2);
  options.maximum_visits = 2;
  const Loaded cut = load(content, options);
  const Batch last = rows_of(cut.splits.train).batch(first);
  EXPECT_TRUE(last.at("visits.keep").sum(1).equal(at::tensor({1, 2}, at::kLong)));
  EXPECT_EQ(last.at("gaps")[1][0].item<float>(), 0) << "nothing is known of the visit before";
}

TEST(VisitsData, BuiltInAnswersOfEveryKindAreWrittenAndRead) {
  for (const bool several : {false, true})
    for (const bool every : {false, true}) {
      VisitsDataOptions options;
      options.generator.rows = 60, options.generator.validation_rows = 10;
      options.generator.test_rows = 10;
      if (every) options.reading.labels = "every";
      if (several) options.target.target_kind = "labels";
      const TemporaryFolder folder;
      write_visits_data(folder.path(), options);
      VisitCoding drawn, read;
      const Splits one = load_visits({}, options, drawn, 1);
      options.target.target_kind = "auto";
      const Splits other = load_visits({folder.path(), {}}, options, read, 1);
      EXPECT_EQ(drawn.classes(), read.classes());
      ASSERT_EQ(one.train->size(), other.train->size());
      EXPECT_EQ(one.train->size() > 60, every);
      std::vector<int64_t> rows(size_t(one.train->size()));
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = int64_t(i);
      EXPECT_TRUE(one.train->batch(rows).at("target").equal(other.train->batch(rows).at("target")));
      const at::Tensor truth = one.train->example(3).truth.at("contributions");
      EXPECT_EQ(truth.size(0), several ? 3 : 1);
      EXPECT_TRUE(truth.equal(other.train->example(3).truth.at("contributions")));
    }
}

TEST(VisitsData, RareCodesAreUnknown) {
  const Loaded loaded = load(table({"no", "yes"}));
  EXPECT_EQ(loaded.coding.codes->size(), Vocabulary::kSpecial + 1) << "only the common one";
  EXPECT_TRUE(has_note(loaded.splits.notes, "50 % of their codes are unknown"));
  VisitsDataOptions options;
  options.minimum_count = 11;
  expect_error(ErrorKind::BadData, "data.minimum_count", [&] {
    load(table({"no", "yes"}), options);
  });
}

TEST(VisitsData, TheCodingSurvivesAFile) {
  const Loaded loaded = load(table({"no", "yes"}));
  const VisitCoding back = VisitCoding::from_json(loaded.coding.to_json(), "visits.json");
  EXPECT_EQ(back.to_json(), loaded.coding.to_json());
  for (const char* key : {"negative", "positive", "times", "codes"}) {
    Json broken = loaded.coding.to_json();
    broken.erase(key);
    expect_error(ErrorKind::BadData, "visits.json",
                 [&] { VisitCoding::from_json(broken, "visits.json"); });
  }
}

TEST(VisitsData, LabelsThatARunDoesNotKnowAreRefused) {
  Loaded loaded = load(table({"no", "yes"}));
  const TemporaryFolder folder;
  const auto path = folder.write("b.csv", "patient,codes,label\na,common,maybe\n");
  expect_error(ErrorKind::BadData, {"'a'", "'maybe'", "does not know"}, [&] {
    load_visits({path, {}, true}, {}, loaded.coding, 1);
  });
  const auto unseen = folder.write("c.csv", "patient,codes,label\na,nobody knows,yes\n");
  const Splits splits = load_visits({unseen, {}, true}, {}, loaded.coding, 1);
  EXPECT_EQ(rows_of(splits.test).unknown_share(), 1) << "codes never seen are no error";
}

TEST(VisitsData, FilesGiveTheSameRows) {
  const TemporaryFolder folder;
  VisitsDataOptions options;
  options.generator.rows = 60;
  options.generator.validation_rows = 10;
  options.generator.test_rows = 10;
  options.minimum_count = 1;
  write_visits_data(folder.path() / "data", options);
  VisitCoding drawn_coding, read_coding;
  const Splits drawn = load_visits({}, options, drawn_coding, 1);
  const Splits read = load_visits({folder.path() / "data", {}}, options, read_coding, 1);
  EXPECT_EQ(read_coding.to_json(), drawn_coding.to_json());
  EXPECT_TRUE(read_coding.times);
  expect_same_splits(drawn, read);
  for (const char* map : {"visits", "contributions", "raising", "lowering"})
    EXPECT_TRUE(read.test->map_truth(0, map).defined()) << map;
  Json description = read_json_file(folder.path() / "data" / "dataset.json");
  description["truth"] = {{"raising", 3}};
  write_json_file(folder.path() / "data" / "dataset.json", description);
  VisitCoding coding;
  expect_error(ErrorKind::BadData, {"dataset.json", "truth.raising"}, [&] {
    load_visits({folder.path() / "data", {}}, options, coding, 1);
  });
}

}  // namespace
}  // namespace fovea::visits::load_test

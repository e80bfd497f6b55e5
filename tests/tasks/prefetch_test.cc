// The task `prefetch` from traces to answers, with all its models.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/data/traces/encoder.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::prefetch_test {
namespace {

using namespace testing;

const Assignments kSmall = {"data.accesses=600", "data.nodes=20",    "data.window=6",
                            "model.hidden=8",    "model.page=8",     "model.pc=4",
                            "model.experts=3",   "training.epochs=1"};

Pipeline trained(const TemporaryFolder& folder, const Assignments& assignments,
                 const std::filesystem::path& data = {}) {
  return trained_pipeline(setup_of("prefetch", assignments), folder, data);
}

std::vector<std::string> streamed(const Pipeline& pipeline, const std::filesystem::path& path,
                                  bool json = false) {
  std::vector<std::string> lines;
  const StreamReport report = pipeline.task().stream(
      pipeline.model(), path, json, [&](const auto& line) { lines.push_back(line); });
  EXPECT_EQ(report.predictions, int64_t(lines.size()));
  return lines;
}

/// Metrics of a prefetcher on one of the built-in programs.
Metrics measured(const std::string& model, const std::string& pattern) {
  const TemporaryFolder folder;
  Pipeline pipeline =
      trained(folder, {"model.name=" + model, "data.pattern=" + pattern, "data.accesses=4000"});
  return pipeline.measure(*pipeline.load_data("").test);
}

TEST(Prefetch, EachProgramHasItsPrefetcher) {
  EXPECT_GT(metric(measured("stride", "matrix_walk"), "coverage"), 0.9);
  EXPECT_LT(metric(measured("stride", "pointer_chase"), "coverage"), 0.05);
  EXPECT_EQ(metric(measured("next_line", "matrix_walk"), "coverage"), 0);
  const Metrics join = measured("last_successor", "hash_join");
  EXPECT_GT(metric(join, "coverage"), 0.3) << "an entry follows its bucket";
  EXPECT_LT(metric(join, "coverage"), 0.45) << "keys are drawn, and rows are new";
  EXPECT_GE(metric(join, "coverage_4"), metric(join, "coverage"));
  EXPECT_LT(metric(measured("last_successor", "pointer_chase"), "coverage"), 0.1)
      << "two lists of different lengths";
}

/// The share of the weights on what is planted, from the pictures of all rows.
double shown_truth(const Pipeline& pipeline, const Dataset& rows) {
  double sum = 0, queries = 0;
  for (int64_t row = 0; row < rows.size(); ++row) {
    const MapView history = pipeline.explain(rows.example(row)).maps.back();
    for (size_t query = 0; query < history.queries(); ++query) {
      double all = 0, planted = 0;
      for (size_t key = 0; key < history.keys(); ++key) {
        all += history.weight(query, key);
        if (history.is_true(query, key)) planted += history.weight(query, key);
      }
      if (planted > 0) sum += planted / all, queries += 1;
    }
  }
  return sum / queries;
}

TEST(Prefetch, TheNetworkLearnsWhatATableCannot) {
  const TemporaryFolder folder;
  Pipeline pipeline = trained(
      folder, {"data.accesses=4000", "data.nodes=12", "data.window=8", "data.stride=4",
               "model.hidden=32", "model.page=16", "model.experts=4", "model.history=attention",
               "model.dropout=0", "training.epochs=25", "training.batch_size=16",
               "training.learning_rate=0.01", "training.micro_batches=1"});
  const Splits splits = pipeline.load_data("");
  const Metrics metrics = pipeline.measure(*splits.test);
  EXPECT_GT(metric(metrics, "coverage"), 0.9) << "two lists walked in turn";
  EXPECT_GE(metric(metrics, "coverage_4"), metric(metrics, "coverage"));
  EXPECT_NEAR(metric(metrics, "attention_truth"), shown_truth(pipeline, *splits.test), 1e-3);
}

TEST(Prefetch, ATypedHistoryIsTheTraces) {
  for (const char* model : {"voyager", "last_successor"}) {
    SCOPED_TRACE(model);
    const TemporaryFolder folder;
    Assignments options = kSmall;
    if (std::string(model) != "voyager")
      options = {"data.accesses=600", "data.nodes=20", "data.window=6"};
    options.insert(options.begin(), std::string("model.name=") + model);
    Pipeline pipeline = trained(folder, options);
    const Splits splits = pipeline.load_data("");
    const Json inputs = pipeline.folder().read_asset("examples.json");
    ASSERT_GT(inputs.size(), 0u);
    const auto text = inputs[0].get<std::string>();
    const Example own = splits.validation->example(0);
    const Example typed = pipeline.parse(text);
    for (const char* name : {"pages", "offsets", "pcs", "lines"})
      EXPECT_TRUE(typed.tensors.at(name).equal(own.tensors.at(name))) << name;
    const Json given = answer(pipeline, text);
    EXPECT_TRUE(given.at("lines").is_array());
    EXPECT_EQ(answer(pipeline, Json{{"accesses", split(text, ';')}}.dump()), given);
  }
}

TEST(Prefetch, StreamedAnswersAreThoseOfTheTest) {
  for (const std::string model : {"voyager", "last_successor"}) {
    SCOPED_TRACE(model);
    const TemporaryFolder folder;
    Assignments options = model == "voyager"
                              ? kSmall
                              : Assignments{"data.accesses=600", "data.nodes=20", "data.window=6"};
    options.insert(options.begin(), "model.name=" + model);
    Pipeline pipeline = trained(folder, options);
    const TemporaryFolder data;
    pipeline.task().write_data(data.path());
    const auto path = data / "test.trace";
    const std::vector<std::string> lines = streamed(pipeline, path);
    const Splits whole = pipeline.load_data(path.string());
    ASSERT_EQ(int64_t(lines.size()), whole.test->size() + 1) << "the last one has nothing behind";
    for (const int64_t row : {int64_t{0}, int64_t{3}, whole.test->size() - 1}) {
      const Example example = whole.test->example(row);
      const Prediction prediction = pipeline.predict({&example, 1})[0];
      const std::string now = example.axis("accesses").labels.back();
      EXPECT_EQ(lines[size_t(row)],
                concat(now, "\t", pipeline.task().answer_line(example, prediction)));
    }
    const Json object = parse_json(streamed(pipeline, path, /*json=*/true)[3], "line");
    EXPECT_TRUE(object.contains("access") && object.contains("lines"));
  }
}

TEST(Prefetch, PagesNeverSeenAreReachedBySteps) {
  // A walk from page to page that never comes back: only steps can be known.
  std::string text;
  for (int64_t i = 0; i < 1500; ++i)
    text += concat("L ", hexadecimal(uint64_t(0x10000 + i * 4096)), " 8 400\n");
  const TemporaryFolder folder, data;
  const auto path = data.write("walk.trace", text);
  Pipeline pipeline = trained(folder,
                              {"data.window=4", "data.stride=2", "model.hidden=8", "model.page=8",
                               "model.experts=2", "training.epochs=6", "training.batch_size=16",
                               "training.learning_rate=0.02", "training.micro_batches=1"},
                              path);
  const Metrics metrics = pipeline.measure(*pipeline.load_data("").test);
  EXPECT_GT(metric(metrics, "coverage"), 0.95);
  const Json given = answer(pipeline, "L ffff0000 8 400; L ffff1000 8 400; L ffff2000 8 400");
  EXPECT_EQ(given.at("lines").at(0).at("address"), "ffff3000");
}

TEST(Prefetch, ExplainsExpertsAndHistory) {
  const TemporaryFolder folder;
  Assignments options = kSmall;
  options.push_back("model.history=attention");
  Pipeline pipeline = trained(folder, options);
  const Splits splits = pipeline.load_data("");
  const Explanation explanation = pipeline.explain(splits.test->example(0));
  ASSERT_EQ(explanation.maps.size(), 2u);
  const MapView& history = explanation.maps[1];
  EXPECT_EQ(history.name, "history");
  EXPECT_EQ(history.query_labels.size(), 2u);
  EXPECT_EQ(history.key_labels.size(), 6u);
  EXPECT_EQ(history.truth.size(), 12u) << "which access decides is planted";
  EXPECT_FALSE(pipeline.overview(*splits.test).maps.empty());
}

TEST(Prefetch, BaselinesHaveNothingToExplain) {
  const TemporaryFolder folder;
  Pipeline pipeline = trained(folder, {"model.name=stride", "data.accesses=600"});
  const Splits splits = pipeline.load_data("");
  expect_error(ErrorKind::Unsupported, "model.name=voyager",
               [&] { pipeline.overview(*splits.test); });
  const Json silent = answer(pipeline, "L 10 8 400");
  EXPECT_TRUE(silent.at("lines").empty()) << "one access has no stride";
  const Example example = pipeline.parse("L 10 8 400");
  EXPECT_EQ(pipeline.task().answer_line(example, pipeline.predict({&example, 1})[0]), "nothing");
}

TEST(Prefetch, BadInputsAreRefused) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder, kSmall);
  for (const char* input : {"", "  ", ";;", "L 10 8", "X 10 8 400", R"({"accesses": []})",
                            R"({"accesses": "L 10 8 400"})", R"({"accesses": [17]})", "{}"})
    expect_error(ErrorKind::BadData, "input: ", [&] { pipeline.parse(input); });
  EXPECT_NO_THROW(answer(pipeline, "L ffffffffffffffff 8 ffffffffffffffff"));
  const TemporaryFolder data;
  const auto cut = data.write("cut.trace", "L 10 8 400\nL 1");
  expect_error(ErrorKind::BadData, "mid-line", [&] { streamed(pipeline, cut); });
  const Pipeline lenient = Pipeline::load(folder / "run", "cpu", {"data.cut=leave_out"});
  EXPECT_EQ(streamed(lenient, cut).size(), 1u) << "as the message says";
  expect_error(ErrorKind::InvalidArgument, "data.cut",
               [&] { Pipeline::load(folder / "run", "cpu", {"data.window=3"}); });
  EXPECT_TRUE(streamed(pipeline, data.write("empty.trace", "")).empty());
}

}  // namespace
}  // namespace fovea::prefetch_test

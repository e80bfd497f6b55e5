// Real runs behind the server: what it answers is what the run itself answers.
#include "fovea/serving/pipeline_model.h"

#include <gtest/gtest.h>

#include <fstream>

#include "fovea/base/file.h"
#include "fovea/explain/record/json.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/train.h"
#include "tests/serving/expect_refusal.h"
#include "tests/serving/test_server.h"
#include "tests/support/cpu_time.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"
#include "tests/support/unfinished_run.h"

namespace fovea::serving::pipeline_model_test {
namespace {

using namespace testing;

void wait_until_ready(const Server& server) {
  while (server.host().any_is(ModelStatus::Loading)) std::this_thread::yield();
  ASSERT_TRUE(server.host().all_are(ModelStatus::Ready)) << server.host().models()[0]->error();
}

class PipelineModelTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    train_run(setup_of("features", {"model.name=attention", "data.rows=500", "training.epochs=2"}),
              *folder_ / "table");
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static std::filesystem::path run() { return *folder_ / "table"; }
  static std::unique_ptr<TemporaryFolder> folder_;
};

std::unique_ptr<TemporaryFolder> PipelineModelTest::folder_;

const std::string kRow = R"({"x0":0.1,"x1":-0.2,"x2":0.3,"x3":0.4,"x4":-0.5,)"
                         R"("x5":0.6,"x6":0.7,"x7":-0.8,"x8":0.9,"x9":0})";

TEST_F(PipelineModelTest, SaysThatATrainingDidNotFinish) {
  const std::filesystem::path copy = *folder_ / "unfinished";
  copy_unfinished(run(), copy);
  Server server(test_options(),
                {source_of_run(run(), "good", {}), source_of_run(copy, "half", {})});
  wait_until_ready(server);
  const Json health = fovea::testing::get(server.port(), "/health").json();
  EXPECT_EQ(health["notes"].size(), 1u);
  const std::string note = health["notes"]["half"];
  EXPECT_NE(note.find("did not finish"), std::string::npos) << note;
  EXPECT_EQ(note.find(copy.string()), std::string::npos) << "paths are nobody's business";
}

TEST_F(PipelineModelTest, AnAnswerSaysWhatOfItsInputWasIgnoredOrUnseen) {
  std::string rows = "size,plan,y\n";
  for (int i = 0; i < 90; ++i)
    rows += concat(i % 30, ",", i % 2 ? "Basic" : "Premium", ",", i % 3 ? "yes" : "no", "\n");
  const std::filesystem::path own = *folder_ / "plans";
  write_file(*folder_ / "plans.csv", rows);
  auto setup = setup_of("features", {"data.target=y", "model.name=linear", "training.epochs=1"});
  setup.common().data_path = (*folder_ / "plans.csv").string();
  train_run(std::move(setup), own);
  Server server(test_options(), {source_of_run(own, "plans", {})});
  wait_until_ready(server);
  const auto ask = [&](const std::string& row) {
    const Answer answer =
        fovea::testing::post(server.port(), "/v1/predict", "{\"input\":" + row + "}");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json()["predictions"][0];
  };
  const auto note = [&](const std::string& row) {
    const Json answer = ask(row);
    return answer.contains("notes") ? answer["notes"].dump() : "";
  };
  const std::string usual = R"({"size": 3, "plan": "Basic"})";
  EXPECT_EQ(note(usual), "");
  EXPECT_EQ(ask(R"({"SIZE": 3, "Plan": "Basic"})"), ask(usual)) << "names in another case";
  EXPECT_EQ(ask(R"({"size": 3, "plan": "basic"})")["probability"], ask(usual)["probability"]);
  EXPECT_NE(note(R"({"size": 3, "plan": "Basic", "shop": 7})").find("'shop': this run does not"),
            std::string::npos);
  EXPECT_NE(note(R"({"size": 3, "plan": "Basix"})").find("training never saw it"),
            std::string::npos);
  EXPECT_NE(note(R"({"size": 3000, "plan": "Basic"})").find("out of the training range"),
            std::string::npos);
  const Answer slip = fovea::testing::post(server.port(), "/v1/predict",
                                           R"({"input": {"size": 3, "plann": "Basic"}})");
  EXPECT_EQ(slip.status, 422) << slip.body;
  EXPECT_NE(slip.body.find("did you mean 'plan'"), std::string::npos) << slip.body;
}

TEST_F(PipelineModelTest, ServesWhatTheRunPredicts) {
  Server server(test_options(), {source_of_run(run(), "", {})});
  wait_until_ready(server);
  const Pipeline pipeline = Pipeline::load(run());
  const std::vector<Example> examples{pipeline.parse(kRow)};
  const Json expected = pipeline.setup().task().answer(examples[0], pipeline.predict(examples)[0]);
  const Answer answer = fovea::testing::post(server.port(), "/v1/predict",
                                             R"({"model":"table","input":)" + kRow + "}");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json()["predictions"][0], expected);
  const Answer text = fovea::testing::post(
      server.port(), "/v1/predict", R"({"input":"0.1,-0.2,0.3,0.4,-0.5,0.6,0.7,-0.8,0.9,0"})");
  EXPECT_EQ(text.json()["predictions"][0], expected);
}

TEST_F(PipelineModelTest, ServesTheRunsExplanation) {
  Server server(test_options(), {source_of_run(run(), "named", {})});
  wait_until_ready(server);
  const Pipeline pipeline = Pipeline::load(run());
  const Answer answer =
      fovea::testing::post(server.port(), "/v1/explain", "{\"input\":" + kRow + "}");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json(), explanation_to_json(pipeline.explain(pipeline.parse(kRow), Heads::All)));
  const Answer judged = fovea::testing::post(server.port(), "/v1/explain",
                                             "{\"faithfulness\":true,\"input\":" + kRow + "}");
  ASSERT_EQ(judged.status, 200) << judged.body;
  EXPECT_EQ(judged.json()["faithfulness"][0]["map"], "attention");
}

TEST_F(PipelineModelTest, DescribesTheRun) {
  const std::unique_ptr<ServedModel> model = source_of_run(run(), "", {}).load();
  const ModelCard& card = model->card();
  EXPECT_EQ(card.task, "features");
  EXPECT_FALSE(card.title.empty());
  EXPECT_EQ(card.input_schema["type"], "object");
  EXPECT_EQ(card.parameters, count_parameters(Pipeline::load(run()).model()));
  EXPECT_EQ(card.maps[0]["name"], "attention");
  const Json& x0 = card.input_schema["properties"]["x0"];
  EXPECT_LT(x0["training"]["low"].get<double>(), x0["training"]["high"].get<double>());
}

TEST_F(PipelineModelTest, SaysHowGoodTheRunIs) {
  const Json measured = read_json_file(run() / "manifest.json")["evaluation"];
  ASSERT_EQ(measured["metric"], "accuracy");
  const Json said{{"name", "accuracy"}, {"value", measured["value"]}, {"rows", "validation"}};
  EXPECT_EQ(source_of_run(run(), "", {}).load()->card().metric, said);
}

TEST_F(PipelineModelTest, ARunThatWasNotMeasuredSaysNothingOfIt) {
  const std::filesystem::path copy = *folder_ / "unmeasured";
  std::filesystem::copy(run(), copy, std::filesystem::copy_options::recursive);
  Json manifest = read_json_file(copy / "manifest.json");
  manifest.erase("evaluation");
  write_json_file(copy / "manifest.json", manifest);
  EXPECT_TRUE(source_of_run(copy, "", {}).load()->card().metric.is_object()) << "of its best epoch";
  for (const char* damaged : {"", "no JSON\n", "{\"best\": 3, \"validation\": []}\n", "[1]\n"}) {
    write_file(copy / "metrics.jsonl", damaged);
    EXPECT_TRUE(source_of_run(copy, "", {}).load()->card().metric.is_null()) << damaged;
  }
  std::filesystem::remove(copy / "metrics.jsonl");
  EXPECT_TRUE(source_of_run(copy, "", {}).load()->card().metric.is_null());
}

TEST_F(PipelineModelTest, FindsTheNamesThatARunKnows) {
  const std::filesystem::path graph = *folder_ / "graph";
  train_run(setup_of("graph", {"training.epochs=1"}), graph);
  Server server(test_options(), {source_of_run(graph, "", {}), source_of_run(run(), "", {})});
  wait_until_ready(server);
  const auto ask = [&](const std::string& body) {
    return fovea::testing::post(server.port(), "/v1/names", body);
  };
  const Json models = fovea::testing::get(server.port(), "/v1/models").json()["models"];
  const Json known = models[0]["input_schema"]["properties"]["node"]["known"];
  const std::string first = known["names"][0];
  const Answer found = ask(R"({"model":"graph","property":"node","text":")" + first + "\"}");
  ASSERT_EQ(found.status, 200) << found.body;
  EXPECT_EQ(found.json()["names"][0], first);
  EXPECT_EQ(ask(R"({"model":"graph","property":"node"})").json()["names"], known["names"]);
  EXPECT_EQ(ask(R"({"model":"graph","property":"user"})").status, 422);
  EXPECT_EQ(ask(R"({"model":"table","property":"x0"})").status, 422);
  EXPECT_EQ(ask(R"({"model":"nobody","property":"x0"})").status, 404);
  EXPECT_EQ(ask(R"({"model":"graph"})").status, 400);
  EXPECT_EQ(ask(R"({"model":"graph","property":"node","test":"a"})").status, 400);
  EXPECT_EQ(ask(R"({"model":"graph","property":3})").status, 400);
}

TEST_F(PipelineModelTest, ExamplesComeFromTheRunAndCanBeTried) {
  std::filesystem::create_directories(run() / "assets");
  write_file(run() / "assets" / "examples.json", "[" + kRow + "]");
  const std::unique_ptr<ServedModel> model = source_of_run(run(), "", {}).load();
  ASSERT_EQ(model->card().examples.size(), 1u);
  EXPECT_NO_THROW(model->parse(model->card().examples[0].dump()));
  write_file(run() / "assets" / "examples.json", R"(["no longer fits"])");
  EXPECT_EQ(source_of_run(run(), "", {}).load()->card().maps.size(), 1u);
  write_file(run() / "assets" / "examples.json", "{}");
  EXPECT_EQ(source_of_run(run(), "", {}).load()->card().examples, Json::array());
  std::filesystem::remove(run() / "assets" / "examples.json");
  EXPECT_EQ(source_of_run(run(), "", {}).load()->card().examples, Json::array());
}

TEST_F(PipelineModelTest, NamesOfRuns) {
  EXPECT_EQ(source_of_run(run(), "", {}).name, "table");
  EXPECT_EQ(source_of_run(run().string() + "/", "", {}).name, "table");
  EXPECT_EQ(source_of_run(run() / "." / "assets" / "..", "", {}).name, "table");
  EXPECT_EQ(source_of_run(run(), "other", {}).name, "other");
  EXPECT_EQ(source_of_run(run(), "", {}).task, "features");
}

TEST_F(PipelineModelTest, AMissingRunIsAnErrorAtOnceADamagedOneLater) {
  expect_error(ErrorKind::NotFound, "nowhere", [] { source_of_run("/nowhere", "", {}); });
  const std::filesystem::path damaged = *folder_ / "damaged";
  std::filesystem::copy(run(), damaged, std::filesystem::copy_options::recursive);
  write_file(damaged / "model.safetensors", "damaged");
  Server server(test_options(), {source_of_run(damaged, "", {})});
  while (server.host().any_is(ModelStatus::Loading)) std::this_thread::yield();
  EXPECT_TRUE(server.host().all_are(ModelStatus::Failed));
  const Answer answer = fovea::testing::get(server.port(), "/v1/models");
  EXPECT_EQ(answer.json()["models"][0]["status"], "failed");
  EXPECT_NE(answer.body.find("safetensors"), std::string::npos);
}

TEST_F(PipelineModelTest, InputsThatDoNotFitAreExplained) {
  Server server(test_options(), {source_of_run(run(), "", {})});
  wait_until_ready(server);
  for (const std::string input :
       {R"({"x0": 1})", R"("1,2")", R"("")", R"({"x0": "many"})", R"({"x0": [1]})"}) {
    const Answer answer =
        fovea::testing::post(server.port(), "/v1/predict", "{\"input\":" + input + "}");
    EXPECT_EQ(answer.status, 422) << input << " " << answer.body;
    EXPECT_EQ(answer.json()["error"]["field"], "input");
  }
}

TEST_F(PipelineModelTest, KnowsHowLargeAnExplanationWillBe) {
  std::filesystem::create_directories(run() / "assets");
  std::filesystem::remove(run() / "assets" / "examples.json");
  ExplainRequest request;
  request.heads = Heads::All;
  const std::unique_ptr<ServedModel> unknown = source_of_run(run(), "", {}).load();
  const Example example = unknown->parse(kRow);
  EXPECT_EQ(unknown->weights(example, request), 10 * 10) << "nothing is known without an example";
  write_file(run() / "assets" / "examples.json", "[" + kRow + "]");
  const std::unique_ptr<ServedModel> model = source_of_run(run(), "", {}).load();
  std::filesystem::remove(run() / "assets" / "examples.json");
  int64_t weights = 0;
  for (const MapView& map : model->explain(example, request).maps)
    weights += static_cast<int64_t>(map.weights.size());
  EXPECT_GT(weights, 0);
  EXPECT_EQ(model->weights(example, request), weights);
  request.most_weights = weights;
  EXPECT_NO_THROW(model->explain(example, request));
  request.most_weights = weights - 1;
  expect_refusal(422, "weights", [&] { model->explain(example, request); });
}

TEST_F(PipelineModelTest, CanBeStopped) {
  const std::unique_ptr<ServedModel> model = source_of_run(run(), "", {}).load();
  const std::vector<Example> examples(3, model->parse(kRow));
  int asked = 0;
  const StopScope scope([&] { return ++asked == 4; });
  ExplainRequest request;
  request.faithfulness = true;
  EXPECT_THROW(model->explain(examples[0], request), Stopped);
  EXPECT_EQ(asked, 4);
  asked = 3;
  EXPECT_THROW(model->predict(examples), Stopped);
}

TEST_F(PipelineModelTest, PredictsTheSameWhileItExplains) {
  const std::unique_ptr<ServedModel> model = source_of_run(run(), "", {}).load();
  const std::vector<Example> examples(3, model->parse(kRow));
  const Json expected = model->answer(examples[1], model->predict(examples)[1]);
  ExplainRequest request;
  request.faithfulness = true;
  const Json explained = explanation_to_json(model->explain(examples[0], request));
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread predicting([&] {
    while (!done) wrong += model->answer(examples[1], model->predict(examples)[1]) != expected;
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(explanation_to_json(model->explain(examples[0], request)), explained);
  done = true;
  predicting.join();
  EXPECT_EQ(wrong, 0);
}

/// Each of these took seconds or minutes when something along the way was quadratic.
TEST_F(PipelineModelTest, LargeInputsAreReadInTimeInProportion) {
  ServerOptions options = test_options();
  options.transport.protocol.body_limit = 4 << 20;
  Server server(options, {source_of_run(run(), "", {})});
  wait_until_ready(server);
  const auto object = [](int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += concat(i ? "," : "", "\"k", i, "\":0");
    return text + "}";
  };
  std::string several = "[" + object(9000);
  for (int i = 0; i < 20; ++i) several += "," + object(9000);
  const std::pair<int, std::string> bodies[] = {
      {422, Json{{"input", object(104000)}}.dump()},
      {400, "{\"input\":" + object(104000) + "}"},
      {422, Json{{"input", object(10000)}}.dump()},
      {422, "{\"inputs\":" + several + "]}"},
      {422, Json{{"input", std::string(1000000, ',')}}.dump()},
      {422, Json{{"input", "{\"" + std::string(1000000, 'k') + "\":0}"}}.dump()}};
  for (const auto& [status, body] : bodies) {
    const double begin = fovea::testing::cpu_seconds();
    const Answer answer = fovea::testing::post(server.port(), "/v1/predict", body);
    EXPECT_EQ(answer.status, status) << body.substr(0, 60);
    EXPECT_LT(fovea::testing::cpu_seconds() - begin, 2) << body.substr(0, 60);
  }
}

/// Inputs of many threads through parse(), batches and answer(): each must get its own.
TEST_F(PipelineModelTest, ManyClientsAtOnceGetTheirOwnAnswers) {
  Server server(test_options(), {source_of_run(run(), "", {})});
  wait_until_ready(server);
  const Pipeline pipeline = Pipeline::load(run());
  std::vector<std::thread> clients;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&, i] {
      fovea::testing::Client client(server.port());
      for (int n = 0; n < 20; ++n) {
        std::string row =
            "{\"x0\":" + format_exact(0.01 * i - 0.02 * n) + kRow.substr(kRow.find(','));
        const Answer answer = client.post("/v1/predict", "{\"input\":" + row + "}");
        const std::vector<Example> one{pipeline.parse(row)};
        const Json expected = pipeline.setup().task().answer(one[0], pipeline.predict(one)[0]);
        right += answer.status == 200 &&
                 std::abs(answer.json()["predictions"][0]["probability"].get<double>() -
                          expected["probability"].get<double>()) < 1e-6;
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 160);
}

}  // namespace
}  // namespace fovea::serving::pipeline_model_test

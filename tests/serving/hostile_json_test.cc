// JSON inside the inputs of requests, for every task: whatever stands there, the server answers at
// once with 4xx, and lives.
#include <gtest/gtest.h>

#include <thread>

#include "fovea/serving/pipeline_model.h"
#include "fovea/serving/server.h"
#include "tests/serving/client.h"
#include "tests/serving/test_server.h"
#include "tests/support/cpu_time.h"
#include "tests/support/small_trainings.h"
#include "tests/support/temporary_folder.h"

namespace fovea::hostile_json_test {
namespace {

using testing::Answer;

std::string brackets(size_t depth) {
  return std::string(depth, '[');
}

/// An object with so many keys of three letters.
std::string wide(size_t keys) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string text = "{";
  for (size_t i = 0; i < keys; ++i) {
    if (i > 0) text += ',';
    text += '"';
    for (size_t rest = i, place = 0; place < 3; ++place, rest /= letters.size())
      text += letters[rest % letters.size()];
    text += "\":1";
  }
  return text + "}";
}

/// Values that no field of any input takes. Each is JSON text, or no longer JSON.
std::vector<std::string> hostile_values() {
  return {brackets(96'000),
          brackets(48'000) + std::string(48'000, ']'),
          "{\"a\":" + brackets(96'000),
          wide(60'000),
          "1e999",
          "[1e999]",
          "{\"a\":1,\"a\":2}",
          "[{\"a\":[{}]}]",
          "{\"codes\":{\"text\":[]}}",
          "\"\\ud800\"",
          "nul",
          "",
          "[1,",
          "true"};
}

/// One server with a small run of every task.
class HostileJson : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<testing::TemporaryFolder>();
    std::vector<serving::ModelSource> sources;
    for (const testing::SmallTraining& training : testing::kSmallTrainings) {
      if (!training.can_run()) continue;
      const std::filesystem::path run = *folder_ / training.name();
      testing::train_small(training, run);
      inputs_[training.name()] =
          testing::object_inputs(training, RunFolder(run).read_asset("examples.json"));
      sources.push_back(serving::source_of_run(run, training.name(), {}));
    }
    server_ = std::make_unique<serving::Server>(testing::test_options(), std::move(sources));
    while (!server_->host().all_are(serving::ModelStatus::Ready)) std::this_thread::yield();
  }
  static void TearDownTestSuite() {
    server_.reset();
    inputs_.clear();
    folder_.reset();
  }

  /// The answer to `body` is 4xx, a JSON error without the JSON library's words, and quick.
  static void expect_refused(const std::string& path, const std::string& body) {
    const double begin = testing::cpu_seconds();
    const Answer answer = testing::post(server_->port(), path, body, kHeaders);
    const double seconds = testing::cpu_seconds() - begin;
    const std::string shown = shorten_bytes(body, 200);
    ASSERT_GE(answer.status, 400) << shown;
    ASSERT_LT(answer.status, 500) << shown << answer.body;
    EXPECT_FALSE(answer.json()["error"]["message"].get<std::string>().empty()) << shown;
    EXPECT_EQ(answer.body.find("json.exception"), std::string::npos) << answer.body;
    EXPECT_LT(answer.body.size(), 20'000u) << shown;
    EXPECT_LT(seconds, 2) << shown;
    ++refused_;
  }

  /// `input` as text, as one of several, and in an explanation.
  static void expect_refused_everywhere(const std::string& model, const std::string& input) {
    const std::string text = Json(input).dump();
    expect_refused("/v1/predict", concat("{\"model\":\"", model, "\",\"input\":", text, "}"));
    expect_refused("/v1/predict", concat("{\"model\":\"", model, "\",\"inputs\":[", text, "]}"));
    expect_refused("/v1/explain", concat("{\"model\":\"", model, "\",\"input\":", text, "}"));
  }

  static constexpr const char* kHeaders = "Content-Type: application/json\r\n";
  static std::unique_ptr<testing::TemporaryFolder> folder_;
  static std::unique_ptr<serving::Server> server_;
  static std::map<std::string, std::vector<Json>> inputs_;
  static int refused_;
};

std::unique_ptr<testing::TemporaryFolder> HostileJson::folder_;
std::unique_ptr<serving::Server> HostileJson::server_;
std::map<std::string, std::vector<Json>> HostileJson::inputs_;
int HostileJson::refused_ = 0;

TEST_F(HostileJson, BracketsInATextInputOfEveryTask) {
  for (const auto& [model, inputs] : inputs_) {
    expect_refused_everywhere(model, "{\"visits\": " + brackets(96'000));
    expect_refused_everywhere(model, "{\"a\":" + brackets(40'000) + std::string(40'000, ']') + "}");
  }
}

TEST_F(HostileJson, EveryFieldOfEveryTask) {
  refused_ = 0;
  for (const auto& [model, inputs] : inputs_)
    for (const Json& input : inputs)
      for (const auto& [key, value] : input.items())
        for (const std::string& hostile : hostile_values()) {
          Json marked = input;
          marked[key] = "@here@";
          std::string text = marked.dump();
          text.replace(text.find("\"@here@\""), 8, hostile);
          expect_refused("/v1/predict", Json{{"model", model}, {"input", text}}.dump());
        }
  EXPECT_GE(refused_, 200);
}

TEST_F(HostileJson, ObjectsInTheBodyItself) {
  for (const auto& [model, inputs] : inputs_)
    for (const Json& input : inputs)
      for (const auto& [key, value] : input.items())
        for (const char* hostile : {"[[[[[[[[[[[[{}]]]]]]]]]]]]", "{\"a\":{\"b\":{}}}", "true"}) {
          Json changed = input;
          changed[key] = Json::parse(hostile);
          expect_refused("/v1/predict", Json{{"model", model}, {"input", changed}}.dump());
        }
}

TEST_F(HostileJson, ManyKeysTakeNoLongerThanTheyShould) {
  for (const auto& [model, inputs] : inputs_)
    expect_refused("/v1/predict", Json{{"model", model}, {"input", wide(104'000)}}.dump());
}

TEST_F(HostileJson, AndThenTheServerStillAnswers) {
  for (const auto& [model, inputs] : inputs_) {
    const std::string body = Json{{"model", model}, {"input", inputs.at(0)}}.dump();
    EXPECT_EQ(testing::post(server_->port(), "/v1/predict", body, kHeaders).status, 200) << model;
  }
}

}  // namespace
}  // namespace fovea::hostile_json_test

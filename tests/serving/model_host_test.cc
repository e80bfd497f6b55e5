#include "fovea/serving/model_host.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/serving/expect_refusal.h"
#include "tests/serving/fake_model.h"
#include "tests/support/expect_error.h"

namespace fovea::serving::model_host_test {
namespace {

using namespace testing;

ModelSource fake(const std::string& name) {
  return {name, "echo", [] { return std::make_unique<FakeModel>(); }};
}

void wait_until_loaded(const ModelHost& host) {
  while (host.any_is(ModelStatus::Loading)) std::this_thread::yield();
}

TEST(ModelHost, FindsModelsByName) {
  Metrics metrics;
  ModelHost host({fake("dates"), fake("features")}, {}, metrics);
  wait_until_loaded(host);
  EXPECT_EQ(host.find("features").name(), "features");
  expect_refusal(400, "is missing; this server has several: dates, features",
                 [&] { host.find(""); });
  expect_refusal(404, "(did you mean 'dates'?); there are: dates, features",
                 [&] { host.find("date"); });
}

TEST(ModelHost, TheOnlyModelNeedsNoName) {
  Metrics metrics;
  ModelHost host({fake("dates")}, {}, metrics);
  wait_until_loaded(host);
  EXPECT_EQ(host.find("").name(), "dates");
  const Json json = host.find("").to_json();
  EXPECT_EQ(json["status"], "ready");
  EXPECT_EQ(json["parameters"], 7);
  EXPECT_EQ(json["input_schema"]["type"], "string");
}

TEST(ModelHost, LoadsInTheBackground) {
  std::promise<void> gate;
  Metrics metrics;
  ModelHost host({{"slow", "echo",
                   [&] {
                     gate.get_future().wait();
                     return std::make_unique<FakeModel>();
                   }}},
                 {}, metrics);
  expect_refusal(503, "still loading", [&] { host.find("slow"); });
  const Json json = host.models()[0]->to_json();
  EXPECT_EQ(json["status"], "loading");
  EXPECT_EQ(json["task"], "echo");
  EXPECT_EQ(json["examples"], Json::array());
  EXPECT_EQ(host.models()[0]->waiting(), 0);
  gate.set_value();
  wait_until_loaded(host);
  EXPECT_EQ(host.find("slow").name(), "slow");
}

TEST(ModelHost, OneThatFailsLeavesTheOthers) {
  const auto broken = []() -> std::unique_ptr<ServedModel> {
    fail(ErrorKind::BadData, "damaged weights\nand a stack trace");
  };
  Metrics metrics;
  ModelHost host({{"broken", "echo", broken}, fake("whole")}, {}, metrics);
  wait_until_loaded(host);
  EXPECT_EQ(host.find("whole").name(), "whole");
  expect_refusal(503, "could not be loaded: damaged weights", [&] { host.find("broken"); });
  EXPECT_EQ(host.models()[0]->to_json()["error"], "damaged weights");
  EXPECT_TRUE(host.any_is(ModelStatus::Failed));
  EXPECT_FALSE(host.all_are(ModelStatus::Failed));
}

TEST(ModelHost, RefusesTwoOfOneNameAndNone) {
  Metrics metrics;
  expect_error(ErrorKind::InvalidArgument, "two models are called 'a'", [&] {
    ModelHost({fake("a"), fake("a")}, {}, metrics);
  });
  expect_error(ErrorKind::InvalidArgument, "no model", [&] { ModelHost({}, {}, metrics); });
}

TEST(ModelHost, BatchesAreCounted) {
  Metrics metrics;
  ModelHost host({fake("a")}, {}, metrics);
  wait_until_loaded(host);
  HostedModel& model = host.find("a");
  model.batcher().predict({model.model().parse("x")}, Clock::now() + std::chrono::seconds(10));
  EXPECT_NE(metrics.text({}).find("fovea_batch_inputs_count{model=\"a\"} 1"), std::string::npos);
}

}  // namespace
}  // namespace fovea::serving::model_host_test

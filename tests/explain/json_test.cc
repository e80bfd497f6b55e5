#include "fovea/explain/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "fovea/core/error.h"
#include "tests/explain/samples.h"
#include "tests/support/temporary_folder.h"

namespace fovea {
namespace {

void expect_same(const Explanation& left, const Explanation& right) {
  EXPECT_EQ(left.task, right.task);
  EXPECT_EQ(left.title, right.title);
  EXPECT_EQ(left.prediction, right.prediction);
  EXPECT_EQ(left.notes, right.notes);
  ASSERT_EQ(left.maps.size(), right.maps.size());
  for (size_t i = 0; i < left.maps.size(); ++i) {
    const MapView &a = left.maps[i], &b = right.maps[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.title, b.title);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.group, b.group);
    EXPECT_EQ(a.query_axis, b.query_axis);
    EXPECT_EQ(a.key_axis, b.key_axis);
    EXPECT_EQ(a.query_labels, b.query_labels);
    EXPECT_EQ(a.key_labels, b.key_labels);
    EXPECT_EQ(a.weights, b.weights);
    EXPECT_EQ(a.spread, b.spread);
    EXPECT_EQ(a.truth, b.truth);
  }
}

TEST(ExplanationJson, RoundTripIsExact) {
  for (const Explanation& sample : {sample_features(), sample_contexts(), sample_matrix()}) {
    const std::string text = explanation_to_json(sample).dump();
    expect_same(explanation_from_json(parse_json(text, "test"), "test"), sample);
  }
}

TEST(ExplanationJson, FileRoundTrip) {
  const testing::TemporaryFolder folder;
  write_explanation(folder.path() / "x.json", sample_features());
  expect_same(read_explanation(folder.path() / "x.json"), sample_features());
}

TEST(ExplanationJson, OddLabelsAndGapsSurvive) {
  const Explanation odd = sample_odd();
  const Json json = parse_json(explanation_to_json(odd).dump(), "test");
  const Explanation back = explanation_from_json(json, "test");
  const MapView &before = odd.maps[0], &after = back.maps[0];
  EXPECT_EQ(after.key_labels[0], before.key_labels[0]);
  EXPECT_EQ(after.key_labels[1], before.key_labels[1]);
  EXPECT_EQ(after.key_labels[5], "bad\xEF\xBF\xBDutf8");
  EXPECT_TRUE(std::isnan(after.weights[2]));
  EXPECT_TRUE(std::isnan(after.weights[6]));
  EXPECT_EQ(after.weights[7], -1);
}

TEST(ExplanationJson, EmptyExplanation) {
  Explanation empty;
  empty.maps.resize(1);
  expect_same(explanation_from_json(explanation_to_json(empty), "test"), empty);
}

struct Refusal {
  const char* what;
  std::function<void(Json&)> spoil;
  ErrorKind kind;
  const char* message;
};

TEST(ExplanationJson, RefusesWhatDoesNotFit) {
  const ErrorKind bad = ErrorKind::BadData;
  const Refusal cases[] = {
      {"newer version", [](Json& j) { j["version"] = 2; }, ErrorKind::Unsupported, "version 2"},
      {"version 0", [](Json& j) { j["version"] = 0; }, bad, "start at 1"},
      {"version text", [](Json& j) { j["version"] = "1"; }, bad, "x.json: version: found \"1\""},
      {"format", [](Json& j) { j["format"] = "other"; }, bad, "expected \"fovea-explanation\""},
      {"no format", [](Json& j) { j.erase("format"); }, bad, "\"format\" is missing"},
      {"no maps", [](Json& j) { j.erase("maps"); }, bad, "\"maps\" is missing"},
      {"maps object", [](Json& j) { j["maps"] = Json::object(); }, bad, "maps: found object"},
      {"kind", [](Json& j) { j["maps"][0]["kind"] = "gates"; }, bad, "did you mean 'gate'"},
      {"label", [](Json& j) { j["maps"][0]["key_labels"][1] = 3; }, bad, "maps[0].key_labels[1]"},
      {"rows", [](Json& j) { j["maps"][0]["weights"].push_back(Json::array()); }, bad,
       "maps[0].weights: found 2 elements, expected 1"},
      {"row size", [](Json& j) { j["maps"][0]["weights"][0].erase(0); }, bad,
       "maps[0].weights[0]: found 9 elements, expected 10"},
      {"weight", [](Json& j) { j["maps"][0]["weights"][0][3] = "x"; }, bad,
       "maps[0].weights[0][3]: found \"x\", expected a number"},
      {"spread", [](Json& j) { j["maps"][0]["spread"][0].push_back(1); }, bad, "found 11"},
      {"truth", [](Json& j) { j["maps"][0]["truth"][0][0] = 2; }, bad, "found 2, expected 0 or 1"},
      {"notes", [](Json& j) { j["notes"] = "text"; }, bad, "notes: found \"text\""},
  };
  for (const Refusal& refusal : cases) {
    Json json = explanation_to_json(sample_features());
    refusal.spoil(json);
    try {
      explanation_from_json(json, "x.json");
      ADD_FAILURE() << refusal.what << ": no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), refusal.kind) << refusal.what;
      EXPECT_NE(std::strstr(error.what(), refusal.message), nullptr) << error.what();
    }
  }
  EXPECT_THROW(explanation_from_json(Json::array(), "x.json"), Error);
}

TEST(ExplanationJson, UnknownFieldsAreIgnoredAndBooleansRead) {
  Json json = explanation_to_json(sample_features());
  json["later"] = 1;
  json["maps"][0]["truth"][0][0] = true;
  EXPECT_EQ(explanation_from_json(json, "test").maps[0].truth[0], 1);
}

}  // namespace
}  // namespace fovea

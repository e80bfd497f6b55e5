#include "fovea/serving/codec.h"

#include "tests/serving/expect_refusal.h"

namespace fovea::serving::codec_test {
namespace {

using fovea::testing::expect_refusal;

TEST(Codec, OneInputOrSeveral) {
  const PredictBody one = parse_predict(R"({"model": "dates", "input": "9 May"})");
  EXPECT_EQ(one.model, "dates");
  ASSERT_EQ(one.inputs.size(), 1u);
  EXPECT_EQ(one.inputs[0].line, "9 May");
  EXPECT_EQ(one.inputs[0].field, "input");
  const PredictBody several = parse_predict(R"({"inputs": ["a", {"x": 1.5, "y": "b"}]})");
  EXPECT_EQ(several.model, "");
  ASSERT_EQ(several.inputs.size(), 2u);
  EXPECT_EQ(several.inputs[1].line, R"({"x":1.5,"y":"b"})");
  EXPECT_EQ(several.inputs[1].field, "inputs[1]");
}

TEST(Codec, NumbersOfAnInputSurvive) {
  const std::string given = R"({"a":0.1,"b":-12345678901234567,"c":1e-300,"d":3.0000000000000004})";
  EXPECT_EQ(parse_predict("{\"input\":" + given + "}").inputs[0].line, given);
}

TEST(Codec, RefusesWrongPredictRequests) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "must be a JSON object"},
      {"{}", "input: is missing"},
      {R"({"input": "a", "inputs": ["b"]})", "either input or inputs"},
      {R"({"input": 5})", "input: expected a text or an object, found number"},
      {R"({"input": null})", "input: expected a text or an object"},
      {R"({"input": ["a"]})", "input: expected a text or an object"},
      {R"({"inputs": "a"})", "inputs: expected a list"},
      {R"({"inputs": []})", "at least one"},
      {R"({"inputs": ["a", true]})", "inputs[1]: expected"},
      {R"({"model": 3, "input": "a"})", "model: expected a text"},
      {R"({"imput": "a"})", "did you mean 'input'?"},
      {R"({"input": "a", "input": "b"})", "twice"},
  };
  for (const auto& [body, word] : cases) expect_refusal(400, word, [&] { parse_predict(body); });
}

TEST(Codec, ARequestHoldsSoManyInputs) {
  const auto body = [](size_t count) {
    std::string text = R"({"inputs": ["a")";
    for (size_t i = 1; i < count; ++i) text += ",\"a\"";
    return text + "]}";
  };
  EXPECT_EQ(parse_predict(body(kMostInputs)).inputs.size(), kMostInputs);
  expect_refusal(413, "send several", [&] { parse_predict(body(kMostInputs + 1)); });
}

TEST(Codec, EveryFieldOfExplain) {
  const ExplainBody request = parse_explain(
      R"({"model": "m", "input": "a", "maps": ["x", "y"], "layers": [2, 1], "heads": [3],
          "rows": [4, 0], "top_k": 5, "faithfulness": true, "format": "html"})");
  EXPECT_EQ(request.model, "m");
  EXPECT_EQ(request.selection.maps, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(request.selection.layers, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(request.selection.heads, (std::vector<int64_t>{3}));
  EXPECT_FALSE(request.selection.mean_of_heads);
  EXPECT_EQ(request.selection.rows, (std::vector<int64_t>{4, 0}));
  EXPECT_EQ(request.selection.top_k, 5);
  EXPECT_TRUE(request.faithfulness);
  EXPECT_TRUE(request.html);
  EXPECT_TRUE(parse_explain(R"({"input": "a", "heads": "mean"})").selection.mean_of_heads);
  const ExplainBody plain = parse_explain(R"({"input": "a", "format": "json"})");
  EXPECT_FALSE(plain.faithfulness || plain.html || plain.selection.mean_of_heads);
  EXPECT_EQ(parse_explain(R"({"input": "a", "top_k": 3.0})").selection.top_k, 3);
}

TEST(Codec, RefusesWrongExplainRequests) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"inputs": ["a"]})", "did you mean 'input'?"},
      {R"({"model": "a"})", "input: is missing"},
      {R"({"input": "a", "maps": "x"})", "maps: expected a list of texts"},
      {R"({"input": "a", "maps": []})", "maps: the list is empty"},
      {R"({"input": "a", "maps": [1]})", "maps[0]: expected a text"},
      {R"({"input": "a", "layers": [0]})", "layers[0]: 0 is not between 1"},
      {R"({"input": "a", "layers": [1.5]})", "layers[0]: 1.5 is not a whole number"},
      {R"({"input": "a", "layers": [1e300]})", "layers[0]"},
      {R"({"input": "a", "layers": [1, "2"]})", "layers[1]: expected a whole number"},
      {R"({"input": "a", "heads": "all"})", "heads: expected \"mean\""},
      {R"({"input": "a", "heads": [1, 1]})", "heads: 1 stands there twice"},
      {R"({"input": "a", "rows": [-1]})", "rows[0]: -1 is not between 0"},
      {R"({"input": "a", "top_k": 0})", "top_k: 0 is not between 1"},
      {R"({"input": "a", "top_k": true})", "top_k: expected a whole number"},
      {R"({"input": "a", "faithfulness": 1})", "faithfulness: expected true or false"},
      {R"({"input": "a", "format": "pdf"})", "expected json or html"},
  };
  for (const auto& [body, word] : cases) expect_refusal(400, word, [&] { parse_explain(body); });
}

TEST(Codec, ARefusalNamesItsField) {
  try {
    parse_explain(R"({"input": "a", "top_k": 0})");
    FAIL();
  } catch (const HttpError& error) {
    EXPECT_EQ(error.field(), "top_k");
    EXPECT_EQ(error.to_json()["error"]["field"], "top_k");
    EXPECT_EQ(error.kind(), "bad_request");
  }
}

}  // namespace
}  // namespace fovea::serving::codec_test

#include "fovea/explain/record/json.h"

#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <functional>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/samples.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::json_test {
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

/// A document with everything that an axis can have.
Explanation rich() {
  Explanation explanation;
  explanation.task = "documents";
  explanation.input = "Hé. Ja!";
  explanation.answer = {{"class", "good"}};
  explanation.shares = {{"good", 0.75, true}, {"b\xff", 0.25}};
  explanation.answers = 9;
  explanation.truth = KnownTruth{"bad", false, "far off"};
  explanation.cuts = {{"tokens", 512, 2290}};
  explanation.model = {{"name", "first"}, {"warning", "no epoch"}};
  Axis sentence{"sentence", "sentence", {"Hé.", "Ja!"}};
  Axis word{"word", "word", {"Hé", ".", "Ja", "!"}};
  word.parent = "sentence";
  word.offsets = {0, 2, 4};
  word.text = explanation.input;
  word.spans = {{0, 2}, {2, 3}, {4, 6}, {}};
  word.special = {1, 3};
  word.values = {"1.5", "", "x", "2"};
  Axis cell{"cell", "cell", {"a", "b", "c", "d", "e", "f"}};
  cell.grid_rows = 2;
  cell.grid_columns = 3;
  cell.media = "photo";
  Axis frame{"frame", "frame", {"0", "1"}};
  frame.times = {0, 0.01};
  frame.time_unit = "s";
  frame.media = "sound";
  frame.spectrogram = torch::tensor({{1.0, 2.0}, {0.5, -1.0}, {0.0, 3.0}});
  Axis answer{"answer", "token", {"x"}};
  answer.output = true;
  explanation.axes = {sentence, word, cell, frame, answer};
  explanation.media = {{"photo", "image/png", std::string("\x89PNG\0\xff", 6), 6, 4, "a dog"},
                       {"sound", "audio/wav", "RIFF", 0, 0, ""}};
  MapView map;
  map.name = "attention";
  map.kind = MapKind::Contribution;
  map.query_axis = "answer";
  map.key_axis = "word";
  map.query_labels = answer.labels;
  map.key_labels = word.labels;
  map.weights = {0.5, -0.25, 0, 0.125};
  map.low = {0.4, -0.5, 0, 0};
  map.high = {0.6, 0, 0, 0.5};
  map.interval_of = "5 seeds";
  map.interval_is = "95 % interval";
  map.total = "logit";
  map.layer = 2;
  map.head = 3;
  MapView edges;
  edges.name = "neighbours";
  edges.layout = MapLayout::Edges;
  edges.query_axis = edges.key_axis = "cell";
  edges.query_labels = edges.key_labels = cell.labels;
  edges.edge_queries = {5, 0, 5, 2};
  edges.edge_keys = {1, 0, 0, 4};
  edges.weights = {0.25, 1, 0.75, 0};
  MapView points;
  points.name = "glimpses";
  points.layout = MapLayout::Points;
  points.query_axis = "frame";
  points.key_axis = "cell";
  points.query_labels = frame.labels;
  points.key_labels = cell.labels;
  points.point_width = 3;
  points.weights = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  explanation.maps = {map, edges, points};
  Faithfulness judged;
  judged.map = "attention";
  judged.verdict = "yes";
  judged.trust = "mixed";
  judged.examples = 7;
  judged.output = "probability";
  judged.measures = {{"tau", 0.5, std::array<double, 2>{0.25, 0.75}, 0.0, "higher", "about"},
                     {"none", {}, {}, {}, "none", ""}};
  judged.curves = {{"deletion", "about", {0, 0.5, 1}, {{"random", {1, 0.5, 0}}}}};
  judged.importances = {{2, {{"attention", {0.25, 0.5}}, {"leave one out", {0, 0.123456}}}},
                        {{}, {{"attention", {1, -2}}}}};
  judged.notes = {"a note"};
  judged.judged_as = "mean of heads";
  explanation.faithfulness = {judged};
  return explanation;
}

TEST(ExplanationJson, WhatEachUnitMattersSurvivesToFourDigits) {
  Json json = parse_json(explanation_to_json(rich()).dump(), "test");
  const auto units = explanation_from_json(json, "test").faithfulness.at(0).importances;
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].row, 2);
  EXPECT_FALSE(units[1].row);
  ASSERT_EQ(units[0].series.size(), 2u);
  EXPECT_EQ(units[0].series[1].name, "leave one out");
  EXPECT_EQ(units[0].series[1].values, (std::vector<double>{0, 0.1235}));
  EXPECT_EQ(units[1].series[0].values, (std::vector<double>{1, -2}));
  json["faithfulness"][0]["importances"][1]["series"][0]["values"].push_back(3);
  testing::expect_error(ErrorKind::BadData, "importances[1].series[0].values",
                        [&] { explanation_from_json(json, "test"); });
}

TEST(ExplanationJson, WhatStandsAroundTheAnswerSurvives) {
  const Json json = parse_json(explanation_to_json(rich()).dump(), "test");
  const Explanation after = explanation_from_json(json, "test");
  ASSERT_EQ(after.shares.size(), 2u);
  EXPECT_EQ(after.shares[0].label, "good");
  EXPECT_EQ(after.shares[0].probability, 0.75);
  EXPECT_TRUE(after.shares[0].given);
  EXPECT_FALSE(after.shares[1].given);
  EXPECT_EQ(after.shares[1].label, "b\xef\xbf\xbd") << "valid UTF-8";
  EXPECT_EQ(after.answers, 9);
  ASSERT_TRUE(after.truth);
  EXPECT_EQ(after.truth->text, "bad");
  EXPECT_EQ(after.truth->right, false);
  EXPECT_EQ(after.truth->remark, "far off");
  ASSERT_EQ(after.cuts.size(), 1u);
  EXPECT_EQ(after.cuts[0].unit, "tokens");
  EXPECT_EQ(after.cuts[0].read, 512);
  EXPECT_EQ(after.cuts[0].of, 2290);
  EXPECT_EQ(after.model, rich().model);
  EXPECT_EQ(after.faithfulness[0].judged_as, "mean of heads");
}

TEST(ExplanationJson, WithoutThemNothingIsWrittenOfThem) {
  const Json json = explanation_to_json(Explanation());
  EXPECT_EQ(json["prediction"].size(), 1u) << json;
  for (const char* field : {"cuts", "model"}) EXPECT_FALSE(json.contains(field)) << field;
}

TEST(ExplanationJson, WhatStandsAroundTheAnswerIsChecked) {
  const auto refused = [](const char* pointer, const Json& value, const char* place) {
    Json json = explanation_to_json(rich());
    json[Json::json_pointer(pointer)] = value;
    testing::expect_error(ErrorKind::BadData, place, [&] { explanation_from_json(json, "test"); });
  };
  refused("/prediction/shares/0/probability", "high", "prediction.shares[0].probability");
  refused("/prediction/truth/right", 1, "prediction.truth.right");
  refused("/cuts/0/read", 3000, "cuts[0].read");
  refused("/model", "first", "model");
}

TEST(ExplanationJson, EverythingElseSurvives) {
  const Explanation before = rich();
  const Json json = parse_json(explanation_to_json(before).dump(), "test");
  const Explanation after = explanation_from_json(json, "test");
  EXPECT_EQ(after.input, before.input);
  EXPECT_EQ(after.answer, before.answer);
  ASSERT_EQ(after.axes.size(), before.axes.size());
  const Axis& word = after.axes[1];
  EXPECT_EQ(word.parent, "sentence");
  EXPECT_EQ(word.offsets, before.axes[1].offsets);
  EXPECT_EQ(word.spans[2].begin, 4);
  EXPECT_EQ(word.spans[3].begin, -1);
  EXPECT_EQ(word.special, before.axes[1].special);
  EXPECT_EQ(word.values, before.axes[1].values);
  EXPECT_EQ(after.axes[2].grid_columns, 3);
  EXPECT_EQ(after.axes[2].media, "photo");
  EXPECT_EQ(after.axes[3].times, before.axes[3].times);
  EXPECT_TRUE(after.axes[3].spectrogram.allclose(before.axes[3].spectrogram.to(torch::kDouble), 0,
                                                 0.03));  // packed
  EXPECT_TRUE(after.axes[4].output);
  EXPECT_EQ(after.media[0].bytes, before.media[0].bytes);
  EXPECT_EQ(after.media[0].alt, "a dog");
  const MapView& map = after.maps[0];
  EXPECT_EQ(map.low, before.maps[0].low);
  EXPECT_EQ(map.interval_of, "5 seeds");
  EXPECT_EQ(map.interval_is, "95 % interval");
  EXPECT_EQ(map.layer, 2);
  EXPECT_EQ(map.head, 3);
  EXPECT_EQ(map.total, "logit");
  EXPECT_EQ(after.maps[1].edge_queries, (std::vector<int64_t>{0, 2, 5, 5})) << "sorted";
  EXPECT_EQ(after.maps[1].edge_keys, (std::vector<int64_t>{0, 4, 0, 1}));
  EXPECT_EQ(after.maps[1].weights, (std::vector<double>{1, 0, 0.75, 0.25})) << "a 0 is an edge too";
  EXPECT_EQ(after.maps[2].point_width, 3u);
  EXPECT_EQ(after.maps[2].weights, before.maps[2].weights);
  EXPECT_EQ(explanation_to_json(after), explanation_to_json(before));
}

TEST(ExplanationJson, LargeMapsArePackedAndTheTopOfEachRowIsExact) {
  Explanation large;
  MapView map;
  map.name = "self";
  map.query_axis = map.key_axis = "token";
  for (int i = 0; i < 300; ++i) map.query_labels.push_back(std::to_string(i));
  map.key_labels = map.query_labels;
  const at::Tensor weights = torch::rand({300, 300}, torch::kDouble).pow(8).to(torch::kFloat);
  const at::Tensor exact = weights.to(torch::kDouble).contiguous();
  map.weights.assign(exact.data_ptr<double>(), exact.data_ptr<double>() + exact.numel());
  large.maps = {map};
  const Json json = parse_json(explanation_to_json(large).dump(), "test");
  EXPECT_EQ(json["axes"].size(), 1u) << "one axis serves both sides";
  EXPECT_EQ(json["maps"][0]["weights"]["encoding"], "u8");
  const MapView after = explanation_from_json(json, "test").maps[0];
  for (int64_t row = 0; row < 300; ++row) {
    const double largest = exact[row].max().item<double>();
    for (int64_t key = 0; key < 300; ++key)
      ASSERT_NEAR(after.weight(size_t(row), size_t(key)), exact[row][key].item<double>(),
                  0.004 * largest);
    const auto [top, keys] = exact[row].topk(16);
    for (int64_t i = 0; i < 16; ++i)
      ASSERT_EQ(after.weight(size_t(row), size_t(keys[i].item<int64_t>())), top[i].item<double>());
  }
  const MapView whole =
      explanation_from_json(explanation_to_json(large, Exactness::Exact), "test").maps[0];
  EXPECT_EQ(whole.weights, map.weights);
}

struct Refusal {
  const char* what;
  std::function<void(Json&)> spoil;
  ErrorKind kind;
  const char* message;
};

void expect_refusals(const Explanation& sample, std::span<const Refusal> cases) {
  for (const Refusal& refusal : cases) {
    Json json = explanation_to_json(sample);
    refusal.spoil(json);
    try {
      explanation_from_json(json, "x.json");
      ADD_FAILURE() << refusal.what << ": no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), refusal.kind) << refusal.what;
      EXPECT_NE(std::strstr(error.what(), refusal.message), nullptr) << error.what();
    }
  }
}

TEST(ExplanationJson, RefusesWhatDoesNotFit) {
  const ErrorKind bad = ErrorKind::BadData;
  const Refusal cases[] = {
      {"newer version", [](Json& j) { j["version"] = 3; }, ErrorKind::Unsupported, "version 3"},
      {"older version", [](Json& j) { j["version"] = 1; }, ErrorKind::Unsupported, "explain again"},
      {"version 0", [](Json& j) { j["version"] = 0; }, bad, "expected 1 to"},
      {"version text", [](Json& j) { j["version"] = "1"; }, bad, "x.json: version: found \"1\""},
      {"format", [](Json& j) { j["format"] = "other"; }, bad, "expected \"fovea-explanation\""},
      {"no format", [](Json& j) { j.erase("format"); }, bad, "\"format\" is missing"},
      {"no maps", [](Json& j) { j.erase("maps"); }, bad, "\"maps\" is missing"},
      {"maps object", [](Json& j) { j["maps"] = Json::object(); }, bad, "maps: found object"},
      {"kind", [](Json& j) { j["maps"][0]["kind"] = "gates"; }, bad, "did you mean 'gate'"},
      {"layout", [](Json& j) { j["maps"][0]["layout"] = "dens"; }, bad, "did you mean 'dense'"},
      {"label", [](Json& j) { j["axes"][0]["labels"][1] = 3; }, bad, "axes[0].labels[1]"},
      {"axis", [](Json& j) { j["maps"][0]["key_axis"] = "colums"; }, bad, "there is no axis"},
      {"two axes", [](Json& j) { j["axes"].push_back(j["axes"][0]); }, bad, "two axes"},
      {"rows", [](Json& j) { j["maps"][0]["weights"].push_back(Json::array()); }, bad,
       "maps[0].weights: found 2 elements, expected 1"},
      {"row size", [](Json& j) { j["maps"][0]["weights"][0].erase(0); }, bad,
       "maps[0].weights[0]: found 9 elements, expected 10"},
      {"weight", [](Json& j) { j["maps"][0]["weights"][0][3] = "x"; }, bad,
       "maps[0].weights[0][3]: found \"x\", expected a number"},
      {"spread", [](Json& j) { j["maps"][0]["spread"][0].push_back(1); }, bad, "found 11"},
      {"truth", [](Json& j) { j["maps"][0]["truth"][0][1] = 10; }, bad, "expected 0 to 9"},
      {"layer", [](Json& j) { j["maps"][0]["layer"] = 0; }, bad, "layer: found 0"},
      {"notes", [](Json& j) { j["notes"] = "text"; }, bad, "notes: found \"text\""},
  };
  expect_refusals(sample_features(), cases);
  EXPECT_THROW(explanation_from_json(Json::array(), "x.json"), Error);
}

TEST(ExplanationJson, RefusesAxesAndChunksThatDoNotFit) {
  const ErrorKind bad = ErrorKind::BadData;
  const Refusal cases[] = {
      {"span",
       [](Json& j) {
         j["axes"][1]["spans"][2] = {4, 8};
       },
       bad, "expected 0 to 7"},
      {"span back",
       [](Json& j) {
         j["axes"][1]["spans"][2] = {4, 3};
       },
       bad, "ends before"},
      {"spans", [](Json& j) { j["axes"][1]["spans"].erase(0); }, bad, "expected 4"},
      {"special", [](Json& j) { j["axes"][1]["special"] = {4}; }, bad, "expected 0 to 3"},
      {"special twice",
       [](Json& j) {
         j["axes"][1]["special"] = {1, 1};
       },
       bad, "expected 2 to 3"},
      {"offsets fall",
       [](Json& j) {
         j["axes"][1]["offsets"] = {0, 3, 2};
       },
       bad, "offsets[2]"},
      {"offsets end",
       [](Json& j) {
         j["axes"][1]["offsets"] = {0, 3, 3};
       },
       bad, "from 0 to 4"},
      {"offsets count",
       [](Json& j) {
         j["axes"][1]["offsets"] = {0, 4};
       },
       bad, "2 offsets"},
      {"parent", [](Json& j) { j["axes"][1]["parent"] = "x"; }, bad, "no axis \"x\""},
      {"grid", [](Json& j) { j["axes"][2]["grid"]["rows"] = 3; }, bad, "3 x 3 cells"},
      {"special of a grid", [](Json& j) { j["axes"][2]["special"] = {0}; }, bad,
       "2 x 3 cells, the axis 5"},
      {"special behind the cells",
       [](Json& j) {
         j["axes"][2]["special"] = {3};
         j["axes"][2]["grid"] = {{"rows", 1}, {"columns", 5}, {"media", "photo"}};
       },
       bad, "before the cells"},
      {"times", [](Json& j) { j["axes"][3]["times"] = {1}; }, bad, "expected 2"},
      {"medium", [](Json& j) { j["media"][0]["type"] = "text/html"; }, bad, "unknown value"},
      {"medium data", [](Json& j) { j["media"][0]["data"] = "!!"; }, bad, "media[0].data"},
      {"no chunks", [](Json& j) { j.erase("chunks"); }, bad, "has no chunks"},
      {"chunk number", [](Json& j) { j["maps"][1]["weights"]["keys"] = 99; }, bad, "found 99"},
      {"chunk text", [](Json& j) { j["chunks"][0] = 1; }, bad, "chunks[0]"},
      {"chunk bytes", [](Json& j) { j["chunks"][0] = "AAAA"; }, bad, "chunks[0]"},
      {"chunk size", [](Json& j) { j["chunks"][1] = j["chunks"][0]; }, bad, "chunks[1]"},
      {"points",
       [](Json& j) {
         j["maps"][2]["weights"] = {{1, 2}, {3, 4}};
       },
       bad, "a glimpse has"},
      {"sparse rows", [](Json& j) { j["maps"][1]["weights"]["rows"] = 7; }, bad, "found 7"},
      {"compression", [](Json& j) { j["maps"][1]["weights"]["compression"] = "zip"; }, bad,
       "expected one of deflate, none"},
      {"too many", [](Json& j) { j["axes"][3]["spectrogram"]["rows"] = 2000000000; }, bad,
       "too many"},
      {"interval", [](Json& j) { j["maps"][0]["interval"].erase("high"); }, bad, "high"},
  };
  expect_refusals(rich(), cases);
}

TEST(ExplanationJson, AClassTokenStandsBeforeTheCells) {
  Explanation explanation = rich();
  explanation.axes[2].special = {0};
  explanation.axes[2].grid_rows = 1;
  explanation.axes[2].grid_columns = 5;
  const Explanation after = explanation_from_json(explanation_to_json(explanation), "test");
  EXPECT_EQ(after.axes[2].special, (std::vector<int64_t>{0}));
  EXPECT_EQ(after.axes[2].grid_columns, 5);
}

TEST(ExplanationJson, UnknownFieldsAreIgnored) {
  Json json = explanation_to_json(sample_features());
  json["later"] = 1;
  json["maps"][0]["later"] = "x";
  expect_same(explanation_from_json(json, "test"), sample_features());
}

}  // namespace
}  // namespace fovea::json_test

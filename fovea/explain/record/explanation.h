// What is shown, apart from how: a prediction and its attention maps, each with labels for both
// axes, ready for every output. Made by replaying a prediction with a Tap and joining the maps that
// it recorded with the axes of the Example.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/explain/heads/choice.h"
#include "fovea/tensor/predictor.h"

namespace fovea {

/// One map with labels, as plain numbers.
struct MapView {
  std::string name;
  std::string title;  // says which head when a map has several
  MapKind kind = MapKind::Distribution;
  std::string group;  // maps of the same group are series of one picture: a panel per query; ""
                      // stands alone
  std::string query_axis, key_axis;
  std::vector<std::string> query_labels;    // Q of them
  std::vector<std::string> key_labels;      // K of them
  std::vector<double> weights;              // Q * K, row by row; NaN is a gap
  std::vector<double> spread;               // Q * K or empty: one standard deviation over the data
  std::vector<char> truth;                  // Q * K or empty: 1 where a key is known to matter
  std::vector<double> low = {}, high = {};  // Q * K or empty: an interval of each weight, and
  std::string interval_of = "";             // what varies: "5 seeds"
  std::string interval_is = "";             // which: "95 % interval", "full range"
  std::string total = "";                   // contributions: what a row sums to
  int64_t layer = 0, head = 0;              // from 1; 0: there is only one, or a mean
  MapLayout layout = MapLayout::Dense;
  std::vector<int64_t> edge_queries = {}, edge_keys = {};  // edges: where each weight belongs
  bool has_products = false;  // query_key.h can say what a weight is made of
  size_t point_width = 0;     // points: numbers of each row

  size_t queries() const { return query_labels.size(); }
  size_t keys() const { return key_labels.size(); }
  double weight(size_t query, size_t key) const { return weights[query * keys() + key]; }
  double deviation(size_t query, size_t key) const {
    return spread.empty() ? 0 : spread[query * keys() + key];
  }
  bool is_true(size_t query, size_t key) const {
    return !truth.empty() && truth[query * keys() + key] != 0;
  }
};

/// One of the answers that a network chose among.
struct AnswerShare {
  std::string label;
  double probability = 0;
  bool given = false;  // it is the answer, or one of its labels
};

/// The right answer, where it is known.
struct KnownTruth {
  std::string text;
  std::optional<bool> right;  // whether the answer is the same; nothing: of numbers, which are near
  std::string remark = "";    // how far off: "0.31 too high"
};

/// An answer with what it was chosen among.
struct GivenAnswer {
  std::string text;  // for people
  Json answer = nullptr;
  std::vector<AnswerShare> shares = {};
  int64_t answers = 0;
};

/// What was taken away from the input of an explanation (what_if/without.h).
struct TakenAway {
  struct Units {
    std::string axis;
    std::vector<int64_t> units;       // places from 0
    std::vector<std::string> labels;  // theirs
  };
  std::vector<Units> units;
  GivenAnswer before;       // to the whole input
  int64_t predictions = 0;  // that the search for them took (what_if/flip.h); 0: they were named
};

struct Explanation {
  std::string task, title;
  std::string prediction;  // for people: "malignant (0.97)"
  std::vector<MapView> maps;
  std::vector<std::string> notes;  // what a reader must know: broken maps, gaps
  std::string input = "";          // as the user gave it
  Json answer = nullptr;           // the prediction for programs
  std::vector<Axis> axes = {};     // what is known of the axes besides their labels
  std::vector<Medium> media = {};
  std::vector<Faithfulness> faithfulness = {};
  std::vector<AnswerShare> shares = {};  // the likeliest first, at most kMostShares of them
  int64_t answers = 0;                   // that there are to choose among
  std::optional<KnownTruth> truth = {};
  std::vector<Cut> cuts = {};
  std::optional<TakenAway> without = {};
  Json query_keys =
      nullptr;           // what single weights are made of: a list of query_key.h's; null: none
  Json model = nullptr;  // the card of the run, docs/formats/explanation.md; null: not known
};

constexpr size_t kMostShares = 50;  // the answer and the truth come besides

struct ExplainOptions {
  std::string task, title;
  std::map<std::string, std::string>
      map_titles;                      // by map name; a map without one is called by its name
  std::vector<std::string> ensembles;  // maps whose heads are members of an ensemble: the mean is
                                       // shown, and as its interval from the least to the most
  int64_t head = 0;                    // n: only the n-th; 0: as `heads` says
  HeadChoice heads;
  /// The prediction for people; scores or values when empty.
  std::function<std::string(const Example&, const Prediction&)> describe;
  std::function<Json(const Example&, const Prediction&)> answer;  // for programs
};

/// Throws Internal, with both numbers, when the labels, weights, spread and truth of a map do not
/// fit together.
void check_sizes(const MapView& view);

/// Joins a recorded map of one example (B = 1) with that example's labels and planted truth: the
/// mean of its heads, or one of them. Internal when an axis is missing or has another size.
MapView make_view(const AttentionMap& map, const Example& example,
                  const ExplainOptions& options = {});

/// Free maps over the same axes (context attention: A and A * w) become series of one picture.
void group_free_maps(std::vector<MapView>& maps);

/// The explanation with one view per map and layer: the mean of its heads. For pictures that have
/// no room for all. Heads that were asked for one by one, and say so in their titles, stay.
Explanation mean_of_heads(const Explanation& explanation);

/// An example with axes for its output, as the predictor describes them. Planted truth that does
/// not fit the map of that output is left out, with a note: it belongs to the right output.
struct DescribedExample {
  Example example;
  std::vector<std::string> notes;
};
DescribedExample describe_example(const Predictor& predictor, const Example& example,
                                  const Prediction& prediction,
                                  const std::vector<AttentionMap>& maps);

/// Replays that prediction with a tap and joins. Maps that fail their own check are shown all the
/// same, with a note. Rollout and flow come with the whole only. InvalidArgument, with what there
/// is, for a layer or head that no map has.
Explanation explain_prediction(const Predictor& predictor, const Example& example,
                               const Prediction& prediction, const ExplainOptions& options = {});

/// Predicts first.
Explanation explain_example(const Predictor& predictor, const Example& example,
                            const ExplainOptions& options = {});

}  // namespace fovea

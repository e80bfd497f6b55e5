#include "fovea/explain/faithfulness/faithfulness.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "fovea/base/error.h"
#include "fovea/explain/faithfulness/evaluate.h"
#include "fovea/explain/faithfulness/verdict.h"
#include "fovea/explain/heads/rollout.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

using faithfulness::Erasures;
using faithfulness::Instance;
using faithfulness::Sample;
using Maps = std::vector<AttentionMap>;

constexpr size_t kPredictTogether = 256;

void check(const FaithfulnessOptions& options) {
  for (const double bin : options.bins)
    require(bin > 0 && bin <= 1, ErrorKind::InvalidArgument,
            "faithfulness: a bin is a share of the units above 0 and at most 1, found ", bin);
  require(options.curve_points == 0 || options.curve_points >= 2, ErrorKind::InvalidArgument,
          "faithfulness: a curve has at least 2 points, found ", options.curve_points);
  require(options.adversary_steps >= 0, ErrorKind::InvalidArgument, "faithfulness: a search of ",
          options.adversary_steps, " steps cannot be made");
  require(options.random_rationales >= 0 && options.permutations >= 0 && options.most_rows > 0,
          ErrorKind::InvalidArgument, "faithfulness: found ", options.random_rationales,
          " random rationales, ", options.permutations, " permutations and ", options.most_rows,
          " rows, expected none below 0 and at least 1 row");
}

std::vector<Prediction> predict_all(const Predictor& predictor, std::span<const Example> examples) {
  std::vector<Prediction> predictions;
  for (size_t begin = 0; begin < examples.size(); begin += kPredictTogether) {
    const auto slice = examples.subspan(begin, std::min(kPredictTogether, examples.size() - begin));
    for (Prediction& prediction : predictor.predict(slice))
      predictions.push_back(std::move(prediction));
  }
  require(predictions.size() == examples.size(), ErrorKind::Internal, examples.size(),
          " examples gave ", predictions.size(), " predictions");
  return predictions;
}

/// The maps of each name, in the order in which the names came.
std::vector<Maps> by_name(const Maps& maps) {
  std::vector<Maps> groups;
  for (const AttentionMap& map : maps) {
    const auto group = std::ranges::find_if(
        groups, [&](const Maps& some) { return some.front().name == map.name; });
    if (group == groups.end())
      groups.push_back({map});
    else
      group->push_back(map);
  }
  return groups;
}

struct Evaluation {
  std::string map, judged_as;
  Sample sample;
};

/// What of these layers make_attributions() looks at, where that is not the map itself.
std::string judged_as(const Maps& layers) {
  const bool finite = std::ranges::all_of(layers, [](const AttentionMap& layer) {
    return layer.weights.isfinite().all().item<bool>();
  });
  if (finite && is_stack(layers)) return "rollout";
  if (layers.size() > 1) return "mean of layers";
  return layers.front().weights.size(1) > 1 ? "mean of heads" : "";
}

/// Everything that is known before the first example.
struct Study {
  const Predictor& predictor;
  const FaithfulnessOptions& options;
  std::unique_ptr<Predictor> untrained;
  std::vector<double> x;
};

Maps untrained_maps(const Study& study, const Instance& instance) {
  if (!study.untrained) return {};
  torch::NoGradGuard no_gradients;
  Tap tap;
  study.untrained->replay(instance.example, instance.prediction, tap);
  return tap.maps();
}

Sample not_dense(const AttentionMap& map, const Instance& instance) {
  Sample sample;
  sample.values = instance.values;
  sample.outputs = int64_t(instance.original.size());
  sample.notes.push_back(
      concat("maps of the layout ", name_of(map.layout), " are not judged, only dense ones"));
  return sample;
}

/// Whether another map says in weights what this one says in places or edges: the cells that
/// glimpses cover, the neighbours of the node in question. That one is evaluated then.
bool has_dense_twin(const AttentionMap& map, const Maps& maps) {
  return std::ranges::any_of(maps, [&](const AttentionMap& other) {
    return other.layout == MapLayout::Dense &&
           (map.layout == MapLayout::Edges || other.query_axis == map.query_axis);
  });
}

/// Nothing for an example without output.
std::vector<Evaluation> evaluate_example(const Study& study, const Example& example,
                                         const Prediction& prediction, const Random& random) {
  const Instance instance = faithfulness::examine(study.predictor, example, prediction);
  std::vector<Evaluation> evaluations;
  if (instance.original.empty()) return evaluations;
  const Maps untrained = untrained_maps(study, instance);
  std::map<std::pair<std::string, int64_t>, Erasures> erasures;  // maps over one axis share them
  for (const Maps& layers : by_name(instance.maps)) {
    const AttentionMap& map = layers.front();
    const bool dense = std::ranges::all_of(
        layers, [](const AttentionMap& layer) { return layer.layout == MapLayout::Dense; });
    if (!dense) {
      if (!has_dense_twin(map, instance.maps))
        evaluations.push_back({map.name, "", not_dense(map, instance)});
      continue;
    }
    const int64_t units = map.weights.size(-1);
    Erasures& erased =
        erasures.try_emplace({map.key_axis, units}, instance, map.key_axis, units).first->second;
    evaluations.push_back({map.name, judged_as(layers),
                           faithfulness::evaluate(layers, {study.options, study.x, instance, erased,
                                                           untrained, random})});
    if (study.options.randomised_weights && !study.untrained)
      evaluations.back().sample.notes.push_back("there is no untrained network to compare with");
  }
  return evaluations;
}

std::vector<double> shares(int64_t points) {
  std::vector<double> x;
  for (int64_t i = 0; i < points; ++i) x.push_back(double(i) / double(points - 1));
  return x;
}

std::vector<Faithfulness> summarise_all(const std::vector<std::vector<Evaluation>>& evaluations,
                                        const std::vector<double>& x) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<Sample>> samples;
  std::map<std::string, std::string> judged;  // as what
  int64_t without_output = 0;
  for (const std::vector<Evaluation>& of_example : evaluations) {
    without_output += of_example.empty();
    for (const Evaluation& evaluation : of_example) {
      if (samples.find(evaluation.map) == samples.end()) names.push_back(evaluation.map);
      samples[evaluation.map].push_back(evaluation.sample);
      judged[evaluation.map] = evaluation.judged_as;
    }
  }
  std::vector<Faithfulness> results;
  for (const std::string& name : names) {
    results.push_back(faithfulness::summarise(name, samples[name], x));
    results.back().judged_as = judged[name];
    faithfulness::give_verdict(samples[name], results.back());
    if (without_output > 0)
      results.back().notes.push_back(
          concat(format_count(without_output), " examples without output were left out"));
  }
  return results;
}

}  // namespace

std::vector<Faithfulness> measure_faithfulness(const Predictor& predictor,
                                               std::span<const Example> examples,
                                               const FaithfulnessOptions& options) {
  require(!examples.empty(), ErrorKind::InvalidArgument,
          "faithfulness needs at least one example, found none");
  check(options);
  const Random random = Random(options.seed).split("faithfulness");
  const Study study{predictor, options,
                    options.randomised_weights ? predictor.randomised(options.seed) : nullptr,
                    shares(options.curve_points)};
  const std::vector<Prediction> predictions = predict_all(predictor, examples);
  std::vector<std::vector<Evaluation>> evaluations(examples.size());
  std::mutex reporting;
  int64_t done = 0;
  run_parallel(int64_t(examples.size()), [&](int64_t index) {
    const auto at = size_t(index);
    evaluations[at] = evaluate_example(study, examples[at], predictions[at], random.split(at));
    const std::lock_guard lock(reporting);
    ++done;
    if (options.progress) options.progress(done);
  });
  return summarise_all(evaluations, study.x);
}

}  // namespace fovea

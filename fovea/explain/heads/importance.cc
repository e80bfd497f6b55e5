#include "fovea/explain/heads/importance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using MapPlace = std::pair<std::string, int64_t>;  // name and layer

/// Rows with what the network answers to them.
struct Answered {
  std::vector<Example> examples;
  std::vector<Prediction> predictions;
  int64_t first = 0;  // row of the data
  bool has_values() const { return predictions.front().values.defined(); }
};

/// A network's attentions: how many heads each has, in the order of the maps.
struct Attentions {
  std::vector<MapPlace> places;
  std::map<MapPlace, int64_t> heads;

  Attentions(const Predictor& predictor, const Answered& answered) {
    torch::NoGradGuard no_gradients;
    Tap tap(Record::OnDemand);
    predictor.replay_batch(answered.examples, answered.predictions, tap);
    for (const AttentionMap& map : tap.maps()) {
      if (map.layout != MapLayout::Dense) continue;
      if (heads.emplace(MapPlace{map.name, map.layer}, heads_of(map)).second)
        places.push_back({map.name, map.layer});
    }
    require(!places.empty(), ErrorKind::InvalidArgument,
            "this network reports no attention; there are no heads to measure");
  }
};

/// The log-probability of each answer, or its numbers along a direction of its row: [B].
Tensor head_objective(const Tensor& replayed, const Answered& answered, const Random& random) {
  if (!answered.has_values()) return replayed.sum(1);
  std::vector<Tensor> directions;
  for (int64_t row = 0; row < replayed.size(0); ++row)
    directions.push_back(random.split(uint64_t(answered.first + row))
                             .normal_tensor({replayed.size(1)}, 0, 1, at::kFloat));
  return (replayed * torch::stack(directions).to(replayed.device(), replayed.scalar_type())).sum(1);
}

/// |dL / dxi| summed over the rows, by attention: [H].
std::map<MapPlace, Tensor> head_gradients(const Predictor& predictor, const Answered& answered,
                                          const Attentions& attentions, const Random& random) {
  torch::AutoGradMode with_gradients(true);
  Tap tap;
  std::map<MapPlace, Tensor> scales;  // [B, H, 1, 1]: each row has its own
  for (const auto& [name, layer] : attentions.places)
    tap.replace(name, [&](const AttentionMap& map) {
      Tensor& scale = scales[{map.name, map.layer}];
      if (!scale.defined())
        scale = at::ones({map.weights.size(0), map.weights.size(1), 1, 1}, map.weights.options())
                    .set_requires_grad(true);
      return map.weights * scale;
    });
  const Tensor replayed =
      predictor.replay_batch(answered.examples, answered.predictions, tap);  // [B, U]
  std::vector<Tensor> inputs;
  for (const auto& [place, scale] : scales) inputs.push_back(scale);
  const auto found =
      torch::autograd::grad({head_objective(replayed, answered, random).sum()}, inputs, {},
                            /*retain_graph=*/false, /*create_graph=*/false,
                            /*allow_unused=*/true);
  std::map<MapPlace, Tensor> sums;
  size_t index = 0;
  for (const auto& [place, scale] : scales) {
    const Tensor& gradient = found[index++];
    sums[place] = gradient.defined() ? gradient.abs().sum({0, 2, 3}).to(at::kCPU, at::kDouble)
                                     : at::zeros({scale.size(1)}, at::kDouble);
  }
  return sums;
}

/// What the answers lose, or how far they move, summed over the rows, when one head is at 0.
double loss_without(const Predictor& predictor, const Answered& answered, const MapPlace& place,
                    int64_t head, const Tensor& before) {
  Tap tap(Record::OnDemand);
  tap.replace(place.first, [&](const AttentionMap& map) {
    if (map.layer != place.second) return map.weights;
    Tensor weights = map.weights.clone();
    weights.select(1, head).zero_();
    return weights;
  });
  const Tensor after = predictor.replay_batch(answered.examples, answered.predictions, tap);
  return answered.has_values() ? (before - after).norm(2, 1).sum().item<double>()
                               : (before - after).sum().item<double>();
}

/// Divides by the length of each attention's vector.
void normalise(std::vector<HeadImportance>& heads) {
  std::map<MapPlace, double> squares;
  for (const HeadImportance& head : heads)
    squares[{head.name.map, head.name.layer}] += head.gradient * head.gradient;
  for (HeadImportance& head : heads) {
    const double length = std::sqrt(squares[{head.name.map, head.name.layer}]);
    head.importance = length > 0 ? head.gradient / length : 0;
  }
}

std::vector<HeadImportance> list_heads(const Attentions& attentions) {
  std::vector<HeadImportance> all;
  for (const MapPlace& place : attentions.places)
    for (int64_t head = 1; head <= attentions.heads.at(place); ++head)
      all.push_back({{place.first, place.second, head}});
  return all;
}

}  // namespace

std::vector<HeadImportance> measure_importance(const Predictor& predictor,
                                               const ExampleSource& rows,
                                               const ImportanceOptions& options) {
  require(rows.size > 0, ErrorKind::InvalidArgument, "there are no rows to measure heads on");
  const Random random = Random(options.seed).split("directions");
  std::vector<HeadImportance> heads;
  std::optional<Attentions> attentions;
  for (int64_t first = 0; first < rows.size; first += options.rows_at_once) {
    Answered answered;
    answered.first = first;
    for (int64_t row = first; row < std::min(rows.size, first + options.rows_at_once); ++row)
      answered.examples.push_back(rows.example(row));
    answered.predictions = predictor.predict(answered.examples);
    if (!attentions) heads = list_heads(attentions.emplace(predictor, answered));
    const auto gradients = head_gradients(predictor, answered, *attentions, random);
    torch::NoGradGuard no_gradients;
    Tensor before;
    if (options.zeroing) {
      Tap tap(Record::OnDemand);
      before = predictor.replay_batch(answered.examples, answered.predictions, tap);  // [B, U]
    }
    for (HeadImportance& head : heads) {
      const MapPlace place{head.name.map, head.name.layer};
      if (const auto found = gradients.find(place); found != gradients.end())
        head.gradient += found->second[head.name.head - 1].item<double>() / double(rows.size);
      if (options.zeroing)
        head.drop = head.drop.value_or(0) +
                    loss_without(predictor, answered, place, head.name.head - 1, before) /
                        double(rows.size);
    }
    if (options.progress) options.progress(first + int64_t(answered.examples.size()));
  }
  normalise(heads);
  return heads;
}

}  // namespace fovea

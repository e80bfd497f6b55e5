#include "fovea/explain/heads/statistics.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Sums over queries of one head.
struct Sums {
  double queries = 0, entropy = 0, largest = 0;
  double choosing = 0, share = 0;  // queries with a choice
  double special = 0, distance = 0, own = 0, previous = 0, next = 0;
  double sinking = 0, sink = 0;  // queries behind the first that see nothing behind them
  bool has_special = false, is_self = false;

  void add(const Tensor& weights, const Tensor& special_keys) {
    const Tensor seeing = weights.sum(1) > 0;  // [Q]
    const Tensor entropies = at::special_entr(weights).sum(1);
    const Tensor keys = weights.gt(0).sum(1).to(at::kDouble);
    const Tensor choice = keys > 1;
    queries += seeing.sum().item<double>();
    entropy += entropies.sum().item<double>();
    choosing += choice.sum().item<double>();
    share += (entropies / keys.log()).masked_fill(~choice, 0).sum().item<double>();
    largest += weights.amax(1).sum().item<double>();
    if (special_keys.numel() > 0) {
      has_special = true;
      special += weights.index_select(1, special_keys).sum().item<double>();
    }
  }

  void add_places(const Tensor& weights, const Tensor& distances) {
    is_self = true;
    distance += (weights * distances).sum().item<double>();
    own += weights.diagonal(0).sum().item<double>();
    previous += weights.diagonal(-1).sum().item<double>();
    next += weights.diagonal(1).sum().item<double>();
    const bool looks_back = weights.size(0) > 1 && weights.size(0) == weights.size(1) &&
                            !weights.triu(1).any().item<bool>();
    if (!looks_back) return;
    const Tensor later = weights.narrow(0, 1, weights.size(0) - 1);  // [Q - 1, K]
    sinking += (later.sum(1) > 0).sum().item<double>();
    sink += later.select(1, 0).sum().item<double>();
  }

  HeadStatistics means(const HeadName& name) const {
    HeadStatistics found;
    found.name = name;
    found.queries = int64_t(queries);
    if (queries == 0) return found;
    found.entropy = entropy / queries;
    found.largest = largest / queries;
    if (choosing > 0) found.normalised_entropy = share / choosing;
    if (has_special) found.special = special / queries;
    if (!is_self) return found;
    found.distance = distance / queries;
    found.own = own / queries;
    found.previous = previous / queries;
    found.next = next / queries;
    if (sinking > 0) found.sink = sink / sinking;
    return found;
  }
};

const Axis* find_axis(const Example& example, const std::string& name) {
  for (const Axis& axis : example.axes)
    if (axis.name == name) return &axis;
  return nullptr;
}

/// A sequence looks at itself: one axis, or both sides of what is being put out (position i of an
/// output has read the units before it, the last of which stands at place i).
bool looks_at_itself(const Axis* query, const Axis* key) {
  return query && key && (query->name == key->name || (query->output && key->output));
}

bool is_share(const AttentionMap& map) {
  return map.layout == MapLayout::Dense &&
         (map.kind == MapKind::Distribution || map.kind == MapKind::Partial);
}

class Collector {
 public:
  void add(const AttentionMap& map, const Example& example) {
    const Axis* query = find_axis(example, map.query_axis);
    const Axis* key = find_axis(example, map.key_axis);
    const Tensor special = torch::tensor(key ? key->special : std::vector<int64_t>(), at::kLong);
    const bool self = looks_at_itself(query, key);
    Tensor distances;  // [Q, K]
    for (int64_t head = 0; head < heads_of(map); ++head) {
      const Tensor weights = head_of(map, 0, head).detach().to(at::kCPU, at::kDouble);  // [Q, K]
      Sums& sums = find_sums({map.name, map.layer, head + 1});
      sums.add(weights, special);
      if (!self) continue;
      if (!distances.defined())
        distances = (at::arange(weights.size(0), at::kDouble).unsqueeze(1) -
                     at::arange(weights.size(1), at::kDouble))
                        .abs();
      sums.add_places(weights, distances);
    }
  }

  std::vector<HeadStatistics> means() const {
    std::vector<HeadStatistics> all;
    for (const auto& [name, sums] : sums_) all.push_back(sums.means(name));
    return all;
  }

 private:
  Sums& find_sums(const HeadName& name) {
    const auto found =
        std::ranges::find_if(sums_, [&](const auto& item) { return item.first == name; });
    if (found != sums_.end()) return found->second;
    sums_.push_back({name, {}});
    return sums_.back().second;
  }
  std::vector<std::pair<HeadName, Sums>> sums_;  // in the order of the maps
};

constexpr double kMostOfTheWeight = 0.4;

}  // namespace

std::string HeadStatistics::does() const {
  if (induction.value_or(0) > kMostOfTheWeight) return "induction";
  if (sink.value_or(0) > kMostOfTheWeight) return "sink";
  return sink && previous.value_or(0) > kMostOfTheWeight ? "previous" : "";
}

void measure_induction(const Predictor& predictor, const Example& example, int64_t length,
                       std::vector<HeadStatistics>& heads) {
  torch::NoGradGuard no_gradients;
  const Prediction prediction = predictor.predict({&example, 1}).front();
  Tap tap(Record::OnDemand);
  predictor.replay(example, prediction, tap);
  for (const AttentionMap& map : tap.maps()) {
    if (!is_share(map) || map.query_axis != map.key_axis || length < 2) continue;
    for (int64_t head = 0; head < heads_of(map); ++head) {
      const Tensor weights = head_of(map, 0, head).to(at::kCPU, at::kDouble);  // [Q, K]
      if (weights.size(0) < 2 * length || weights.size(1) < 2 * length) continue;
      // Unit i of the second copy, but its last, and the one after the same unit of the first.
      const Tensor second = weights.narrow(0, length, length - 1).narrow(1, 1, length - 1);
      for (HeadStatistics& one : heads)
        if (one.name == HeadName{map.name, map.layer, head + 1})
          one.induction = second.diagonal().mean().item<double>();
    }
  }
}

std::vector<HeadStatistics> measure_heads(const Predictor& predictor, const ExampleSource& rows,
                                          const HeadOptions& options) {
  require(rows.size > 0, ErrorKind::InvalidArgument, "there are no rows to measure heads on");
  torch::NoGradGuard no_gradients;
  Collector collector;
  for (int64_t row = 0; row < rows.size; ++row) {
    const Example example = rows.example(row);
    const Prediction prediction = predictor.predict({&example, 1}).front();
    Tap tap(Record::OnDemand);
    predictor.replay(example, prediction, tap);
    const Example described = predictor.describe_output(example, prediction);
    for (const AttentionMap& map : tap.maps())
      if (is_share(map)) collector.add(map, described);
    if (options.progress) options.progress(row + 1);
  }
  std::vector<HeadStatistics> all = collector.means();
  require(!all.empty(), ErrorKind::InvalidArgument,
          "this network has no attention whose weights are shares; there are no heads to measure");
  return all;
}

}  // namespace fovea

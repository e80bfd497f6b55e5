#include "fovea/explain/import/import.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/names.h"
#include "fovea/explain/import/axes.h"
#include "fovea/explain/import/dimensions.h"
#include "fovea/explain/import/json.h"
#include "fovea/explain/import/names.h"
#include "fovea/explain/record/json.h"
#include "fovea/explain/record/rollout_views.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/to_vector.h"

namespace fovea {
namespace {

constexpr auto kWeightLimit = int64_t(kMostWeights);  // what a file may hold
constexpr int64_t kMapLimit = 1 << 14;
constexpr uintmax_t kJsonByteLimit = uintmax_t{1} << 31;
constexpr double kTolerance = 1e-3;
constexpr double kBrainTolerance = 1e-2;  // bfloat16 keeps eight bits of each weight

bool is_wanted(const std::vector<int64_t>& numbers, int64_t number) {
  return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
}

/// Rows without a gap decide; a row with one has no sum.
MapKind infer_kind(const std::vector<double>& weights, size_t keys, double tolerance) {
  bool negative = false, above_one = false, sum_above = false, sum_below = false;
  for (size_t begin = 0; begin < weights.size(); begin += keys) {
    double sum = 0;
    for (size_t i = begin; i < begin + keys; ++i) {
      if (weights[i] < 0) negative = true;
      if (weights[i] > 1 + tolerance) above_one = true;
      sum += weights[i];
    }
    if (sum > 1 + tolerance) sum_above = true;
    if (sum < 1 - tolerance) sum_below = true;
  }
  if (negative || above_one) return MapKind::Free;
  if (sum_above) return MapKind::Gate;
  return sum_below ? MapKind::Partial : MapKind::Distribution;
}

/// Counts what notes tell about a whole family.
struct FamilyTally {
  int64_t maps = 0, gaps = 0;
  std::map<MapKind, int64_t> kinds;
  at::ScalarType type = at::kFloat;

  void add(const MapView& view, int64_t gaps_of_view) {
    ++maps;
    ++kinds[view.kind];
    gaps += gaps_of_view;
  }
  void write(const std::string& family, std::vector<std::string>& notes) const {
    if (gaps > 0)
      notes.push_back(concat("'", family, "' has ", format_count(gaps),
                             " weights that are not finite: drawn as gaps"));
    if (kinds.size() > 1) {
      std::vector<std::string> counts;
      for (const auto& [kind, count] : kinds) counts.push_back(concat(count, " ", name_of(kind)));
      notes.push_back(
          concat("the ", maps, " maps of '", family, "' are of several kinds: ", join(counts)));
    }
    const bool distributions = kinds.count(MapKind::Distribution) > 0;
    if (distributions && (type == at::kHalf || type == at::kBFloat16))
      notes.push_back(concat(
          "'", family, "' was saved as ", type == at::kHalf ? "float16" : "bfloat16",
          ": its rows sum to 1 only within ", type == at::kHalf ? kTolerance : kBrainTolerance));
  }
};

/// Before anything is copied or labelled: too many weights, or too many maps.
void check_amount(const std::vector<AttentionStack>& stacks, const std::vector<TensorPlace>& places,
                  const ImportOptions& options) {
  constexpr int64_t kLabelCost = 4;  // a text takes as much memory as four weights
  int64_t maps = 0, weights = 0;
  for (const TensorPlace& place : places) {
    const at::Tensor& tensor = stacks[place.tensor].weights;  // [L, H, Q, K]
    const int64_t cost =
        tensor.size(2) * tensor.size(3) + kLabelCost * (tensor.size(2) + tensor.size(3));
    const auto count = [](const std::vector<int64_t>& chosen, int64_t size, int64_t named) {
      if (size == 1) return int64_t{is_wanted(chosen, named)};
      return chosen.empty() ? size : std::min(size, int64_t(chosen.size()));
    };
    const int64_t added = count(options.layers, tensor.size(0), place.layer) *
                          count(options.heads, tensor.size(1), place.head);
    maps += added;
    require(maps <= kMapLimit, ErrorKind::InvalidArgument, "tensor '", stacks[place.tensor].name,
            "' of shape ", stacks[place.tensor].shape, ": more than ", format_count(kMapLimit),
            " maps in all; choose some tensors, layers or heads");
    require(added == 0 || cost <= (kWeightLimit - weights) / added, ErrorKind::InvalidArgument,
            "tensor '", stacks[place.tensor].name, "' of shape ", stacks[place.tensor].shape,
            ": more than ", format_count(kWeightLimit),
            " weights in all; choose some tensors, layers or heads");
    weights += added * cost;
  }
}

class Builder {
 public:
  Builder(const std::vector<AttentionStack>& stacks, std::vector<TensorPlace> places,
          const ImportedLabels& labels, const ImportOptions& options)
      : stacks_(stacks),
        places_(std::move(places)),
        axes_(stacks, places_, labels),
        options_(options) {}

  void build(Explanation& explanation) {
    for (const TensorPlace& place : places_) add_stack(place, explanation);
    for (const std::string& note : axes_.notes()) explanation.notes.push_back(note);
    for (const auto& [family, tally] : tallies_) tally.write(family, explanation.notes);
    explanation.axes = axes_.take_axes();
  }

 private:
  void add_stack(const TensorPlace& place, Explanation& explanation) {
    const AttentionStack& stack = stacks_[place.tensor];
    const int64_t layers = stack.weights.size(0), heads = stack.weights.size(1);
    std::optional<ImportedAxes::Slices> slices;  // no axes for maps that nobody wants
    for (int64_t layer = 0; layer < layers; ++layer)
      for (int64_t head = 0; head < heads; ++head) {
        MapView view;
        view.name = place.family;
        view.layer = layers > 1 ? layer + 1 : place.layer;
        view.head = heads > 1 ? head + 1 : place.head;
        if (!is_wanted(options_.layers, view.layer) || !is_wanted(options_.heads, view.head))
          continue;
        if (!slices) slices = axes_.slice_axes(stack, place);
        fill(view, stack.weights[layer][head], *slices);
        explanation.maps.push_back(std::move(view));
      }
  }

  void fill(MapView& view, const at::Tensor& weights, const ImportedAxes::Slices& slices) {
    view.query_axis = slices.queries.axis;
    view.key_axis = slices.keys.axis;
    view.query_labels = axes_.labels(view.query_axis);
    view.key_labels = axes_.labels(view.key_axis);
    view.weights =
        to_vector<double>(weights.narrow(0, slices.queries.begin, slices.queries.count)
                              .narrow(1, slices.keys.begin, slices.keys.count));  // [Q, K]
    int64_t gaps = 0;
    for (double& weight : view.weights)
      if (!std::isfinite(weight)) weight = std::numeric_limits<double>::quiet_NaN(), ++gaps;
    const bool brain = weights.scalar_type() == at::kBFloat16;
    view.kind = infer_kind(view.weights, view.keys(), brain ? kBrainTolerance : kTolerance);
    view.title = view.name;
    FamilyTally& tally = tallies_[view.name];
    tally.type = weights.scalar_type();
    tally.add(view, gaps);
  }

  const std::vector<AttentionStack>& stacks_;
  std::vector<TensorPlace> places_;
  ImportedAxes axes_;
  const ImportOptions& options_;
  std::map<std::string, FamilyTally> tallies_;
};

/// The tensors that the options name, by their own name or that of their family.
std::map<std::string, at::Tensor> choose_tensors(const std::map<std::string, at::Tensor>& tensors,
                                                 const ImportOptions& options) {
  if (options.tensors.empty()) return tensors;
  std::vector<TensorName> names;
  for (const auto& [name, tensor] : tensors) names.push_back({name});
  std::set<std::string> known;
  std::map<std::string, at::Tensor> result;
  std::set<std::string> found;
  for (const TensorPlace& place : place_tensors(names)) {
    const std::string& name = names[place.tensor].name;
    for (const std::string& text : {name, place.family}) {
      known.insert(text);
      if (std::ranges::find(options.tensors, text) == options.tensors.end()) continue;
      found.insert(text);
      result.emplace(name, tensors.at(name));
    }
  }
  const std::vector<std::string> all(known.begin(), known.end());
  for (const std::string& name : options.tensors)
    require(found.count(name) > 0, ErrorKind::NotFound, "there is no tensor '", name, "'",
            suggestion(name, all), "; found: ", join(all));
  return result;
}

void require_maps(const Explanation& explanation) {
  require(!explanation.maps.empty(), ErrorKind::InvalidArgument,
          "no map is left: there are no such layers or heads; they count from 1");
}

/// What the options choose of an explanation that was saved as one.
Explanation choose_maps(Explanation explanation, const ImportOptions& options) {
  if (explanation.maps.empty()) return explanation;
  std::erase_if(explanation.maps, [&](const MapView& map) {
    const bool named = options.tensors.empty() ||
                       std::ranges::find(options.tensors, map.name) != options.tensors.end();
    return !named || !is_wanted(options.layers, map.layer) || !is_wanted(options.heads, map.head);
  });
  require_maps(explanation);
  add_rollout(explanation.maps);
  return explanation;
}

Json read_weights_json(const std::filesystem::path& path) {
  std::error_code ignored;  // read_file says what is wrong with the file
  const auto size = std::filesystem::file_size(path, ignored);
  require(ignored || size <= kJsonByteLimit, ErrorKind::BadData, path.string(),
          ": has more than 2 GiB; save it as safetensors");
  return parse_weights(read_file(path), path.string());
}

bool is_explanation(const Json& json) {
  return json.is_object() && json.contains("format") && json["format"].is_string();
}

ImportedWeights read_safetensors_weights(const std::filesystem::path& path) {
  SafetensorsFile file = read_safetensors(path);
  ImportedWeights weights{std::move(file.tensors)};
  if (const auto labels = file.metadata.find("labels"); labels != file.metadata.end()) {
    const std::string where = concat(path.string(), ": metadata 'labels'");
    weights.labels = labels_from_json(parse_json(labels->second, where), where);
  }
  return weights;
}

}  // namespace

Explanation import_weights(const std::map<std::string, at::Tensor>& tensors,
                           const ImportedLabels& labels, const ImportOptions& options) {
  require(!tensors.empty(), ErrorKind::BadData, "there are no tensors, so there is no attention");
  Explanation explanation;
  explanation.title = options.title;
  explanation.input = labels.text;
  const std::vector<AttentionStack> stacks =
      stack_tensors(choose_tensors(tensors, options), options, explanation.notes);
  std::vector<TensorName> names;
  for (const AttentionStack& stack : stacks)
    names.push_back({stack.name, stack.weights.size(0) == 1, stack.weights.size(1) == 1});
  std::vector<TensorPlace> places = place_tensors(names);
  check_amount(stacks, places, options);
  Builder(stacks, std::move(places), labels, options).build(explanation);
  require_maps(explanation);
  add_rollout(explanation.maps);
  return explanation;
}

Explanation import_file(const std::filesystem::path& path, const std::string& labels,
                        const ImportOptions& options, const NpzReader& reader) {
  const std::string extension = small_ending(path);
  ImportedWeights weights;
  if (extension == ".json") {
    const Json json = read_weights_json(path);
    require(!is_explanation(json) || labels.empty(), ErrorKind::InvalidArgument, path.string(),
            ": is an explanation, which has labels of its own; leave the labels out");
    if (is_explanation(json))
      return choose_maps(explanation_from_json(json, path.string()), options);
    weights = weights_from_json(json, path.string());
  } else if (extension == ".safetensors") {
    weights = read_safetensors_weights(path);
  } else if (extension == ".npz" || extension == ".npy") {
    require(reader != nullptr, ErrorKind::Unsupported, path.string(),
            ": NumPy files cannot be read here");
    weights.tensors = reader(path);
  } else {
    fail(ErrorKind::Unsupported, path.string(),
         ": weights are read from .json, .safetensors, .npz and .npy files. What torch.save writes "
         "is a pickle, which can run any code: save with safetensors.torch.save_file");
  }
  if (!labels.empty()) weights.labels = read_labels(labels);
  ImportOptions titled = options;
  if (titled.title.empty()) titled.title = path.stem().string();
  try {
    return import_weights(weights.tensors, weights.labels, titled);
  } catch (const Error& error) {
    throw Error(error.kind(), concat(path.string(), ": ", error.what()));
  }
}

}  // namespace fovea

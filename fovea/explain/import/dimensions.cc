#include "fovea/explain/import/dimensions.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "fovea/base/error.h"
#include "fovea/explain/import/names.h"

namespace fovea {
namespace {

using Dimensions = std::vector<std::string>;

const Dimensions kDimensions = {"layers", "batch", "heads", "queries", "keys"};
constexpr const char* kExpected =
    "expected [keys], [queries, keys], [heads, queries, keys], [batch, heads, queries, keys] or "
    "[layers, batch, heads, queries, keys]";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void check_dimensions(const Dimensions& given) {
  const std::set<std::string> once(given.begin(), given.end());
  const bool known = std::ranges::all_of(
      given, [](const std::string& name) { return contains(kDimensions, name); });
  require(given.empty() || (known && once.size() == given.size() && contains(given, "keys")),
          ErrorKind::InvalidArgument, "dimensions: found '", join(given, ","),
          "', expected each of ", join(kDimensions),
          " at most once, and keys among them, as in layers,heads,queries,keys");
}

/// How a tensor of so many dimensions is usually meant. Layers that the names of several tensors
/// count are no dimension of each.
std::vector<Dimensions> readings(size_t dimensions, bool name_counts_layers) {
  std::vector<Dimensions> all;
  if (dimensions == 3)
    for (const char* first : {"heads", "batch", "layers"})
      all.push_back({first, "queries", "keys"});
  else if (dimensions == 4)
    for (const char* first : {"batch", "layers"})
      all.push_back({first, "heads", "queries", "keys"});
  else
    all.emplace_back(kDimensions.end() - std::ptrdiff_t(dimensions), kDimensions.end());
  if (all.size() > 1 && name_counts_layers) all.pop_back();
  return all;
}

Dimensions read_dimensions(const std::string& name, const at::Tensor& tensor,
                           const Dimensions& given, bool name_counts_layers) {
  const auto count = size_t(tensor.dim());
  require(count >= 1 && count <= kDimensions.size(), ErrorKind::BadData, "tensor '", name,
          "' has shape ", tensor.sizes(), ", ", kExpected);
  require(tensor.numel() > 0, ErrorKind::BadData, "tensor '", name, "' of shape ", tensor.sizes(),
          " has no weights, ", kExpected);
  if (given.size() == count) return given;
  const std::vector<Dimensions> all = readings(count, name_counts_layers);
  if (all.size() == 1 || tensor.size(0) == 1) return all.front();
  std::vector<std::string> choices;
  for (const Dimensions& reading : all) choices.push_back("--dimensions " + join(reading, ","));
  fail(ErrorKind::InvalidArgument, "tensor '", name, "' of shape ", tensor.sizes(),
       " can be read in several ways; say which: ", join(choices, " or "));
}

/// Notes that would be the same for each of many layers are told once.
class BatchNotes {
 public:
  void add(const AttentionStack& stack, int64_t size) {
    auto& [count, first] = seen_[{stack.shape, size}];
    if (count++ == 0) first = stack.name;
  }
  void write(int64_t row, std::vector<std::string>& notes) const {
    for (const auto& [key, value] : seen_) {
      const auto& [shape, size] = key;
      const auto& [count, first] = value;
      notes.push_back(concat("'", first, "' ", shape,
                             count > 1 ? concat(" and ", count - 1, " more like it") : "",
                             ": a batch of ", size, ", of which row ", row, " is shown"));
    }
  }

 private:
  std::map<std::pair<std::string, int64_t>, std::pair<int64_t, std::string>> seen_;
};

/// [L, B, H, Q, K], with 1 where the tensor has no such dimension.
at::Tensor in_order(const at::Tensor& tensor, const Dimensions& dimensions) {
  std::vector<int64_t> order, shape;
  for (const std::string& name : kDimensions) {
    const auto at = std::ranges::find(dimensions, name);
    const int64_t place = at - dimensions.begin();
    shape.push_back(at == dimensions.end() ? 1 : tensor.size(place));
    if (at != dimensions.end()) order.push_back(place);
  }
  return tensor.permute(order).reshape(shape);
}

/// Token numbers and masks often lie beside attention: where there are real numbers, whole ones are
/// no attention.
std::map<std::string, at::Tensor> without_whole_numbers(
    const std::map<std::string, at::Tensor>& tensors, const ImportOptions& options,
    std::vector<std::string>& notes) {
  const bool real = std::ranges::any_of(
      tensors, [](const auto& entry) { return entry.second.is_floating_point(); });
  std::map<std::string, at::Tensor> kept;
  for (const auto& [name, tensor] : tensors) {
    require(tensor.defined() && !tensor.is_complex(), ErrorKind::Unsupported, "tensor '", name,
            "' has no real numbers; weights of attention do");
    if (!real || contains(options.tensors, name) || tensor.is_floating_point())
      kept.emplace(name, tensor);
    else
      notes.push_back(concat("'", name, "' ", tensor.sizes(),
                             " is left out: whole numbers beside weights; name it to see it"));
  }
  return kept;
}

}  // namespace

std::vector<AttentionStack> stack_tensors(const std::map<std::string, at::Tensor>& tensors,
                                          const ImportOptions& options,
                                          std::vector<std::string>& notes) {
  require(options.batch >= 0, ErrorKind::InvalidArgument, "batch: found ", options.batch,
          ", rows count from 0");
  const Dimensions& given = options.dimensions;
  check_dimensions(given);
  const std::map<std::string, at::Tensor> kept = without_whole_numbers(tensors, options, notes);
  const bool fits = std::ranges::any_of(
      kept, [&](const auto& entry) { return entry.second.dim() == int64_t(given.size()); });
  require(given.empty() || fits, ErrorKind::InvalidArgument, "dimensions: '", join(given, ","),
          "' are ", given.size(), ", and no tensor has as many; '", kept.begin()->first,
          "' has shape ", kept.begin()->second.sizes());
  std::vector<TensorName> names;
  for (const auto& [name, tensor] : kept) names.push_back({name});
  std::set<std::string> layers;  // tensors whose names count layers
  for (const TensorPlace& place : place_tensors(names))
    if (place.layer > 0) layers.insert(names[place.tensor].name);
  std::vector<AttentionStack> stacks;
  BatchNotes batches;
  bool has_batch = false;
  for (const auto& [name, tensor] : kept) {
    const Dimensions dimensions = read_dimensions(name, tensor, given, layers.count(name) > 0);
    const at::Tensor ordered = in_order(tensor.detach(), dimensions);  // [L, B, H, Q, K]
    AttentionStack stack{name, {}, !contains(dimensions, "queries"), concat(tensor.sizes())};
    int64_t row = 0;
    if (contains(dimensions, "batch")) {
      const int64_t size = ordered.size(1);
      require(options.batch < size, ErrorKind::InvalidArgument, "tensor '", name, "' of shape ",
              stack.shape, " has a batch of ", size, ", there is no row ", options.batch,
              "; rows count from 0");
      row = options.batch;
      has_batch = true;
      if (size > 1) batches.add(stack, size);
    }
    stack.weights = ordered.select(1, row);  // [L, H, Q, K]
    stacks.push_back(std::move(stack));
  }
  require(has_batch || options.batch == 0, ErrorKind::InvalidArgument, "batch: row ", options.batch,
          " is asked for, but no tensor has a batch");
  batches.write(options.batch, notes);
  return stacks;
}

}  // namespace fovea

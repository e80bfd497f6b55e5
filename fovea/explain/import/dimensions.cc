#include "fovea/explain/import/shape.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/explain/import/names.h"

namespace fovea {
namespace {

constexpr std::string_view kLetters = "LBHQK";
constexpr const char* kExpected =
    "expected [K], [Q, K], [heads, Q, K], [batch, heads, Q, K] or [layers, batch, heads, Q, K]";

std::string shape_of(const at::Tensor& tensor) {
  return concat(tensor.sizes());
}

/// The letters of the option, checked; "" when it is not set.
std::string checked_dimensions(const OutsideOptions& options) {
  std::string letters;
  for (const char c : options.dimensions) letters += static_cast<char>(c >= 'a' ? c - 32 : c);
  const auto known_once = [&](char c) {
    return kLetters.find(c) != std::string_view::npos &&
           std::count(letters.begin(), letters.end(), c) == 1;
  };
  require(
      letters.empty() || (std::all_of(letters.begin(), letters.end(), known_once) &&
                          letters.find('K') != std::string::npos),
      ErrorKind::InvalidArgument, "dimensions: found '", options.dimensions,
      "', expected each of L (layers), B (batch), H (heads), Q (queries), K (keys) at most once, "
      "and K, for example LHQK");
  return letters;
}

std::string letters_of(const std::string& name, const at::Tensor& tensor,
                       const std::string& wanted) {
  const auto dimensions = static_cast<size_t>(tensor.dim());
  require(dimensions >= 1 && dimensions <= kLetters.size(), ErrorKind::BadData, "tensor '", name,
          "' has shape ", shape_of(tensor), ", ", kExpected);
  if (wanted.size() == dimensions) return wanted;
  std::string letters(kLetters.substr(kLetters.size() - dimensions));
  if ((dimensions == 3 || dimensions == 4) && names_layers(name)) letters[0] = 'L';
  return letters;
}

/// Notes that would be the same for each of many layers are told once.
class BatchNotes {
 public:
  void add(const AttentionStack& stack, const std::string& letters, int64_t size) {
    auto& [count, first] = seen_[{stack.shape, letters, size}];
    if (count++ == 0) first = stack.name;
  }
  void write(int64_t row, std::vector<std::string>& notes) const {
    for (const auto& [key, value] : seen_) {
      const auto& [shape, letters, size] = key;
      const auto& [count, first] = value;
      notes.push_back(concat(
          "'", first, "' ", shape, count > 1 ? concat(" and ", count - 1, " more like it") : "",
          ": a batch of ", size, ", of which row ", row, " is shown",
          letters == "BHQK" ? " (if the first dimension is layers, say so: dimensions LHQK)" : ""));
    }
  }

 private:
  std::map<std::tuple<std::string, std::string, int64_t>, std::pair<int64_t, std::string>> seen_;
};

/// [L, B, H, Q, K], with 1 where the tensor has no such dimension.
at::Tensor in_order(const at::Tensor& tensor, const std::string& letters) {
  std::vector<int64_t> order;
  std::vector<int64_t> shape;
  for (const char letter : kLetters) {
    const size_t at = letters.find(letter);
    shape.push_back(at == std::string::npos ? 1 : tensor.size(static_cast<int64_t>(at)));
    if (at != std::string::npos) order.push_back(static_cast<int64_t>(at));
  }
  return tensor.permute(order).reshape(shape);
}

AttentionStack stack_of(const std::string& name, const at::Tensor& tensor,
                        const std::string& letters, const OutsideOptions& options) {
  AttentionStack stack{name, {}, letters.find('Q') == std::string::npos, shape_of(tensor)};
  require(tensor.numel() > 0, ErrorKind::BadData, "tensor '", name, "' of shape ", stack.shape,
          " has no weights, ", kExpected);
  const at::Tensor ordered = in_order(tensor.detach(), letters);  // [L, B, H, Q, K]
  require(letters.find('B') == std::string::npos || options.batch < ordered.size(1),
          ErrorKind::InvalidArgument, "tensor '", name, "' of shape ", stack.shape,
          " has a batch of ", ordered.size(1), ", there is no row ", options.batch,
          "; rows count from 0");
  stack.weights = ordered.select(
      1, letters.find('B') == std::string::npos ? 0 : options.batch);  // [L, H, Q, K]
  return stack;
}

/// Token numbers and masks often lie beside attention: where there are real numbers, whole ones are
/// no attention.
std::map<std::string, at::Tensor> without_whole_numbers(
    const std::map<std::string, at::Tensor>& tensors, const OutsideOptions& options,
    std::vector<std::string>& notes) {
  const bool real = std::any_of(tensors.begin(), tensors.end(),
                                [](const auto& entry) { return entry.second.is_floating_point(); });
  std::map<std::string, at::Tensor> kept;
  for (const auto& [name, tensor] : tensors) {
    require(tensor.defined() && !tensor.is_complex(), ErrorKind::Unsupported, "tensor '", name,
            "' has no real numbers; weights of attention do");
    const bool asked =
        std::find(options.tensors.begin(), options.tensors.end(), name) != options.tensors.end();
    if (!real || asked || tensor.is_floating_point())
      kept.emplace(name, tensor);
    else
      notes.push_back(concat("'", name, "' ", shape_of(tensor),
                             " is left out: whole numbers beside weights; name it to see it"));
  }
  return kept;
}

}  // namespace

std::vector<AttentionStack> stack_tensors(const std::map<std::string, at::Tensor>& tensors,
                                          const OutsideOptions& options,
                                          std::vector<std::string>& notes) {
  require(options.batch >= 0, ErrorKind::InvalidArgument, "batch: found ", options.batch,
          ", rows count from 0");
  const std::string wanted = checked_dimensions(options);
  std::vector<AttentionStack> stacks;
  BatchNotes batches;
  bool batch = false, fits = wanted.empty();
  for (const auto& [name, tensor] : without_whole_numbers(tensors, options, notes)) {
    const std::string letters = letters_of(name, tensor, wanted);
    stacks.push_back(stack_of(name, tensor, letters, options));
    fits = fits || letters == wanted;
    const size_t at = letters.find('B');
    if (at == std::string::npos) continue;
    batch = true;
    const int64_t size = tensor.size(static_cast<int64_t>(at));
    if (size > 1) batches.add(stacks.back(), letters, size);
  }
  require(fits || stacks.empty(), ErrorKind::InvalidArgument, "dimensions: '", options.dimensions,
          "' has ", wanted.size(), " letters, and no tensor has as many dimensions; '",
          stacks.empty() ? "" : stacks[0].name, "' has shape ",
          stacks.empty() ? "" : stacks[0].shape);
  require(batch || options.batch == 0, ErrorKind::InvalidArgument, "batch: row ", options.batch,
          " is asked for, but no tensor has a batch");
  batches.write(options.batch, notes);
  return stacks;
}

}  // namespace fovea

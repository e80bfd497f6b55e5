#include "fovea/data/packed_text.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/code_points.h"

namespace fovea {

namespace {

using at::Tensor;

/// `fill(row, tokens, segments)` writes a row of `length(row)` numbers.
template <class Length, class Fill>
Batch pad(int64_t rows, int64_t padding, const Length& length, const Fill& fill) {
  int64_t longest = 1;
  for (int64_t row = 0; row < rows; ++row) longest = std::max(longest, length(row));
  const Tensor tokens = at::full({rows, longest}, padding, at::kLong);
  const Tensor segments = at::zeros({rows, longest}, at::kLong);
  const Tensor keep = at::zeros({rows, longest}, at::kBool);
  for (int64_t row = 0; row < rows; ++row) {
    fill(row, tokens.data_ptr<int64_t>() + row * longest,
         segments.data_ptr<int64_t>() + row * longest);
    std::fill_n(keep.data_ptr<bool>() + row * longest, length(row), true);
  }
  return {{{"tokens", tokens}, {"segments", segments}, {"tokens.keep", keep}}, rows};
}

}  // namespace

Example token_example(const WordPiece& tokeniser, const PackedInput& input,
                      const std::string& first, const std::string& second) {
  Example example;
  example.tensors["tokens"] = at::tensor(input.ids, at::kLong);         // [N]
  example.tensors["segments"] = at::tensor(input.segments, at::kLong);  // [N]
  Axis axis{"tokens", "token", {}};
  const bool is_pair = input.segments.back() == 1;
  axis.text = is_pair ? first + "\n" + second : first;
  const int64_t begin_of_second = count_code_points(first) + 1;
  for (size_t i = 0; i < input.ids.size(); ++i) {
    axis.labels.push_back(tokeniser.piece(input.ids[i]));
    Span span = input.spans[i];
    if (span.begin >= 0 && input.segments[i] == 1)
      span = {span.begin + begin_of_second, span.end + begin_of_second};
    if (span.begin < 0) axis.special.push_back(int64_t(i));
    axis.spans.push_back(span);
  }
  example.axes.push_back(std::move(axis));
  return example;
}

Batch collate_tokens(std::span<const Example> examples, int64_t padding) {
  const auto tensor = [&](int64_t row, const char* name) {
    return examples[size_t(row)].tensors.at(name).contiguous();
  };
  return pad(
      int64_t(examples.size()), padding, [&](int64_t row) { return tensor(row, "tokens").size(0); },
      [&](int64_t row, int64_t* tokens, int64_t* segments) {
        const Tensor own = tensor(row, "tokens"), parts = tensor(row, "segments");
        std::copy_n(own.data_ptr<int64_t>(), own.size(0), tokens);
        std::copy_n(parts.data_ptr<int64_t>(), parts.size(0), segments);
      });
}

Batch collate_tokens(std::span<const PackedInput> inputs, int64_t padding) {
  return pad(
      int64_t(inputs.size()), padding, [&](int64_t row) { return inputs[size_t(row)].size(); },
      [&](int64_t row, int64_t* tokens, int64_t* segments) {
        const PackedInput& input = inputs[size_t(row)];
        std::copy(input.ids.begin(), input.ids.end(), tokens);
        std::copy(input.segments.begin(), input.segments.end(), segments);
      });
}

Example erase_tokens(const Example& example, const WordPiece& tokeniser,
                     std::span<const int64_t> units) {
  Example erased = example;
  Tensor& tokens = erased.tensors.at("tokens");
  tokens = tokens.clone();
  int64_t* ids = tokens.data_ptr<int64_t>();
  const WordPiece::Special& special = tokeniser.special();
  for (const int64_t unit : units) {
    require(unit >= 0 && unit < tokens.numel(), ErrorKind::InvalidArgument, "token ", unit,
            " cannot be erased: there are ", tokens.numel());
    if (ids[unit] != special.begin && ids[unit] != special.separator) ids[unit] = special.mask;
  }
  return erased;
}

}  // namespace fovea

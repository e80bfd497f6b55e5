#include "fovea/data/packed_text.h"

#include <ATen/ATen.h>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/padding.h"

namespace fovea {

using at::Tensor;

Example token_example(const PieceTokeniser& tokeniser, const PackedInput& input,
                      const std::string& first, const std::string& second) {
  Example example;
  example.tensors["tokens"] = at::tensor(input.ids, at::kLong);         // [N]
  example.tensors["segments"] = at::tensor(input.segments, at::kLong);  // [N]
  Axis axis{"tokens", "token", {}};
  axis.text = input.pair ? first + "\n" + second : first;
  const int64_t begin_of_second = count_code_points(first) + 1;
  for (size_t i = 0; i < input.ids.size(); ++i) {
    axis.labels.push_back(tokeniser.piece(input.ids[i]));
    Span span = input.spans[i];
    if (input.texts[i] == 1) span = {span.begin + begin_of_second, span.end + begin_of_second};
    if (input.texts[i] < 0) axis.special.push_back(int64_t(i));
    axis.spans.push_back(span);
  }
  example.axes.push_back(std::move(axis));
  return example;
}

Batch collate_tokens(std::span<const Example> examples, int64_t padding) {
  return {{{"tokens", pad_tensors(examples, "tokens", padding)},
           {"segments", pad_tensors(examples, "segments")},
           {"tokens.keep", keep_tensors(examples, "tokens")}},
          int64_t(examples.size())};
}

Batch collate_tokens(std::span<const PackedInput> inputs, int64_t padding) {
  const auto ids = [&](int64_t row) -> const auto& {
    return inputs[size_t(row)].ids;
  };
  const auto segments = [&](int64_t row) -> const auto& {
    return inputs[size_t(row)].segments;
  };
  const auto rows = int64_t(inputs.size());
  return {{{"tokens", pad_rows(rows, ids, padding)},
           {"segments", pad_rows<int64_t>(rows, segments)},
           {"tokens.keep", keep_rows(rows, ids)}},
          rows};
}

Example erase_tokens(const Example& example, const PieceTokeniser& tokeniser,
                     std::span<const int64_t> units) {
  Example erased = example;
  Tensor& tokens = erased.tensors.at("tokens");
  tokens = tokens.clone();
  int64_t* ids = tokens.data_ptr<int64_t>();
  const PieceTokeniser::Special& special = tokeniser.special();
  for (const int64_t unit : units) {
    require(unit >= 0 && unit < tokens.numel(), ErrorKind::InvalidArgument, "token ", unit,
            " cannot be erased: there are ", tokens.numel());
    if (ids[unit] != special.begin && ids[unit] != special.separator)
      ids[unit] = tokeniser.erased();
  }
  return erased;
}

}  // namespace fovea

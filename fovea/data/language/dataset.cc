#include "fovea/data/language/dataset.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/language/text_stream.h"
#include "fovea/data/padding.h"

namespace fovea {

namespace {

at::Tensor to_ids(std::span<const int64_t> tokens) {
  return at::tensor(at::ArrayRef<int64_t>(tokens.data(), tokens.size()), at::kLong);
}

}  // namespace

Example prompt_example(const HuggingFaceTokeniser& tokeniser, const std::string& text) {
  const Encoding encoding = tokeniser.encode(text);
  require(encoding.size() > 0, ErrorKind::BadData,
          "the prompt is empty: it needs one token at least");
  Example example;
  example.tensors["tokens"] = to_ids(encoding.ids);
  Axis axis{"tokens", "token", {}};
  axis.text = text;
  for (size_t i = 0; i < encoding.size(); ++i) {
    axis.labels.push_back(token_label(tokeniser, encoding.ids[i]));
    const Offsets& place = encoding.offsets[i];
    axis.spans.push_back(encoding.special[i] ? Span{} : Span{place.begin, place.end});
    if (encoding.special[i]) axis.special.push_back(int64_t(i));
  }
  example.axes.push_back(std::move(axis));
  return example;
}

Example prompt_example(const HuggingFaceTokeniser& tokeniser, std::span<const int64_t> tokens) {
  Example example;
  example.tensors["tokens"] = to_ids(tokens);
  Axis axis{"tokens", "token", {}};
  for (const int64_t token : tokens) {
    if (tokeniser.is_special(token)) axis.special.push_back(int64_t(axis.labels.size()));
    axis.labels.push_back(token_label(tokeniser, token));
  }
  example.axes.push_back(std::move(axis));
  return example;
}

Batch collate_prompts(std::span<const Example> examples) {
  Batch batch{{{"tokens", pad_tensors(examples, "tokens")},
               {"tokens.keep", keep_tensors(examples, "tokens")}},
              int64_t(examples.size())};
  int64_t longest = 0;
  const auto erased_of = [](const Example& example) {
    const auto found = example.tensors.find("erased");
    return found == example.tensors.end() ? at::Tensor() : found->second;
  };
  for (const Example& example : examples)
    if (const at::Tensor erased = erased_of(example); erased.defined())
      longest = std::max(longest, erased.size(0));
  if (longest == 0) return batch;
  at::Tensor all = at::zeros({batch.size, longest}, at::kBool);
  for (int64_t row = 0; row < batch.size; ++row)
    if (const at::Tensor erased = erased_of(examples[size_t(row)]); erased.defined())
      all[row].narrow(0, 0, erased.size(0)).copy_(erased);
  batch.tensors["erased"] = all;
  return batch;
}

Example erase_places(const Example& example, std::span<const int64_t> units) {
  Example erased = example;
  int64_t last = -1;
  for (const int64_t unit : units) {
    require(unit >= 0, ErrorKind::InvalidArgument, "unit ", unit, " cannot be erased");
    last = std::max(last, unit);
  }
  if (last < 0) return erased;
  at::Tensor places = at::zeros({last + 1}, at::kBool);
  for (const int64_t unit : units) places.data_ptr<bool>()[unit] = true;
  erased.tensors["erased"] = places;
  return erased;
}

TextDataset::TextDataset(EncodedText text, std::shared_ptr<const HuggingFaceTokeniser> tokeniser,
                         int64_t window)
    : text_(std::move(text)), tokeniser_(std::move(tokeniser)), window_(window) {
  require(tokens() > 1 && window_ > 0, ErrorKind::Internal, "windows of ", window_, " over ",
          tokens(), " tokens");
}

int64_t TextDataset::size() const {
  return (tokens() - 1 + window_ - 1) / window_;
}

int64_t TextDataset::length(int64_t row) const {
  return std::min(window_ + 1, tokens() - row * window_);
}

std::vector<int64_t> TextDataset::prompt(int64_t row) const {
  std::vector<int64_t> ids(size_t(prompt_length(row)));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = (*text_.tokens)[row * window_ + int64_t(i)];
  return ids;
}

Example TextDataset::example(int64_t row) const {
  return prompt_example(*tokeniser_, prompt(row));
}

Json TextDataset::input(int64_t row) const {
  return tokeniser_->decode(prompt(row));
}

Batch TextDataset::windows(std::span<const int64_t> begins) const {
  const auto rows = int64_t(begins.size());
  int64_t longest = 0;
  const auto length_at = [&](int64_t begin) { return std::min(window_ + 1, tokens() - begin); };
  for (const int64_t begin : begins) longest = std::max(longest, length_at(begin));
  at::Tensor ids = at::zeros({rows, longest}, at::kLong);
  std::vector<int64_t> lengths;
  std::vector<double> predicted;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = begins[size_t(row)], length = length_at(begin);
    int64_t* place = ids.data_ptr<int64_t>() + row * longest;
    for (int64_t i = 0; i < length; ++i) place[i] = (*text_.tokens)[begin + i];
    lengths.push_back(length);
    predicted.push_back(double(length - 1));
  }
  const at::Tensor counts = at::tensor(predicted, at::kDouble);
  const auto share = [&](double of_text) { return counts * (of_text / double(tokens())); };
  return {{{"tokens", ids},
           {"tokens.keep", keep_mask(lengths)},
           {"bytes", share(text_.bytes)},
           {"characters", share(text_.characters)}},
          rows};
}

Batch TextDataset::batch(std::span<const int64_t> rows) const {
  std::vector<int64_t> begins;
  for (const int64_t row : rows) begins.push_back(row * window_);
  return windows(begins);
}

Batch TextDataset::augmented_batch(std::span<const int64_t> rows, const Random& random) const {
  const int64_t last = std::max<int64_t>(0, tokens() - window_ - 1);
  std::vector<int64_t> begins;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto later = int64_t(random.uniform(i) * double(window_));
    begins.push_back(std::min(last, rows[i] * window_ + later));
  }
  return windows(begins);
}

}  // namespace fovea

#include "fovea/data/documents/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>

#include "fovea/data/encode_rows.h"

namespace fovea {

namespace {

bool overlap(const Span& one, const Span& other) {
  return one.begin < other.end && other.begin < one.end;
}

/// bool [T, T]: which tokens of its window each [CLS] should look at.
at::Tensor truth_of(const PackedInput& input, const std::vector<Span>& decisive,
                    int64_t begin_token) {
  const int64_t tokens = input.size();
  const at::Tensor truth = at::zeros({tokens, tokens}, at::kBool);
  int64_t begin = 0;  // of the window
  for (int64_t i = 0; i < tokens; ++i) {
    const auto at = static_cast<size_t>(i);
    if (input.texts[at] < 0 && input.ids[at] == begin_token) begin = i;
    if (input.texts[at] != 0) continue;
    truth.data_ptr<bool>()[begin * tokens + i] =
        std::any_of(decisive.begin(), decisive.end(),
                    [&](const Span& span) { return overlap(span, input.spans[at]); });
  }
  return truth;
}

}  // namespace

DocumentEncoder::Encoded DocumentEncoder::encode(const LabelledDocument& document) const {
  const Pieces first = tokeniser->encode(document.text);
  const Pieces second = pairs ? tokeniser->encode(document.second) : Pieces();
  PackedInputs packed = pack_texts(*tokeniser, first, pairs ? &second : nullptr, packing);
  return {join_windows(std::move(packed.inputs)), packed.cut[0] + packed.cut[1]};
}

Example DocumentEncoder::example(const LabelledDocument& document) const {
  const Encoded encoded = encode(document);
  const PackedInput& input = encoded.input;
  Example example = token_example(*tokeniser, input, document.text, document.second);
  const Axis& tokens = example.axes.front();
  example.add_cut("tokens", int64_t(tokens.labels.size() - tokens.special.size()), encoded.cut);
  if (!document.decisive.empty())
    example.truth["attention"] = truth_of(input, document.decisive, tokeniser->special().begin);
  return example;
}

void LabelledDataset::add(LabelledDocument&& document) {
  has_truth_ = has_truth_ || !document.decisive.empty();
  documents_.push_back(std::move(document));
}

at::Tensor LabelledDataset::targets(std::span<const int64_t> rows) const {
  if (!documents_.empty() && !documents_[0].targets.empty()) {
    std::vector<float> all;
    for (const int64_t row : rows)
      all.insert(all.end(), document(row).targets.begin(), document(row).targets.end());
    const auto labels = int64_t(documents_[0].targets.size());
    const at::Tensor numbers = at::tensor(all, at::kFloat);  // [R C]
    return labels == 1 ? numbers : numbers.view({-1, labels});
  }
  std::vector<int64_t> labels;
  for (const int64_t row : rows) labels.push_back(document(row).label);
  return at::tensor(labels, at::kLong);
}

DocumentDataset::DocumentDataset(Rows<LabelledDocument> documents, DocumentEncoder encoder,
                                 const std::string& where)
    : encoder_(std::move(encoder)) {
  const auto encode = [&](const LabelledDocument& document) { return encoder_.encode(document); };
  const auto take = [&](LabelledDocument&& document, DocumentEncoder::Encoded&& encoded) {
    const auto& [ids, segments] = std::tie(encoded.input.ids, encoded.input.segments);
    rows_.push_back({{ids.begin(), ids.end()}, {segments.begin(), segments.end()}});
    cut_documents_ += encoded.cut > 0;
    cut_pieces_ += encoded.cut;
    windowed_documents_ += int64_t(ids.size()) > encoder_.packing.longest;
    add(std::move(document));
  };
  encode_rows(std::move(documents), where, "text", encode, take);
}

Json DocumentDataset::input(int64_t row) const {
  if (!encoder_.pairs) return LabelledDataset::input(row);
  return {{"text", document(row).text}, {"second", document(row).second}};
}

Batch DocumentDataset::batch(std::span<const int64_t> rows) const {
  std::vector<PackedInput> inputs(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = row_of(rows[i]);
    inputs[i].ids.assign(row.ids.begin(), row.ids.end());
    inputs[i].segments.assign(row.segments.begin(), row.segments.end());
  }
  Batch batch = collate_tokens(inputs, encoder_.tokeniser->special().padding);
  batch.tensors["target"] = targets(rows);  // [B]
  return batch;
}

}  // namespace fovea

#include "fovea/data/documents/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

constexpr int64_t kTogether = 256;  // documents that one job cuts

template <class Value>
void append(std::vector<Value>& to, const std::vector<Value>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool overlap(const Span& one, const Span& other) {
  return one.begin < other.end && other.begin < one.end;
}

/// bool [T, T]: which tokens of its window each [CLS] should look at.
at::Tensor truth_of(const Frame& frame, const std::vector<Span>& decisive, int64_t begin_token) {
  const int64_t tokens = frame.size();
  const at::Tensor truth = at::zeros({tokens, tokens}, at::kBool);
  int64_t begin = 0;  // of the window
  for (int64_t i = 0; i < tokens; ++i) {
    const auto at = static_cast<size_t>(i);
    const bool is_special = frame.words[at] < 0;
    if (is_special && frame.ids[at] == begin_token) begin = i;
    if (is_special || frame.segments[at] != 0) continue;
    truth.data_ptr<bool>()[begin * tokens + i] =
        std::any_of(decisive.begin(), decisive.end(),
                    [&](const Span& span) { return overlap(span, frame.spans[at]); });
  }
  return truth;
}

}  // namespace

Frame join_frames(std::vector<Frame> frames) {
  Frame all = std::move(frames.at(0));
  for (size_t i = 1; i < frames.size(); ++i) {
    append(all.ids, frames[i].ids);
    append(all.segments, frames[i].segments);
    append(all.spans, frames[i].spans);
    append(all.words, frames[i].words);
  }
  return all;
}

DocumentEncoder::Encoded DocumentEncoder::encode(const LabelledDocument& document) const {
  const Pieces first = tokeniser->encode(document.text);
  Frames framed;
  if (pairs) {
    const Pieces second = tokeniser->encode(document.second);
    framed = frame_texts(*tokeniser, first, &second, frames);
  } else {
    framed = frame_texts(*tokeniser, first, nullptr, frames);
  }
  return {join_frames(std::move(framed.frames)), framed.cut[0] + framed.cut[1]};
}

Example DocumentEncoder::example(const LabelledDocument& document) const {
  const Encoded encoded = encode(document);
  const Frame& frame = encoded.frame;
  Example example = token_example(*tokeniser, frame, document.text, document.second);
  example.cut = encoded.cut;
  if (!document.decisive.empty())
    example.truth["attention"] = truth_of(frame, document.decisive, tokeniser->special().begin);
  return example;
}

LabelledDataset::LabelledDataset(std::vector<LabelledDocument> documents)
    : documents_(std::move(documents)) {
  for (const LabelledDocument& document : documents_)
    has_truth_ = has_truth_ || !document.decisive.empty();
}

at::Tensor LabelledDataset::labels_of(std::span<const int64_t> rows) const {
  std::vector<int64_t> labels;
  for (const int64_t row : rows) labels.push_back(document(row).label);
  return at::tensor(labels, at::kLong);
}

DocumentDataset::DocumentDataset(std::vector<LabelledDocument> documents, DocumentEncoder encoder,
                                 const std::string& where)
    : LabelledDataset(std::move(documents)), encoder_(std::move(encoder)), rows_(size_t(size())) {
  std::vector<int64_t> cut(rows_.size());
  const auto encode_row = [&](size_t row) {
    try {
      const DocumentEncoder::Encoded encoded = encoder_.encode(document(int64_t(row)));
      rows_[row].ids.assign(encoded.frame.ids.begin(), encoded.frame.ids.end());
      rows_[row].segments.assign(encoded.frame.segments.begin(), encoded.frame.segments.end());
      cut[row] = encoded.cut;
    } catch (const Error& error) {
      fail(error.kind(), where, ", text ", row + 1, ": ", error.what());
    }
  };
  run_parallel((size() + kTogether - 1) / kTogether, [&](int64_t job) {
    const auto end = std::min(size(), (job + 1) * kTogether);
    for (int64_t row = job * kTogether; row < end; ++row) encode_row(size_t(row));
  });
  for (size_t row = 0; row < rows_.size(); ++row) {
    cut_documents_ += cut[row] > 0;
    cut_pieces_ += cut[row];
    windowed_documents_ += int64_t(rows_[row].ids.size()) > encoder_.frames.longest;
  }
}

Batch DocumentDataset::batch(std::span<const int64_t> rows) const {
  std::vector<Frame> frames(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = row_of(rows[i]);
    frames[i].ids.assign(row.ids.begin(), row.ids.end());
    frames[i].segments.assign(row.segments.begin(), row.segments.end());
  }
  Batch batch = collate_tokens(frames, encoder_.tokeniser->special().padding);
  batch.tensors["target"] = labels_of(rows);  // [B]
  return batch;
}

}  // namespace fovea

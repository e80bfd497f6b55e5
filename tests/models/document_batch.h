// Small batches of documents as sentences of words, for hierarchical models.
#pragma once

#include <numeric>
#include <vector>

#include "fovea/tensor/example.h"
#include "fovea/tensor/torch.h"
#include "tests/models/nested_rows.h"

namespace fovea::testing {

using Sentences = NestedRow;  // the words of each

constexpr int64_t kWordsKnown = 12, kDocumentClasses = 3;

/// Side by side, with `extra` columns of padding behind words and sentences.
inline Batch documents_batch(const std::vector<Sentences>& documents, int64_t extra = 0) {
  const NestedSizes most = largest_row(documents);
  const auto rows = int64_t(documents.size());
  const at::Tensor words = torch::zeros({rows, most.numbers + extra}, torch::kLong);
  const at::Tensor sentences = torch::zeros({rows, most.lists + extra}, torch::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place = 0, number = 0;
    for (const auto& sentence : documents[size_t(row)]) {
      sentences[row][number++] = int64_t(sentence.size());
      for (const int64_t word : sentence) words[row][place++] = word;
    }
  }
  return {{{"words", words},
           {"words.keep", words != 0},
           {"sentences", sentences},
           {"sentences.keep", sentences != 0}},
          rows};
}

/// Documents of 1 to 4 sentences of 1 to 9 words; the class is that of the last one's first word.
inline std::vector<Sentences> some_documents(int64_t rows) {
  return draw_nested(
      rows, Random(9), 4, [](const Random& random, size_t) { return 1 + random.below(0, 9); },
      [](const Random& random, uint64_t counter) {
        return 1 + int64_t(random.below(counter, uint64_t(kWordsKnown - 1)));
      });
}

inline Batch nested_batch(int64_t rows, int64_t extra = 0) {
  const std::vector<Sentences> documents = some_documents(rows);
  Batch batch = documents_batch(documents, extra);
  std::vector<int64_t> target;
  for (const Sentences& document : documents)
    target.push_back(document.back().front() % kDocumentClasses);
  batch.tensors["target"] = torch::tensor(target);
  return batch;
}

/// bool [B, S, W]: words of a sentence.
inline at::Tensor words_of_sentences(const Batch& batch) {
  const at::Tensor& lengths = batch.at("sentences");  // [B, S]
  const at::Tensor end = lengths.cumsum(1).unsqueeze(-1), begin = end - lengths.unsqueeze(-1);
  const at::Tensor place = torch::arange(batch.at("words").size(1)).view({1, 1, -1});
  return (place >= begin) & (place < end);
}

}  // namespace fovea::testing

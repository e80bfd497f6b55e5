// Where the sentences of a batch of documents lie. Documents come as their words one after the
// other [B, W] and the number of words of each sentence [B, S]; a recurrent network wants sentences
// side by side. They are put together by length, so that little of what is computed is padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "fovea/tensor/attention_map.h"

namespace fovea {

/// Sentences of similar length: the longest is less than twice the shortest.
struct SentenceGroup {
  at::Tensor words;      // int64 [N, T]: each word's place in the batch [B W]; 0 at padding
  at::Tensor keep;       // bool [N, T]
  at::Tensor lengths;    // int64 [N], on the CPU, falling
  at::Tensor sentences;  // int64 [N]: each sentence's place in the batch [B S]
};

struct SentenceLayout {
  int64_t documents = 0, sentences = 0, words = 0;  // B, S, W
  std::vector<SentenceGroup> groups;                // together all sentences that have words
  at::Tensor lengths;                               // int64 [B]: sentences of each, on the CPU

  bool is_empty() const { return groups.empty(); }
  /// Every document has S sentences.
  bool is_full() const;
};

/// `sentences` int64 [B, S]: words of each, 0 behind a document's last one. InvalidArgument where
/// they are more than the W words of a document, or negative, or none stands between two others.
SentenceLayout layout_of(const at::Tensor& sentences, int64_t words);

/// The weights of the words of sentences that lie in groups, as the map [B, 1, S, W] that they are:
/// 0 for words of other sentences.
class WordWeights : public WeightSource {
 public:
  explicit WordWeights(const SentenceLayout& layout)
      : documents_(layout.documents), sentences_(layout.sentences), words_(layout.words) {}

  /// weights [N, T] of the next group.
  void add(const SentenceGroup& group, const at::Tensor& weights);
  /// All of them, with gradient: [B, 1, S, W].
  at::Tensor dense() const;

  std::array<int64_t, 4> sizes() const override { return {documents_, 1, sentences_, words_}; }
  at::Tensor rows(int64_t example, int64_t head, int64_t first, int64_t count) const override;

 private:
  int64_t documents_, sentences_, words_;
  std::vector<at::Tensor> places_;   // int64 [M]: in the map as a row of numbers
  std::vector<at::Tensor> weights_;  // [M]
};

/// The groups' sentences [N, D] where they belong: [B, S, D], 0 elsewhere.
at::Tensor sentences_in_place(const SentenceLayout& layout, const std::vector<at::Tensor>& vectors);
/// The groups' words [N, T, D] where they belong: [B, 1, W, D], 0 elsewhere.
at::Tensor words_in_place(const SentenceLayout& layout, const std::vector<at::Tensor>& states);

}  // namespace fovea

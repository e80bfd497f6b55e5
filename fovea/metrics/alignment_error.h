// Alignment error rate: do the words that attention joins belong together? For the links A that
// were found, the sure ones S and the possible ones P, which contain S (Och and Ney 2003):
//   precision = |A n P| / |A|,  recall = |A n S| / |S|,  AER = 1 - (|A n S| + |A n P|) / (|A| +
//   |S|)
// Links are counted over a whole corpus, then divided.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace fovea {

struct AlignmentCounts {
  int64_t found = 0, sure = 0, found_sure = 0, found_possible = 0;

  AlignmentCounts& operator+=(const AlignmentCounts& more);
  std::optional<double> precision() const;   // not defined where nothing was found
  std::optional<double> recall() const;      // not defined where nothing is sure
  std::optional<double> error_rate() const;  // not defined where there is neither
};

/// One sentence: bool [T, S] each. A sure link is possible whether `possible` says so or not.
AlignmentCounts count_links(const at::Tensor& found, const at::Tensor& sure,
                            const at::Tensor& possible);

/// One link for each target word that looked anywhere, to the source word with most weight (Luong
/// et al. 2015): bool [targets, sources]. Words are joined from tokens: weights [T, S] over the
/// tokens; target_words [T] and source_words [S] int64 say the word of each token, -1: none.
at::Tensor strongest_links(const at::Tensor& weights, const at::Tensor& target_words,
                           const at::Tensor& source_words, at::IntArrayRef words);

}  // namespace fovea

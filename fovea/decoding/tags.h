// The best tags of a sentence, of those that may stand beside each other. Entities are written in
// IOB2 (Ramshaw and Marcus 1995): B-x begins an entity of type x, I-x goes on with it, O is
// outside. An I-x may therefore stand only behind B-x or I-x. Each word has its own probabilities;
// the search (Viterbi) finds the sequence with the largest product among the allowed ones. Nothing
// about neighbours is learned.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/tensor/example.h"

namespace fovea {

/// Which of K tags may begin a sentence, and which may follow which.
struct TagRules {
  std::vector<bool> may_begin;                // [K]
  std::vector<std::vector<bool>> may_follow;  // [K][K]: [before][after]

  int64_t tags() const { return static_cast<int64_t>(may_begin.size()); }
};

/// By the names of the tags. InvalidArgument unless some tag may begin a sentence.
TagRules iob_rules(const std::vector<std::string>& tags);

/// For tags that are no entities: any may stand beside any.
TagRules free_rules(int64_t tags);

/// log_probabilities [W, K], on the CPU -> W tags and the sum of their log-probabilities. NaN
/// counts as impossible; where nothing is possible, the first allowed tag is taken.
Decoded best_tags(const at::Tensor& log_probabilities, const TagRules& rules);

}  // namespace fovea

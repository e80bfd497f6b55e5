// The best tags of a sentence, of those that may stand beside each other. Entities are written in
// IOB2 (Ramshaw and Marcus 1995): B-x begins an entity of type x, I-x goes on with it, O is
// outside. An I-x may therefore stand only behind B-x or I-x. Each word has its own scores, and
// neighbours may have scores too (nn/ops/linear_chain.h); the search (Viterbi) finds the sequence
// with the largest sum among the allowed ones.
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

/// What is learned about neighbours, on the CPU; undefined: nothing.
struct TagChain {
  at::Tensor begin = at::Tensor();       // [K]
  at::Tensor transition = at::Tensor();  // [K, K]: [before, after]
};

/// scores [W, K], on the CPU -> W tags and the sum of their scores. NaN counts as impossible; where
/// nothing is possible, the first allowed tag is taken.
Decoded best_tags(const at::Tensor& scores, const TagRules& rules, const TagChain& chain = {});

}  // namespace fovea

// Small float64 inputs and the whole table score x normaliser x alignment, for the tests of this
// folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/attention/attend.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

inline at::Tensor numbers(at::IntArrayRef shape, const std::string& name, double scale = 1) {
  return Random(7).split(name).normal_tensor(shape, 0, scale, at::TensorOptions(at::kDouble));
}

/// One combination of the table with inputs: B = 2, H = 2, Q = 3, K = 6; the second example has 4
/// keys.
struct Case {
  std::string score_name, normaliser_name, alignment_name;
  std::shared_ptr<ScoreFunction> score;
  std::shared_ptr<Alignment> alignment;
  at::Tensor query, keys, values, previous;
  KeepMask mask = KeepMask::from_lengths(at::tensor({6, 4}, at::kLong), 6);

  std::string name() const { return score_name + " / " + normaliser_name + " / " + alignment_name; }
  bool samples() const { return normaliser_name == "hard" || normaliser_name == "gumbel"; }

  AttendInput input() const {
    AttendInput in;
    in.query = query;
    in.memory = remember(*score, keys, values, mask);
    in.score = score.get();
    in.normaliser.name = normaliser_name;
    in.normaliser.top_k = 2;
    in.alignment = alignment.get();
    in.previous_weights = previous;
    in.random = Random(11);
    in.map = {"map", "target", "source"};
    return in;
  }

  std::vector<at::Tensor> parameters() const {
    auto all = score->parameters();
    for (const auto& parameter : alignment->parameters()) all.push_back(parameter);
    return all;
  }
};

inline Case make_case(const std::string& score, const std::string& normaliser,
                      const std::string& alignment) {
  Case c{score, normaliser, alignment, {}, {}, {}, {}, {}, {}};
  const bool equal = find_score(score).traits.needs_equal_sizes;
  ScoreOptions options;
  options.name = score;
  options.query_size = equal ? 4 : 3;
  options.key_size = 4;
  options.hidden_size = 5;
  options.maximum_length = 8;
  options.filters = 2;
  options.kernel_width = 3;
  c.score = make_score(options, Random(3));
  c.score->to(at::kDouble);
  AlignmentOptions where;
  where.name = alignment;
  where.half_width = 2;
  where.query_size = options.query_size;
  where.hidden_size = 5;
  c.alignment = make_alignment(where, Random(4));
  c.alignment->to(at::kDouble);
  c.query = numbers({2, 2, 3, options.query_size}, "query");
  c.keys = numbers({2, 2, 6, 4}, "keys");
  c.values = numbers({2, 2, 6, 3}, "values");
  c.previous = masked_softmax(numbers({2, 2, 3, 6}, "previous"), c.mask);
  return c;
}

inline std::vector<Case> whole_table() {
  std::vector<Case> cases;
  for (const auto& score : score_names())
    for (const auto& normaliser : normaliser_names())
      for (const auto& alignment : alignment_names())
        cases.push_back(make_case(score, normaliser, alignment));
  return cases;
}

inline double largest(const at::Tensor& x) {
  return x.numel() ? x.detach().abs().max().item<double>() : 0;
}
inline double distance(const at::Tensor& a, const at::Tensor& b) {
  return largest(a - b);
}

}  // namespace fovea::testing

// From one-step scores to whole outputs. A model hands over a step callback; search never sees the
// model, so every decoder of the zoo shares it.
//   greedy  the likeliest symbol at every step
//   beam    the `beam` best beginnings are kept; a finished output scores
//             log p / ((5 + length) / 6)^length_penalty
//               + coverage_penalty * sum_j log min(sum_t a_tj, 1)           (Wu et al. 2016)
//           where a source position that was never looked at counts as 1e-9 and not as 0
//   sample  drawn from the softmax at `temperature`, cut to the top_k likeliest symbols and to the
//           fewest symbols that hold top_p of the probability (Holtzman et al. 2020)
// With a repetition penalty p the score s of each symbol that is there already becomes s / p where
// it is above 0 and s p where it is below, before all else (Keskar et al. 2019).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct SearchOptions {
  std::string method = "greedy";
  int64_t beam = 5;
  double length_penalty = 0.6;  // 0: plain log-probability
  double coverage_penalty = 0;
  int64_t n_best = 1;             // outputs per input, best first (beam); draws (sample)
  double temperature = 1;         // sample
  int64_t top_k = 0;              // sample; 0: all symbols
  double top_p = 1;               // sample; 1: all symbols
  int64_t seed = 0;               // sample
  double repetition_penalty = 1;  // 1: none
  int64_t maximum_length = 0;     // symbols, the end included; 0: twice the source's length plus 20
  std::string precision = "float32";  // of the network's products
  void describe(OptionList& list);
};

struct StepInput {
  at::Tensor tokens;     // int64 [R]: the newest symbol of each row (the begin symbol at first)
  at::Tensor origin;     // int64 [R]: which row of the step before each row continues; undefined
                         // while rows continue themselves. Before the first step the rows are the
                         // inputs 0 ... B-1
  int64_t position = 0;  // 0 at the first step
  int64_t best = 0;      // so many of the likeliest symbols are enough; 0: all are needed
  std::vector<int64_t> forbidden;  // not to be among them
};

struct StepOutput {
  at::Tensor log_probabilities;  // [R, V]
  at::Tensor weights;            // [R, K]: attention of this step, for the coverage penalty; may be
                                 // undefined
  at::Tensor symbols = {};       // int64 [R, n]: log_probabilities [R, n] are of these alone, the
                                 // StepInput::best likeliest, best first, of equals the smaller
                                 // symbol; undefined: of all
  at::Tensor scores = {};        // [R, V]: before the softmax, for the repetition penalty;
                                 // undefined: log_probabilities serve
};

/// Called once per output position with all live rows.
using StepFunction = std::function<StepOutput(const StepInput&)>;

struct SearchProblem {
  int64_t inputs = 0;                   // B
  int64_t begin = 2, end = 3;           // symbols; end -1: there is none
  std::vector<int64_t> forbidden;       // symbols that are never put out (padding, begin)
  std::vector<int64_t> maximum_length;  // per input [B], the end symbol included; empty: the option
                                        // alone decides. Where both are given, both hold
  at::Tensor keep;               // bool [B, K]: the source positions that are no padding, for
                                 // the coverage penalty; undefined: all
  std::vector<int64_t> numbers;  // per input [B]: what its random numbers are made from, so
                                 // that batches do not matter to sample; empty: 0 ... B-1
  at::Device device = at::kCPU;
  /// Per input [B]: symbols that are there before the first step, for the repetition penalty;
  /// empty: none.
  std::vector<std::vector<int64_t>> prompts = {};
  /// Whether an output ends with these symbols; may be empty.
  std::function<bool(int64_t input, std::span<const int64_t> symbols)> ends = {};
  /// Told each symbol as it is chosen, of greedy and sample; may be empty.
  std::function<void(int64_t input, int64_t symbol, double log_probability)> chosen = {};
};

struct Hypothesis {
  std::vector<int64_t> tokens;  // without begin; with end when it was reached
  double log_probability = 0;   // sum over the tokens
  double score = 0;             // what the search ranked by
};

/// Hypotheses per input [B][n]: one for greedy; n_best of them, best first, for beam, or fewer when
/// it found fewer; n_best draws, in the order drawn, for sample. At the maximum length a hypothesis
/// ends without the end symbol. Of equal symbols the smaller one wins. Runs without gradients.
/// InvalidArgument for options that cannot work; BadData for log-probabilities that are NaN, above
/// 0, or -inf for every symbol.
std::vector<std::vector<Hypothesis>> search(const SearchOptions& options,
                                            const SearchProblem& problem, const StepFunction& step);

}  // namespace fovea

// Score functions: how well key h_j fits query s_i, one number e_ij per pair; a normaliser turns
// rows of them into weights. The table (score_table()) lists each with its formula, paper and
// parameter count; `model.score=<name>` picks one. Content-base (Graves 2014), additive (Bahdanau
// 2015), location-base, general, dot (Luong 2015), scaled dot (Vaswani 2017), location-aware
// (Chorowski 2015).
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/tensor/random.h"

namespace fovea {

/// What others may want to know of a score, instead of its name.
struct ScoreTraits {
  bool needs_equal_sizes = false;       // query and key of one size
  bool depends_on_order = false;        // permuting the keys does more than permute the scores
  bool reads_previous_weights = false;  // a decoder hands it those of the step before
  bool is_fused = false;  // dot_scale() or additive_parts(): decoders' kernels know it
};

struct ScoreOptions {
  std::string name = "scaled-dot";
  int64_t query_size = 0;  // set by the model, like key_size: not an option of users
  int64_t key_size = 0;
  int64_t hidden_size = 128;     // m of additive and location-aware
  bool bias = false;             // additive: v . tanh(W s + U h + b), as Xu 2015 has it
  int64_t maximum_length = 512;  // S of location-base
  int64_t filters = 10;          // location-aware
  int64_t kernel_width = 201;    // location-aware; odd
  void describe(OptionList& list);
  const ScoreTraits& traits() const;
};

struct ScoreInput {
  at::Tensor query;             // [B, H, Q, Dq]
  at::Tensor keys;              // [B, H or 1, K, F]: what prepare() made
  at::Tensor previous_weights;  // [B, H, Q, K], read by location-aware; undefined counts as all 0
  at::Tensor sharpness;  // [B, H, Q], content: NTM's beta, instead of the learned one, or undefined
};

/// The score v . tanh(W s + b + k) of a query s and a prepared key k.
struct AdditiveParts {
  at::Tensor query, bias;  // W [m, Dq]; b [m] or undefined
  at::Tensor energy;       // v [m]
};

class ScoreFunction : public torch::nn::Module {
 public:
  /// What depends on the keys alone, done once per sequence. keys [B, H, K, Dk] -> [B, H, K, F].
  /// Row j may depend on key j only.
  virtual at::Tensor prepare(const at::Tensor& keys) const { return keys; }

  /// -> [B, H, Q, K]
  virtual at::Tensor score(const ScoreInput& input) const = 0;

  /// c where the score is c s . h of the prepared keys and nothing else: what fused kernels know.
  virtual std::optional<double> dot_scale(int64_t key_size) const { return std::nullopt; }

  /// Its parts where it is additive, for the same reason.
  virtual std::optional<AdditiveParts> additive_parts() const { return std::nullopt; }
};

using ScorePointer = std::shared_ptr<ScoreFunction>;

struct ScoreEntry {
  std::string name;
  std::string formula;
  std::string paper;       // empty: none; those of papers have golden numbers
  std::string parameters;  // the count as a formula
  int64_t (*parameter_count)(const ScoreOptions& options);
  ScorePointer (*make)(const ScoreOptions& options, const Random& random);
  ScoreTraits traits = {};
};

std::span<const ScoreEntry> score_table();

/// Adds a score function of a program outside of the library, before any other thread uses it.
/// InvalidArgument for a name that is taken.
void register_score(ScoreEntry entry);

/// NotFound suggests the nearest name.
const ScoreEntry& find_score(const std::string& name);
std::vector<std::string> score_names();

/// A score function with parameters drawn from `random`.
ScorePointer make_score(const ScoreOptions& options, const Random& random);

}  // namespace fovea

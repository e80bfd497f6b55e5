// The interface of every network. A model sees batches, never files; it learns nothing about
// training except through the two paths: loss() for autograd, train_block() for tiny
// networks whose steps are cheaper than a single autograd call.
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/pruned_heads.h"
#include "fovea/kernels/optimiser/optimiser.h"
#include "fovea/tensor/example.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/tap.h"

namespace fovea {

/// What a model may know of the step it is in.
struct StepContext {
  Random random;     // dropout and sampling of this step: the same at any thread count, and after a
                     // resume
  int64_t step = 0;  // optimiser steps taken before this one
};

struct Loss {
  at::Tensor objective;  // scalar: the mean over the batch of what is minimised
  std::map<std::string, at::Tensor> scalars;  // further numbers to log, each a scalar
  at::Tensor units = at::Tensor();  // scalar: how many terms the mean has; undefined: one per row
};

/// Answers for a batch, side by side.
struct Predictions {
  at::Tensor scores;                          // class probabilities [B, C]
  at::Tensor values;                          // numbers [B, V]
  std::vector<std::vector<Decoded>> outputs;  // decoded outputs, the chosen one of each row first
  at::Tensor actions;                         // sampled choices [B, …]
  Prediction at(int64_t row) const;
};

/// One tensor that a model needs in its batches. A size of -1 may be anything; the first is always
/// the batch.
struct TensorSchema {
  std::string name;
  at::ScalarType type;
  std::vector<int64_t> shape;
};
using Schema = std::vector<TensorSchema>;

/// InvalidArgument with both shapes when the batch does not fit.
void check_batch(const Batch& batch, const Schema& schema);

struct LayerSummary {
  std::string layer;                  // "attention (softmax of 10)"
  std::vector<int64_t> output_shape;  // without the batch
  int64_t parameters = 0;
};

/// The optimiser as a fused path sees it.
class BlockOptimiser {
 public:
  virtual ~BlockOptimiser() = default;
  /// The next `count` steps, every one of which the caller takes: clipping, schedule and update
  /// over flat arrays in the order of the model's named_parameters(). They hold until the next
  /// call.
  virtual kernels::OptimiserSteps next_steps(int64_t count) = 0;
};

/// Rows for the fused path: `order` cut into batches.
struct TrainBlock {
  const NamedTensors& columns;     // resident, on the CPU, contiguous: each [N, …]
  std::span<const int64_t> order;  // rows, in the order of training
  int64_t batch_size;
  int64_t steps() const { return (int64_t(order.size()) + batch_size - 1) / batch_size; }
};

/// How the optimiser treats one parameter.
struct ParameterRule {
  double rate = 1;     // share of the learning rate; 0: frozen
  bool decays = true;  // weight decay touches it
  bool operator==(const ParameterRule&) const = default;
};

class Model : public torch::nn::Module {
 public:
  /// Fresh parameters from `random`; nothing else may decide them.
  virtual void initialise(const Random& random) = 0;

  virtual Schema schema() const = 0;
  virtual std::vector<LayerSummary> summary() const = 0;

  virtual Loss loss(const Batch& batch, const StepContext& context) = 0;

  /// For the parameter called `name`.
  virtual ParameterRule rule_of(const std::string& name) const { return {}; }

  /// Whether the parameter belongs to the run: one that does not comes from elsewhere each time,
  /// and is neither trained nor written.
  virtual bool saves(const std::string& name) const { return true; }

  /// Inference; may use fused kernels.
  virtual Predictions predict(const Batch& batch) const = 0;

  /// The same once more with readable operations, every map reported to the tap. Returns one
  /// log-probability or value per output unit [B, U]; what was sampled comes from `predictions`.
  virtual at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const = 0;

  /// The fused path: trains on the whole block, one optimiser step per batch, and returns the sum
  /// of the rows' losses.
  virtual bool has_fused_path() const { return false; }
  virtual double train_block(const TrainBlock& block, BlockOptimiser& optimiser);

  /// Whether loss() on a GPU is the same sequence of launches for every batch of the same shape: it
  /// waits for nothing, reads no number back, and neither its operations nor what they are told
  /// depend on the step. Tensors padded with zeros in every direction that the schema leaves open
  /// must give the same loss. Such steps are recorded once and repeated.
  virtual bool supports_cuda_graph() const { return false; }

  /// The attentions whose heads can be taken out; the option model.pruned_heads says which were.
  /// Empty where there are none.
  virtual std::vector<HeadBlock> head_blocks() const { return {}; }

  at::Device device() const;
};

/// Numbers that training may change.
int64_t count_parameters(const torch::nn::Module& module);

/// All parameters of a CPU model one after the other, for kernels that read them.
at::Tensor flat_parameters(const Model& model);

}  // namespace fovea

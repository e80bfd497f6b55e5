// x W^T + b, with weight [out, in] as PyTorch lays it out, initialised from a fovea::Random: Glorot
// uniform (Glorot and Bengio 2010) for the weight, 0 for the bias. torch::nn::Linear would draw
// from the process-wide generator.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>

#include "fovea/attention/low_rank.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct ProjectionOptions {
  int64_t in = 0;
  int64_t out = 0;
  bool bias = true;
};

class Projection : public torch::nn::Module {
 public:
  /// Zeros, for weights that come from elsewhere.
  explicit Projection(const ProjectionOptions& options);
  Projection(const ProjectionOptions& options, const Random& random);
  void initialise(const Random& random);

  /// x [..., in] -> [..., out]; `random` is for the adapters' dropout.
  at::Tensor forward(const at::Tensor& x, const Random* random = nullptr) const;

  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out], undefined without one
  LowRankAdapters adapters;
};

/// Zeros that take no memory while a WeightsLater lives in this thread: such a tensor can be
/// replaced, but not written to.
at::Tensor undecided_weight(at::IntArrayRef shape);

/// For networks whose weights come from elsewhere and are taken as they lie there.
class WeightsLater {
 public:
  WeightsLater();
  ~WeightsLater();
  WeightsLater(const WeightsLater&) = delete;
  WeightsLater& operator=(const WeightsLater&) = delete;

 private:
  bool before_;
};

/// A projection of zeros that is registered with its owner.
std::shared_ptr<Projection> register_projection(torch::nn::Module& owner, const std::string& name,
                                                const ProjectionOptions& options);
/// One that is drawn from random.split(name).
std::shared_ptr<Projection> register_projection(torch::nn::Module& owner, const std::string& name,
                                                const ProjectionOptions& options,
                                                const Random& random);

/// Uniform in +-sqrt(6 / (in + out)): [out, in].
at::Tensor glorot_uniform(int64_t out, int64_t in, const Random& random);

}  // namespace fovea

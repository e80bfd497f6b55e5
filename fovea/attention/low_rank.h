// Low-rank adapters, LoRA (Hu et al. 2021): a weight W [out, in] that stays as it is learns by two
// narrow matrices beside it, A [r, in] and B [out, r]:
//   y = W x + (alpha / r) B A dropout(x)
// B begins with zeros, so that the network begins as the one it adapts. Where several matrices of
// another library are one of ours (queries, keys and values in in_proj), each has an adapter of its
// own on its rows of W.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "fovea/tensor/random.h"

namespace fovea {

struct LowRankOptions {
  int64_t rank = 8;    // r
  double alpha = 8;    // how much an adapter counts
  double dropout = 0;  // of what A is given, in training
};

/// The rows of a weight that an adapter stands beside.
struct AdaptedRows {
  int64_t first = 0, count = 0;
};

class LowRankAdapter : public torch::nn::Module {
 public:
  /// Zeros.
  LowRankAdapter(int64_t in, int64_t out, const LowRankOptions& options);
  /// A uniform in +-1 / sqrt(in), as PEFT has it; B zeros.
  void initialise(const Random& random);

  /// What it adds to its rows, `rows` of them from `first` on: x [..., in] -> [..., rows]
  at::Tensor forward(const at::Tensor& x, AdaptedRows rows, const Random* random) const;
  /// (alpha / r) B A: [out, in]
  at::Tensor product() const;

  at::Tensor A;  // [r, in]
  at::Tensor B;  // [out, r]

 private:
  LowRankOptions options_;
};

/// All adapters of one weight.
class LowRankAdapters {
 public:
  /// Registers one with the owner of the weight, as `name`. InvalidArgument for rows that the
  /// weight [out, in] does not have.
  void add(torch::nn::Module& owner, const std::string& name, const at::Tensor& weight,
           AdaptedRows rows, const LowRankOptions& options);
  bool empty() const { return list_.empty(); }

  /// y [..., n], the products of n rows from `first` on with x [..., in], and what is added to
  /// them.
  at::Tensor add_to(const at::Tensor& y, const at::Tensor& x, int64_t first,
                    const Random* random) const;
  /// W + (alpha / r) B A, in float32.
  at::Tensor merged(const at::Tensor& weight) const;

 private:
  struct Entry {
    std::string name;
    AdaptedRows rows;
    std::shared_ptr<LowRankAdapter> adapter;
  };
  std::vector<Entry> list_;
};

}  // namespace fovea

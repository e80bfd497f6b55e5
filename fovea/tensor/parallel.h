// Work side by side with the same bits at any number of threads: a job is cut into parts by the
// problem, never by the threads, and every part computes with one thread of LibTorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace fovea {

/// How many threads run_parallel() uses, this one included; 0: one per processor.
void set_threads(int64_t count);
int64_t threads();

/// Runs job(0) … job(count - 1), each once, in any order; returns when all are done. The first
/// exception of a job is thrown again here. From inside a job, or while another thread is at it,
/// the jobs run one after the other where they are: a function may use this without knowing who
/// calls it.
void run_parallel(int64_t count, const std::function<void(int64_t)>& job);

/// A large product is cut into blocks of so many entries, or rows of a weight.
constexpr int64_t kEntryBlock = 1024, kWeightBlock = 256;

/// Work on tensors that does not wait for other such work, and runs side by side: mostly large
/// products in blocks.
class Jobs {
 public:
  void add(std::function<void()> job) { jobs_.push_back(std::move(job)); }

  /// job(begin, size) for blocks of at most `most` of `count`.
  void add_blocks(int64_t count, int64_t most, const std::function<void(int64_t, int64_t)>& job);

  /// target [R, C] = left [N, R]^T right [N, C]
  void add_product(const at::Tensor& target, const at::Tensor& left, const at::Tensor& right);

  /// All of them, without gradients.
  void run() const;

 private:
  std::vector<std::function<void()>> jobs_;
};

}  // namespace fovea

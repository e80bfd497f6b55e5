// Work on tensors that does not wait for other such work, and runs side by side: mostly large
// products in blocks. Blocks are cut by the problem alone, so the bits do not depend on the
// threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace fovea {

/// A large product is cut into blocks of so many entries, or rows of a weight.
constexpr int64_t kEntryBlock = 1024, kWeightBlock = 256;

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

// When a part of a network goes through its kernel, and when through readable tensor operations.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace fovea {

/// Kernels take float32 on a CPU. Tensors that are not defined do not count.
bool kernels_take(const std::vector<at::Tensor>& tensors);

/// For tests and comparisons: no kernel is used while such an object lives in this thread.
class ReadableOnly {
 public:
  ReadableOnly();
  ~ReadableOnly();
  ReadableOnly(const ReadableOnly&) = delete;
  ReadableOnly& operator=(const ReadableOnly&) = delete;
  /// Whether one lives.
  static bool is_asked_for();

 private:
  bool before_;
};

}  // namespace fovea

// Batches on their way to a GPU while it still works on the one before: copied out of pinned memory
// on a stream of their own. Where a model computes on a CPU, or a build has no CUDA, batches are
// moved when they are asked for.
#pragma once

#include <memory>

#include "fovea/tensor/example.h"

namespace fovea {

class DeviceCopies {
 public:
  explicit DeviceCopies(const at::Device& device);
  ~DeviceCopies();

  /// The batch on the device, where it has arrived after wait().
  Batch begin(const Batch& batch);
  /// What is launched from now on comes after all copies that were begun.
  void wait();

 private:
  struct Stream;
  at::Device device_;
  std::unique_ptr<Stream> stream_;  // null: there is none
};

}  // namespace fovea

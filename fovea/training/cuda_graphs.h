// Steps on a GPU that are recorded by the shape of their batch (tensor/device_graph.h): the second
// batch of a shape is recorded, and every later one is copied to where that one lay and launched as
// one. So that few shapes occur, open sizes are padded with zeros to a multiple.
#pragma once

#include <map>
#include <string>

#include "fovea/models/model.h"
#include "fovea/tensor/device_graph.h"

namespace fovea {

/// The batch with every size that the schema leaves open, but the number of rows, padded with zeros
/// to a multiple.
Batch pad_to_multiple(const Batch& batch, const Schema& schema);

class CudaGraphs {
 public:
  /// Loss and gradient of a batch on the GPU: a small tensor that says what became of it.
  using Work = std::function<at::Tensor(const Batch&)>;

  /// `work` with `batch`, both on the GPU. The result is used before the next call.
  at::Tensor run(const Batch& batch, const Work& work);

 private:
  struct Recorded {
    int64_t batches = 0;  // that had this shape so far
    Batch input;          // where the recorded one lies
    at::Tensor result;
    DeviceGraph graph;
  };
  std::map<std::string, Recorded> shapes_;
  int64_t recorded_ = 0;
  DeviceGraph* first_ = nullptr;  // whose memory the others use
};

}  // namespace fovea

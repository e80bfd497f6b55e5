#include "fovea/training/cuda_graphs.h"

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kMultiple = 8;     // that open sizes are padded to
constexpr int64_t kMostGraphs = 64;  // each keeps its list of launches on the GPU

std::string shape_of(const Batch& batch) {
  std::string shape;
  for (const auto& [name, tensor] : batch.tensors) shape += concat(name, tensor.sizes(), " ");
  return shape;
}

}  // namespace

Batch pad_to_multiple(const Batch& batch, const Schema& schema) {
  Batch result = batch;
  for (const TensorSchema& entry : schema) {
    Tensor& tensor = result.tensors.at(entry.name);
    std::vector<int64_t> widths;  // constant_pad_nd: of the last dimension first
    for (int64_t i = tensor.dim() - 1; i >= 1; --i) {
      const bool open = entry.shape[size_t(i)] < 0;
      const int64_t size = tensor.size(i);
      widths.push_back(0);
      widths.push_back(open ? (size + kMultiple - 1) / kMultiple * kMultiple - size : 0);
    }
    if (!widths.empty()) tensor = at::constant_pad_nd(tensor, widths);
  }
  return result;
}

Tensor CudaGraphs::run(const Batch& batch, const Work& work) {
  Recorded& shape = shapes_[shape_of(batch)];
  ++shape.batches;
  const bool is_recorded = shape.result.defined();
  // The first of a shape lets LibTorch choose its algorithms and get its work space.
  if (!is_recorded && (shape.batches == 1 || recorded_ == kMostGraphs)) return work(batch);
  if (is_recorded) {
    for (const auto& [name, tensor] : batch.tensors) shape.input.tensors.at(name).copy_(tensor);
  } else {
    shape.input = batch;
    shape.graph.record([&] { shape.result = work(shape.input); }, first_);
    if (first_ == nullptr) first_ = &shape.graph;
    ++recorded_;
  }
  shape.graph.replay();
  return shape.result;
}

}  // namespace fovea

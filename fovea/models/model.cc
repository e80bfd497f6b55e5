#include "fovea/models/model.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

Prediction Predictions::at(int64_t row) const {
  Prediction one;
  if (scores.defined()) one.scores = scores[row];
  if (values.defined()) one.values = values[row];
  if (actions.defined()) one.actions = actions[row];
  if (!outputs.empty()) one.outputs = outputs[static_cast<size_t>(row)];
  return one;
}

void check_batch(const Batch& batch, const Schema& schema) {
  for (const TensorSchema& wanted : schema) {
    const at::Tensor& found = batch.at(wanted.name);
    bool fits = found.scalar_type() == wanted.type &&
                found.dim() == static_cast<int64_t>(wanted.shape.size());
    for (int64_t d = 0; fits && d < found.dim(); ++d)
      fits = wanted.shape[size_t(d)] == -1 || wanted.shape[size_t(d)] == found.size(d);
    require(fits && found.size(0) == batch.size, ErrorKind::InvalidArgument, "batch of ",
            batch.size, ": tensor '", wanted.name, "' is ", found.scalar_type(), " ", found.sizes(),
            ", the model needs ", wanted.type, " ", at::IntArrayRef(wanted.shape));
  }
}

double Model::train_block(const TrainBlock&, BlockOptimiser&) {
  fail(ErrorKind::Internal, "this model has no fused path");
}

at::Device Model::device() const {
  const auto all = parameters();
  return all.empty() ? at::Device(at::kCPU) : all[0].device();
}

int64_t count_parameters(const torch::nn::Module& module) {
  int64_t total = 0;
  for (const at::Tensor& parameter : module.parameters()) total += parameter.numel();
  return total;
}

at::Tensor flat_parameters(const Model& model) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& parameter : model.parameters())
    parts.push_back(parameter.detach().reshape({-1}));
  return torch::cat(parts).to(torch::kCPU, torch::kFloat32).contiguous();
}

}  // namespace fovea

// The parameters of a model as values of a graph, under the names that they have in the run's
// weights: "decoder.score.query.weight".
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <memory>
#include <string>

#include "fovea/export/operators.h"

namespace fovea::onnx {

class Weights {
 public:
  explicit Weights(const torch::nn::Module& model);

  /// Those of a part of the model; names are then the part's own.
  Weights under(const std::string& part) const;

  bool has(const std::string& name) const;
  /// Internal when there is none.
  const at::Tensor& tensor(const std::string& name) const;
  Value value(Graph& graph, const std::string& name) const;

  /// x W^T + b by the layer's weight and, where it has one, its bias. x [..., in] -> [..., out]
  Value linear(const std::string& layer, const Value& x) const;

  /// The whole name.
  std::string full_name(const std::string& name) const { return prefix_ + name; }

 private:
  std::shared_ptr<const std::map<std::string, at::Tensor>> tensors_;
  std::string prefix_;
};

}  // namespace fovea::onnx

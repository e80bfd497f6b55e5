// The parameters of a model as values of a graph, under the names that they have in the run's
// weights: "decoder.score.query.weight"; and the modules that own them, for what is no parameter.
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <memory>
#include <string>

#include "fovea/base/error.h"
#include "fovea/export/operators.h"

namespace fovea::onnx {

class Weights {
 public:
  /// `changed`: tensors in place of those that the model has.
  explicit Weights(const torch::nn::Module& model,
                   const std::map<std::string, at::Tensor>& changed = {});

  /// Those of a module of the model; names are then its own.
  Weights under(const std::string& module) const;

  bool has(const std::string& name) const;
  /// Internal when there is none.
  const at::Tensor& tensor(const std::string& name) const;
  Value value(Graph& graph, const std::string& name) const;

  /// The module of the model that is called so. Internal when there is none of this kind.
  template <class Kind>
  const Kind& module(const std::string& name) const {
    const auto* found = dynamic_cast<const Kind*>(find_module(name));
    require(found != nullptr, ErrorKind::Internal, "export: '", full_name(name),
            "' is no module of the model, or of another kind");
    return *found;
  }
  bool has_module(const std::string& name) const { return find_module(name) != nullptr; }

  /// x W^T + b by the layer's weight and, where it has one, its bias. x [..., in] -> [..., out]
  Value linear(const std::string& layer, const Value& x) const;

  /// A LayerNorm of the model. x [..., width] -> [..., width]
  Value layer_norm(const std::string& layer, const Value& x) const;

  /// A LayerNorm or RmsNorm, whichever it is.
  Value norm(const std::string& layer, const Value& x) const;

  /// The whole name.
  std::string full_name(const std::string& name) const { return prefix_ + name; }

 private:
  const torch::nn::Module* find_module(const std::string& name) const;  // null: there is none

  std::shared_ptr<const std::map<std::string, at::Tensor>> tensors_;
  std::shared_ptr<const std::map<std::string, const torch::nn::Module*>> modules_;
  std::string prefix_;
};

}  // namespace fovea::onnx

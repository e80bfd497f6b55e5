#include "fovea/export/weights.h"

#include "fovea/nn/ops/layer_norm.h"
#include "fovea/nn/ops/rms_norm.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

Weights::Weights(const torch::nn::Module& model, const std::map<std::string, at::Tensor>& changed) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : model.named_parameters()) tensors[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) tensors[item.key()] = item.value();
  for (const auto& [name, tensor] : changed) tensors[name] = tensor;
  tensors_ = std::make_shared<const std::map<std::string, at::Tensor>>(std::move(tensors));
  std::map<std::string, const torch::nn::Module*> modules;
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    modules[item.key()] = item.value().get();
  modules_ = std::make_shared<const std::map<std::string, const torch::nn::Module*>>(modules);
}

Weights Weights::under(const std::string& module) const {
  Weights inner = *this;
  inner.prefix_ += module + ".";
  return inner;
}

bool Weights::has(const std::string& name) const {
  return tensors_->count(full_name(name)) > 0;
}

const at::Tensor& Weights::tensor(const std::string& name) const {
  const auto found = tensors_->find(full_name(name));
  require(found != tensors_->end(), ErrorKind::Internal, "export: the model has no parameter '",
          full_name(name), "'");
  return found->second;
}

Value Weights::value(Graph& graph, const std::string& name) const {
  return graph.parameter(full_name(name), tensor(name));
}

Value Weights::linear(const std::string& layer, const Value& x) const {
  Graph& graph = x.graph();
  const bool biased = has(layer + ".bias");
  return onnx::linear(x, value(graph, layer + ".weight"),
                      biased ? value(graph, layer + ".bias") : Value());
}

Value Weights::layer_norm(const std::string& layer, const Value& x) const {
  Graph& graph = x.graph();
  return onnx::layer_norm(x, value(graph, layer + ".weight"), value(graph, layer + ".bias"),
                          module<LayerNorm>(layer).epsilon());
}

Value Weights::norm(const std::string& layer, const Value& x) const {
  const auto* rms = dynamic_cast<const RmsNorm*>(find_module(layer));
  if (rms == nullptr) return layer_norm(layer, x);
  return rms_norm(x, value(x.graph(), layer + ".weight"), rms->epsilon());
}

const torch::nn::Module* Weights::find_module(const std::string& name) const {
  const auto found = modules_->find(full_name(name));
  return found == modules_->end() ? nullptr : found->second;
}

}  // namespace fovea::onnx

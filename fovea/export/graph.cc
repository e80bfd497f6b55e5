#include "fovea/export/graph.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

ElementType type_of(const at::Tensor& tensor, const std::string& name) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ElementType::Float;
    case at::kInt:
      return ElementType::Int32;
    case at::kLong:
      return ElementType::Int64;
    case at::kBool:
      return ElementType::Bool;
    default:
      fail(ErrorKind::Unsupported, "export: tensor '", name, "' holds ", tensor.scalar_type(),
           "; float, int32, int64 and bool can be exported");
  }
}

}  // namespace

Value Value::node(const char* operation) const {
  return graph_->node(operation, {*this});
}

Value Value::node(const char* operation, const Value& other) const {
  return graph_->node(operation, {*this, other});
}

Value Value::number(double number) const {
  return graph_->number(number);
}

Graph::Graph(std::string name, std::string help) {
  description_.name = std::move(name);
  description_.help = std::move(help);
}

Value Graph::input(const Port& port) {
  description_.inputs.push_back(port);
  return {*this, port.name};
}

void Graph::output(const Port& port, const Value& value) {
  // A node of its own: one value may be put out under two names, or be an input at the same time.
  description_.nodes.push_back(
      {"Identity", "output " + port.name, {value.name()}, {port.name}, {}});
  description_.outputs.push_back(port);
}

Value Graph::parameter(const std::string& name, const at::Tensor& tensor) {
  for (size_t i = 0; i < stored_.size(); ++i) {
    if (description_.tensors[i].name != name) continue;
    require(stored_[i].equal(tensor.detach().to(at::kCPU)), ErrorKind::Internal,
            "export: two different tensors are called '", name, "'");
    return {*this, name};
  }
  return store(name, tensor);
}

Value Graph::constant(const at::Tensor& tensor) {
  return store(fresh_name("constant"), tensor);
}

Value Graph::number(double number) {
  return constant(at::full({}, number, at::kFloat));
}

Value Graph::integers(const std::vector<int64_t>& numbers) {
  return constant(torch::tensor(numbers, at::kLong));
}

Value Graph::integer(int64_t number) {
  return constant(at::full({}, number, at::kLong));
}

Value Graph::node(const std::string& operation, const Values& inputs,
                  const Attributes& attributes) {
  return node(operation, inputs, 1, attributes).front();
}

Values Graph::node(const std::string& operation, const Values& inputs, size_t outputs,
                   const Attributes& attributes) {
  Node node{operation, fresh_name(operation), {}, {}, attributes};
  for (const Value& input : inputs) node.inputs.push_back(input.name());
  Values made;
  for (size_t i = 0; i < outputs; ++i) {
    node.outputs.push_back(outputs == 1 ? node.name : concat(node.name, ".", i));
    made.emplace_back(*this, node.outputs.back());
  }
  description_.nodes.push_back(std::move(node));
  return made;
}

Value Graph::store(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor own = tensor.detach().to(at::kCPU).contiguous();
  stored_.push_back(own);
  description_.tensors.push_back(
      {name, type_of(own, name), own.sizes().vec(),
       std::string_view(static_cast<const char*>(own.data_ptr()), own.nbytes())});
  return {*this, name};
}

std::string Graph::fresh_name(const std::string& kind) {
  return concat(kind, "_", counts_[kind]++);
}

}  // namespace fovea::onnx

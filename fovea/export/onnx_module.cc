// Compiled into a shared library of its own; the header says why.
#include "fovea/export/onnx_module.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <exception>
#include <limits>

namespace fovea {

namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;

void set(::onnx::ValueInfoProto& proto, const onnx::Port& port) {
  proto.set_name(port.name);
  proto.set_doc_string(port.help);
  auto& type = *proto.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int>(port.type));
  auto& shape = *type.mutable_shape();  // present even for a single number
  for (const onnx::Dimension& dimension : port.shape) {
    auto& added = *shape.add_dim();
    if (const auto* size = std::get_if<int64_t>(&dimension))
      added.set_dim_value(*size);
    else
      added.set_dim_param(std::get<std::string>(dimension));
  }
}

void set(::onnx::TensorProto& proto, const onnx::StoredTensor& tensor) {
  proto.set_name(tensor.name);
  proto.set_data_type(static_cast<int>(tensor.type));
  for (const int64_t size : tensor.shape) proto.add_dims(size);
  proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
}

struct SetAttribute {
  AttributeProto& proto;
  void operator()(int64_t value) const {
    proto.set_type(AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) const {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::string& value) const {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto.set_type(AttributeProto::INTS);
    for (const int64_t value : values) proto.add_ints(value);
  }
};

void set(::onnx::NodeProto& proto, const onnx::Node& node) {
  proto.set_op_type(node.operation);
  proto.set_name(node.name);
  for (const std::string& input : node.inputs) proto.add_input(input);
  for (const std::string& output : node.outputs) proto.add_output(output);
  for (const onnx::Attribute& attribute : node.attributes) {
    AttributeProto& added = *proto.add_attribute();
    added.set_name(attribute.name);
    std::visit(SetAttribute{added}, attribute.value);
  }
}

ModelProto model_of(const onnx::Description& description) {
  ModelProto model;
  model.set_ir_version(onnx::kFormatVersion);
  model.set_producer_name(description.producer);
  model.set_producer_version(description.producer_version);
  model.set_doc_string(description.help);
  model.add_opset_import()->set_version(onnx::kOperatorSet);
  for (const auto& [key, value] : description.notes) {
    auto& note = *model.add_metadata_props();
    note.set_key(key);
    note.set_value(value);
  }
  GraphProto& graph = *model.mutable_graph();
  graph.set_name(description.name);
  for (const onnx::Port& port : description.inputs) set(*graph.add_input(), port);
  for (const onnx::Port& port : description.outputs) set(*graph.add_output(), port);
  for (const onnx::StoredTensor& tensor : description.tensors)
    set(*graph.add_initializer(), tensor);
  for (const onnx::Node& node : description.nodes) set(*graph.add_node(), node);
  return model;
}

class Module : public OnnxModule {
 public:
  std::string write(const onnx::Description& description, std::string& error) const override {
    error.clear();
    try {
      ModelProto model = model_of(description);
      if (model.ByteSizeLong() > size_t(std::numeric_limits<int>::max())) {
        error = "its weights do not fit into one file of 2 GiB, the most that protobuf can write";
        return "";
      }
      ::onnx::checker::check_model(model);
      ::onnx::ShapeInferenceOptions strict;
      strict.check_type = true;
      strict.error_mode = 1;
      strict.enable_data_propagation = true;
      ::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(), strict);
      model.mutable_graph()->clear_value_info();  // every reader infers them again
      return model.SerializeAsString();
    } catch (const std::exception& problem) {
      error = problem.what();
    }
    return "";
  }
};

}  // namespace

}  // namespace fovea

extern "C" const fovea::OnnxModule* fovea_onnx_module() {
  static const fovea::Module module;
  return &module;
}

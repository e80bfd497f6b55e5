// Builds an ONNX graph node by node, so that a model's export reads like its forward pass:
//   Graph graph("double", "Twice its input");
//   const Value x = graph.input({"x", ElementType::Float, {"batch"}, "any number"});
//   graph.output({"y", ElementType::Float, {"batch"}, "twice that number"}, x + x);
// operators.h has the operations. Parameters keep the names and layouts that they have in the
// run's weights. What does not fit together is found by ONNX's checker (onnx_module.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "fovea/export/description.h"

namespace fovea::onnx {

class Graph;

/// A tensor of a graph: an input, a stored tensor, or what a node makes. An empty one stands for an
/// optional input that is left out.
class Value {
 public:
  Value() = default;
  Value(Graph& graph, std::string name) : graph_(&graph), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool defined() const { return graph_ != nullptr; }
  Graph& graph() const { return *graph_; }

  /// What an operation without attributes makes of it, and of a second value.
  Value node(const char* operation) const;
  Value node(const char* operation, const Value& other) const;

  friend Value operator+(const Value& a, const Value& b) { return a.node("Add", b); }
  friend Value operator-(const Value& a, const Value& b) { return a.node("Sub", b); }
  friend Value operator*(const Value& a, const Value& b) { return a.node("Mul", b); }
  friend Value operator/(const Value& a, const Value& b) { return a.node("Div", b); }
  friend Value operator<(const Value& a, const Value& b) { return a.node("Less", b); }
  friend Value operator>(const Value& a, const Value& b) { return a.node("Greater", b); }
  friend Value operator==(const Value& a, const Value& b) { return a.node("Equal", b); }
  friend Value operator&(const Value& a, const Value& b) { return a.node("And", b); }
  friend Value operator|(const Value& a, const Value& b) { return a.node("Or", b); }
  friend Value operator-(const Value& a) { return a.node("Neg"); }
  friend Value operator~(const Value& a) { return a.node("Not"); }
  friend Value operator+(const Value& a, double b) { return a + a.number(b); }
  friend Value operator-(const Value& a, double b) { return a - a.number(b); }
  friend Value operator*(const Value& a, double b) { return a * a.number(b); }
  friend Value operator/(const Value& a, double b) { return a / a.number(b); }

  friend Value tanh(const Value& x) { return x.node("Tanh"); }
  friend Value sigmoid(const Value& x) { return x.node("Sigmoid"); }
  friend Value relu(const Value& x) { return x.node("Relu"); }
  friend Value exp(const Value& x) { return x.node("Exp"); }
  friend Value sqrt(const Value& x) { return x.node("Sqrt"); }
  friend Value absolute(const Value& x) { return x.node("Abs"); }
  friend Value softplus(const Value& x) { return x.node("Softplus"); }  // log(1 + exp(x))
  friend Value sine(const Value& x) { return x.node("Sin"); }
  friend Value cosine(const Value& x) { return x.node("Cos"); }
  friend Value minimum(const Value& a, const Value& b) { return a.node("Min", b); }
  friend Value maximum(const Value& a, const Value& b) { return a.node("Max", b); }
  friend Value matmul(const Value& a, const Value& b) { return a.node("MatMul", b); }

 private:
  Value number(double number) const;  // of the same graph

  Graph* graph_ = nullptr;
  std::string name_;
};

using Values = std::vector<Value>;
using Attributes = std::vector<Attribute>;

class Graph {
 public:
  Graph(std::string name, std::string help);
  Graph(const Graph&) = delete;  // values point to it
  Graph& operator=(const Graph&) = delete;

  Value input(const Port& port);
  void output(const Port& port, const Value& value);

  /// A tensor of the model, stored once however often it is asked for.
  Value parameter(const std::string& name, const at::Tensor& tensor);
  /// A tensor that the graph itself needs.
  Value constant(const at::Tensor& tensor);
  Value number(double number);                          // float, no dimensions
  Value integers(const std::vector<int64_t>& numbers);  // int64 [n]
  Value integer(int64_t number);                        // int64, no dimensions

  Value node(const std::string& operation, const Values& inputs, const Attributes& attributes = {});
  Values node(const std::string& operation, const Values& inputs, size_t outputs,
              const Attributes& attributes);

  /// A line of the file's metadata.
  void note(const std::string& key, const std::string& value) { description_.notes[key] = value; }

  Description& description() { return description_; }
  const Description& description() const { return description_; }

 private:
  Value store(const std::string& name, const at::Tensor& tensor);
  std::string fresh_name(const std::string& kind);

  Description description_;
  std::vector<at::Tensor> stored_;  // what the description's bytes point to
  std::map<std::string, int64_t> counts_;
};

}  // namespace fovea::onnx

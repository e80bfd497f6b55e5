#include "fovea/export/recurrent.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

struct Cell {
  const char* name;
  const char* operation;
  std::vector<int64_t> gates;  // PyTorch's, in ONNX's order
  Attributes attributes;
};

const Cell& find_cell(const std::string& name) {
  static const std::vector<Cell> cells = {
      {"rnn", "RNN", {0}, {}},
      {"gru", "GRU", {1, 0, 2}, {{"linear_before_reset", int64_t(1)}}},
      {"lstm", "LSTM", {0, 3, 1, 2}, {}},
  };
  for (const Cell& cell : cells)
    if (cell.name == name) return cell;
  fail(ErrorKind::Unsupported, "export: cell '", name, "' has no ONNX form");
}

/// [G H, …] with its gates in ONNX's order.
at::Tensor reordered(const at::Tensor& weight, const Cell& cell) {
  const auto gates = weight.chunk(int64_t(cell.gates.size()), 0);
  std::vector<at::Tensor> parts;
  for (const int64_t gate : cell.gates) parts.push_back(gates[size_t(gate)]);
  return at::cat(parts, 0);
}

/// The parameter `kind` ("weight_ih") of a layer, the directions one above the other: [D, G H, …].
at::Tensor stacked(const Weights& weights, const std::string& kind, const Cell& cell, int64_t layer,
                   bool bidirectional) {
  std::vector<at::Tensor> directions;
  for (const char* suffix : {"", "_reverse"})
    if (*suffix == 0 || bidirectional)
      directions.push_back(reordered(weights.tensor(concat(kind, "_l", layer, suffix)), cell));
  return at::stack(directions);
}

}  // namespace

RecurrentValues run_recurrent(const RecurrentShape& shape, const Weights& weights, const Value& x,
                              const Value& lengths, const RecurrentValues& start) {
  Graph& graph = x.graph();
  const Cell& cell = find_cell(shape.cell);
  const bool lstm = shape.cell == "lstm";
  Attributes attributes = cell.attributes;
  attributes.push_back({"hidden_size", weights.tensor("weight_hh_l0").size(1)});
  attributes.push_back({"direction", shape.bidirectional ? "bidirectional" : "forward"});

  RecurrentValues result{x, {}, {}};
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    const auto stored = [&](const char* name, const at::Tensor& tensor) {
      return graph.parameter(weights.full_name(concat(name, "_l", layer)), tensor);
    };
    const auto of = [&](const char* kind) {
      return stacked(weights, kind, cell, layer, shape.bidirectional);
    };
    Values inputs{result.outputs, stored("input_weights", of("weight_ih")),
                  stored("state_weights", of("weight_hh")),
                  stored("biases", at::cat({of("bias_ih"), of("bias_hh")}, 1)), lengths};
    inputs.push_back(start.hidden.empty() ? Value() : start.hidden[size_t(layer)]);
    if (lstm) inputs.push_back(start.cell.empty() ? Value() : start.cell[size_t(layer)]);
    const Values made = graph.node(cell.operation, inputs, lstm ? 3 : 2, attributes);
    const Value by_step = transpose(made[0], {0, 2, 1, 3});  // [S, B, D, H]
    result.outputs = reshape(by_step, {0, 0, -1});           // [S, B, D H]
    result.hidden.push_back(made[1]);
    if (lstm) result.cell.push_back(made[2]);
  }
  return result;
}

}  // namespace fovea::onnx

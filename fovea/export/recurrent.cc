#include "fovea/export/recurrent.h"

#include "fovea/base/error.h"
#include "fovea/export/operators.h"
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
      {"gru", "GRU", {1, 0, 2}, {}},
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

/// One step of the first layer of nn/recurrent/gru_forms.h with gated inputs. x [1, B, I], state
/// [1, B, H] -> [1, B, H]
Value gated_step(const RecurrentShape& shape, const Weights& weights, const Value& x,
                 const Value& state) {
  Graph& graph = x.graph();
  const at::Tensor w = weights.tensor("weight_ih_l0");
  const int64_t h = weights.tensor("weight_hh_l0").size(1), c = shape.reset.inputs,
                own = w.size(1) - c;
  const at::Tensor candidate = w.narrow(0, 2 * h, h);
  const auto stored = [&](const char* name, const at::Tensor& tensor) {
    return graph.parameter(weights.full_name(name), tensor.contiguous());
  };
  const Values inputs = split(x, 2, {own, c});
  const at::Tensor hides_c = at::cat(
      {w.narrow(0, 0, 2 * h), at::cat({candidate.narrow(1, 0, own), at::zeros({h, c})}, 1)});
  const Values of_input = split(linear(x, stored("input_weights_l0", hides_c),
                                       stored("input_bias_l0", weights.tensor("bias_ih_l0"))),
                                2, {h, h, h});
  const Values of_state =
      split(linear(state, stored("state_weights_l0", weights.tensor("weight_hh_l0")),
                   stored("state_bias_l0", weights.tensor("bias_hh_l0"))),
            2, {h, h, h});
  const Value gated =
      linear(inputs[1], stored("summary_weights_l0", candidate.narrow(1, own, c)));  // [1, B, H]
  const Value reset = sigmoid(of_input[0] + of_state[0]),
              update = sigmoid(of_input[1] + of_state[1]);
  const Value proposed = tanh(of_input[2] + reset * (of_state[2] + gated));
  return proposed + update * (state - proposed);
}

}  // namespace

RecurrentValues run_recurrent(const RecurrentShape& shape, const Weights& weights, const Value& x,
                              const Value& lengths, const RecurrentValues& start) {
  Graph& graph = x.graph();
  const Cell& cell = find_cell(shape.cell);
  const bool lstm = shape.cell == "lstm";
  Attributes attributes = cell.attributes;
  if (shape.cell == "gru")
    attributes.push_back({"linear_before_reset", int64_t(shape.reset.before ? 0 : 1)});
  attributes.push_back({"hidden_size", weights.tensor("weight_hh_l0").size(1)});
  attributes.push_back({"direction", shape.bidirectional ? "bidirectional" : "forward"});

  RecurrentValues result{x, {}, {}};
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    if (layer == 0 && shape.reset.inputs > 0) {
      require(!lengths.defined() && !shape.bidirectional && !start.hidden.empty(),
              ErrorKind::Internal, "export: gated inputs are for one step of a decoder");
      result.outputs = gated_step(shape, weights, result.outputs, start.hidden[0]);
      result.hidden.push_back(result.outputs);
      continue;
    }
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

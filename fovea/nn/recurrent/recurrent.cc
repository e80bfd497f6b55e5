#include "fovea/nn/recurrent/recurrent.h"

#include "fovea/attention/projection.h"
#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/nn/recurrent/gru_forms.h"
#include "fovea/nn/recurrent/recurrent_layer.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

int64_t gates_of(const std::string& cell) {
  require(cell == "rnn" || cell == "gru" || cell == "lstm", ErrorKind::InvalidArgument,
          "there is no cell '", cell, "'; known: rnn, gru, lstm");
  return cell == "lstm" ? 4 : cell == "gru" ? 3 : 1;
}

std::vector<Tensor> selected(const std::vector<Tensor>& tensors, const Tensor& rows) {
  std::vector<Tensor> chosen;
  for (const Tensor& tensor : tensors) chosen.push_back(tensor.index_select(0, rows));
  return chosen;
}

}  // namespace

RecurrentState RecurrentState::select(const Tensor& rows) const {
  return {selected(hidden, rows), selected(cell, rows)};
}

void RecurrentState::append(const RecurrentState& more) {
  hidden.insert(hidden.end(), more.hidden.begin(), more.hidden.end());
  cell.insert(cell.end(), more.cell.begin(), more.cell.end());
}

Recurrent::Recurrent(RecurrentOptions options) : options_(std::move(options)) {
  const int64_t gates = gates_of(options_.cell), h = options_.hidden_size;
  require(h > 0 && options_.input_size > 0 && options_.layers > 0, ErrorKind::InvalidArgument,
          "a recurrent network needs inputs, hidden units and layers; found ", options_.input_size,
          ", ", h, ", ", options_.layers);
  const ResetGate& reset = options_.reset;
  require(reset.is_usual() || options_.cell == "gru", ErrorKind::InvalidArgument,
          "only a gru has a reset gate whose place can be chosen; found the cell ", options_.cell);
  require(reset.inputs >= 0 && reset.inputs < options_.input_size &&
              !(reset.before && reset.inputs > 0),
          ErrorKind::Internal, "a reset gate over ", reset.inputs, " of ", options_.input_size,
          " inputs");
  for (int64_t layer = 0; layer < options_.layers; ++layer)
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const int64_t inputs = layer == 0 ? options_.input_size : output_size();
      const std::string suffix = concat("_l", layer, direction == 1 ? "_reverse" : "");
      weights_.push_back({register_parameter("weight_ih" + suffix, at::zeros({gates * h, inputs})),
                          register_parameter("weight_hh" + suffix, at::zeros({gates * h, h})),
                          register_parameter("bias_ih" + suffix, at::zeros({gates * h})),
                          register_parameter("bias_hh" + suffix, at::zeros({gates * h}))});
    }
}

void Recurrent::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  const int64_t h = options_.hidden_size;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const Random own = random.split(i);
    const auto& [w_ih, w_hh, b_ih, b_hh] =
        std::tie(weights_[i][0], weights_[i][1], weights_[i][2], weights_[i][3]);
    for (int64_t gate = 0; gate < w_ih.size(0) / h; ++gate) {
      const auto g = static_cast<uint64_t>(gate);
      w_ih.narrow(0, gate * h, h)
          .copy_(glorot_uniform(h, w_ih.size(1), own.split("input").split(g)));
      w_hh.narrow(0, gate * h, h).copy_(orthogonal(h, h, own.split("recurrent").split(g)));
    }
    b_ih.zero_();
    b_hh.zero_();
    // Gates stand in the order input, forget, cell, output.
    if (options_.cell == "lstm") b_ih.narrow(0, h, h).fill_(1);
  }
}

RecurrentLayer Recurrent::layer(int64_t layer) const {
  RecurrentLayer own{options_.cell, {}, options_.reset};
  if (layer > 0) own.reset.inputs = 0;
  for (int64_t direction = 0; direction < directions(); ++direction) {
    const auto& weights = weights_[static_cast<size_t>(layer * directions() + direction)];
    own.weights.insert(own.weights.end(), weights.begin(), weights.end());
  }
  return own;
}

RecurrentState Recurrent::zeros(int64_t batch) const {
  RecurrentState state;
  const Tensor zero = at::zeros({batch, options_.hidden_size}, weights_[0][0].options());
  state.hidden.assign(weights_.size(), zero);
  if (options_.cell == "lstm") state.cell = state.hidden;
  return state;
}

RecurrentOutput Recurrent::run(const Tensor& x, const Tensor& lengths, const RecurrentState& start,
                               const std::vector<Tensor>& masks) const {
  require(x.dim() == 3 && x.size(2) == options_.input_size, ErrorKind::Internal,
          "a recurrent network with ", options_.input_size, " inputs was given a tensor of shape ",
          x.sizes());
  const bool waits = !lengths.defined() || lengths.is_cpu();
  const auto layout =
      std::make_shared<const SequenceLayout>(waits ? lengths : Tensor(), x.size(0), x.size(1));
  const auto d = static_cast<ptrdiff_t>(directions());
  const auto of_layer = [&](const std::vector<Tensor>& states, ptrdiff_t layer) {
    if (states.empty()) return states;
    return std::vector<Tensor>(states.begin() + layer * d, states.begin() + (layer + 1) * d);
  };
  RecurrentOutput result{x, {}};
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    stop_if_asked();
    const RecurrentState begin{of_layer(start.hidden, layer), of_layer(start.cell, layer)};
    const RecurrentOutput now =
        waits ? run_layer(this->layer(layer), result.outputs, layout, begin)
              : run_padded_layer(this->layer(layer), result.outputs, lengths, begin);
    result.outputs = now.outputs;  // [B, S, D H]
    result.state.append(now.state);
    if (!masks.empty() && layer + 1 < options_.layers)
      result.outputs = result.outputs * masks[static_cast<size_t>(layer)].unsqueeze(1);
  }
  return result;
}

RecurrentState Recurrent::step(const Tensor& x, const RecurrentState& state,
                               const std::vector<Tensor>& masks) const {
  require(!options_.bidirectional, ErrorKind::Internal,
          "a bidirectional network cannot go step by step");
  RecurrentState next;
  Tensor input = x;
  for (size_t layer = 0; layer < weights_.size(); ++layer) {
    const auto& w = weights_[layer];
    const Tensor& hidden = state.hidden[layer];
    if (options_.cell == "lstm") {
      const auto [h, c] = at::lstm_cell(input, {hidden, state.cell[layer]}, w[0], w[1], w[2], w[3]);
      next.hidden.push_back(h);  // [B, H]
      next.cell.push_back(c);
    } else if (!options_.reset.is_usual()) {
      next.hidden.push_back(gru_step(this->layer(int64_t(layer)), input, hidden));
    } else {
      next.hidden.push_back(options_.cell == "gru"
                                ? at::gru_cell(input, hidden, w[0], w[1], w[2], w[3])
                                : at::rnn_tanh_cell(input, hidden, w[0], w[1], w[2], w[3]));
    }
    input = next.hidden.back();
    if (layer < masks.size()) input = input * masks[layer];
  }
  return next;
}

std::vector<Tensor> Recurrent::dropout_masks(int64_t batch, const Random* random) const {
  std::vector<Tensor> masks;
  if (!random || options_.dropout == 0) return masks;
  const Tensor ones = at::ones({batch, output_size()}, weights_[0][0].options());
  for (int64_t layer = 0; layer + 1 < options_.layers; ++layer)
    masks.push_back(dropout(ones, options_.dropout,
                            random->split("layer").split(static_cast<uint64_t>(layer))));
  return masks;
}

Tensor orthogonal(int64_t rows, int64_t columns, const Random& random) {
  const int64_t most = std::max(rows, columns), least = std::min(rows, columns);
  const auto normal = random.normal_tensor({most, least}, 0, 1, at::TensorOptions(at::kDouble));
  const auto [q, r] = at::linalg_qr(normal, "reduced");
  const auto signs = r.diagonal().sign();          // makes the draw uniform over all such matrices
  const auto matrix = (q * signs).to(at::kFloat);  // [most, least]
  return rows >= columns ? matrix : matrix.t().contiguous();
}

Tensor sequence_dropout(const Tensor& x, double rate, const Random* random) {
  if (!random || rate == 0) return x;
  auto shape = x.sizes().vec();
  for (size_t i = 1; i + 1 < shape.size(); ++i) shape[i] = 1;
  return x * dropout(at::ones(shape, x.options()), rate, *random);
}

}  // namespace fovea

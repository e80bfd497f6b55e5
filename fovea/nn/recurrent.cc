#include "fovea/nn/recurrent.h"

#include <torch/version.h>
#include <optional>

#include "fovea/attention/projection.h"
#include "fovea/core/error.h"
#include "fovea/core/torch.h"

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

/// Rows sorted by falling length, as packing wants them, and the way back.
struct LengthOrder {
  Tensor order, back;  // int64 [B] on the data's device; undefined when nothing moves
  Tensor lengths;      // sorted, on the CPU
};

LengthOrder sort_by_length(const Tensor& lengths, const at::Device& device) {
  const auto sorted = lengths.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  const Tensor order = std::get<1>(sorted);
  if (order.equal(at::arange(order.size(0)))) return {{}, {}, lengths};
  return {order.to(device), order.argsort().to(device), std::get<0>(sorted)};
}

// cuDNN wants a layer's weights in one piece of memory of its own; the optimiser's flat array is
// another one. They are copied at every call, which costs little, and LibTorch complains at every
// call, which nobody wants to read.
class IgnoreWarnings : public c10::WarningHandler {
#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning&) override {}
#else
  void process(const c10::SourceLocation&, const std::string&, const bool) override {}
#endif
};

#if TORCH_VERSION_MAJOR >= 2
using WarningGuard = c10::WarningUtils::WarningHandlerGuard;
#else
using WarningGuard = c10::Warning::WarningHandlerGuard;
#endif

Tensor reordered(const Tensor& x, const Tensor& order) {
  return order.defined() ? x.index_select(0, order) : x;
}

}  // namespace

RecurrentState RecurrentState::select(const Tensor& rows) const {
  return {selected(hidden, rows), selected(cell, rows)};
}

Recurrent::Recurrent(RecurrentOptions options) : options_(std::move(options)) {
  const int64_t gates = gates_of(options_.cell), h = options_.hidden_size;
  require(h > 0 && options_.input_size > 0 && options_.layers > 0, ErrorKind::InvalidArgument,
          "a recurrent network needs inputs, hidden units and layers; found ", options_.input_size,
          ", ", h, ", ", options_.layers);
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

std::vector<Tensor> Recurrent::weights_of(int64_t layer) const {
  std::vector<Tensor> list;
  for (int64_t direction = 0; direction < directions(); ++direction) {
    const auto& own = weights_[static_cast<size_t>(layer * directions() + direction)];
    list.insert(list.end(), own.begin(), own.end());
  }
  return list;
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
  const int64_t batch = x.size(0), steps = x.size(1), d = directions();
  const bool lstm = options_.cell == "lstm";
  const bool packed = lengths.defined() && lengths.min().item<int64_t>() < steps;
  const LengthOrder sorted =
      packed ? sort_by_length(lengths, x.device()) : LengthOrder{{}, {}, lengths};
  const RecurrentState begin = start.hidden.empty() ? zeros(batch) : start;
  const bool train = torch::GradMode::is_enabled();  // cuDNN keeps what backward needs only then

  Tensor data = reordered(x, sorted.order), batch_sizes;  // [B, S, I]
  Tensor row_of_entry;  // packed: which (sorted) example each entry belongs to
  if (packed) {
    std::tie(data, batch_sizes) = at::_pack_padded_sequence(data, sorted.lengths, true);
    if (!masks.empty()) {
      const auto rows = at::arange(batch).unsqueeze(1).expand({batch, steps});
      row_of_entry =
          std::get<0>(at::_pack_padded_sequence(rows.unsqueeze(-1), sorted.lengths, true))
              .squeeze(-1)
              .to(x.device());
    }
  }
  IgnoreWarnings ignore;
  std::optional<WarningGuard> guard;
  if (x.is_cuda()) guard.emplace(&ignore);
  RecurrentOutput result;
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    std::vector<Tensor> hidden, cell;
    for (int64_t direction = 0; direction < d; ++direction) {
      const auto place = static_cast<size_t>(layer * d + direction);
      hidden.push_back(reordered(begin.hidden[place], sorted.order));
      if (lstm) cell.push_back(reordered(begin.cell[place], sorted.order));
    }
    const Tensor h0 = at::stack(hidden);  // [D, B, H]
    const auto weights = weights_of(layer);
    Tensor last, last_cell;
    if (lstm) {
      const std::vector<Tensor> states{h0, at::stack(cell)};
      std::tie(data, last, last_cell) =
          packed ? at::lstm(data, batch_sizes, states, weights, true, 1, 0, train, d == 2)
                 : at::lstm(data, states, weights, true, 1, 0, train, d == 2, true);
    } else if (options_.cell == "gru") {
      std::tie(data, last) =
          packed ? at::gru(data, batch_sizes, h0, weights, true, 1, 0, train, d == 2)
                 : at::gru(data, h0, weights, true, 1, 0, train, d == 2, true);
    } else {
      std::tie(data, last) =
          packed ? at::rnn_tanh(data, batch_sizes, h0, weights, true, 1, 0, train, d == 2)
                 : at::rnn_tanh(data, h0, weights, true, 1, 0, train, d == 2, true);
    }
    for (int64_t direction = 0; direction < d; ++direction) {
      result.state.hidden.push_back(reordered(last[direction], sorted.back));  // [B, H]
      if (lstm) result.state.cell.push_back(reordered(last_cell[direction], sorted.back));
    }
    if (masks.empty() || layer + 1 == options_.layers) continue;
    const Tensor mask = reordered(masks[static_cast<size_t>(layer)], sorted.order);  // [B, D H]
    data = data * (packed ? mask.index_select(0, row_of_entry) : mask.unsqueeze(1));
  }
  if (packed) data = std::get<0>(at::_pad_packed_sequence(data, batch_sizes, true, 0.0, steps));
  result.outputs = reordered(data, sorted.back);  // [B, S, D H]
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

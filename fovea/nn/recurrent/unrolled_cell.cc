#include "fovea/nn/recurrent/unrolled_cell.h"

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::RecurrentCell;

/// x (1 - x) d, and (1 - x^2) d: back through a sigmoid and a tanh whose result was x.
Tensor through_sigmoid(const Tensor& d, const Tensor& x) {
  return at::sigmoid_backward(d, x);
}
Tensor through_tanh(const Tensor& d, const Tensor& x) {
  return at::tanh_backward(d, x);
}

/// r, u = sig; n = tanh(W x + b + r (U h + b')); h' = n + u (h - n)
CellStep gru_forward(const CellProducts& products, const Tensor& before, const Tensor& input_bias,
                     const Tensor& recurrent_bias) {
  if (before.is_cuda()) {
    auto [hidden, workspace] = at::_thnn_fused_gru_cell(products.input, products.recurrent, before,
                                                        input_bias, recurrent_bias);
    return {{hidden}, {workspace}};
  }
  const auto in = (products.input + input_bias).chunk(3, 1);
  const auto own = (products.recurrent + recurrent_bias).chunk(3, 1);
  const Tensor r = (in[0] + own[0]).sigmoid(), u = (in[1] + own[1]).sigmoid();
  const Tensor n = (in[2] + r * own[2]).tanh();
  return {{n + u * (before - n)}, {at::cat({r, u, n, own[2], before}, 1)}};
}

CellGradient gru_backward(at::TensorList saved, const Tensor& arrived) {
  if (arrived.is_cuda()) {
    const auto [input, recurrent, before, input_bias, recurrent_bias] =
        at::_thnn_fused_gru_cell_backward(arrived, saved[0], false);
    return {{input, recurrent}, {before}};
  }
  const auto parts = saved[0].chunk(5, 1);
  const Tensor &r = parts[0], &u = parts[1], &n = parts[2], &own = parts[3], &before = parts[4];
  const Tensor dn = through_tanh(arrived * (1 - u), n);
  const Tensor dr = through_sigmoid(dn * own, r), du = through_sigmoid(arrived * (before - n), u);
  return {{at::cat({dr, du, dn}, 1), at::cat({dr, du, dn * r}, 1)}, {arrived * u}};
}

/// i, f, o = sig, g = tanh; c' = f c + i g; h' = o tanh(c')
CellStep lstm_forward(const CellProducts& products, const CellState& before,
                      const Tensor& input_bias, const Tensor& recurrent_bias) {
  if (before.hidden.is_cuda()) {
    auto [hidden, cell, workspace] = at::_thnn_fused_lstm_cell(
        products.input, products.recurrent, before.cell, input_bias, recurrent_bias);
    return {{hidden, cell}, {workspace, before.cell, cell}};
  }
  const auto sums = (products.input + products.recurrent + input_bias + recurrent_bias).chunk(4, 1);
  const Tensor i = sums[0].sigmoid(), f = sums[1].sigmoid(), g = sums[2].tanh(),
               o = sums[3].sigmoid(), cell = f * before.cell + i * g;
  return {{o * cell.tanh(), cell}, {at::cat({i, f, g, o}, 1), before.cell, cell}};
}

CellGradient lstm_backward(at::TensorList saved, const CellState& arrived) {
  const Tensor &gates = saved[0], &before = saved[1], &cell = saved[2];
  if (gates.is_cuda()) {
    const auto [products, of_before, bias] = at::_thnn_fused_lstm_cell_backward_impl(
        arrived.hidden, arrived.cell, before, cell, gates, false);
    return {{products, products}, {Tensor(), of_before}};
  }
  const auto parts = gates.chunk(4, 1);
  const Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3], told = cell.tanh();
  const Tensor of_cell = arrived.cell + through_tanh(arrived.hidden * o, told);
  const Tensor products =
      at::cat({through_sigmoid(of_cell * g, i), through_sigmoid(of_cell * before, f),
               through_tanh(of_cell * i, g), through_sigmoid(arrived.hidden * told, o)},
              1);
  return {{products, products}, {Tensor(), of_cell * f}};
}

}  // namespace

size_t cell_saves(RecurrentCell cell) {
  return cell == RecurrentCell::Lstm ? 3 : 1;
}

CellStep cell_forward(RecurrentCell cell, const CellProducts& products, const CellState& before,
                      const Tensor& input_bias, const Tensor& recurrent_bias) {
  if (cell == RecurrentCell::Gru)
    return gru_forward(products, before.hidden, input_bias, recurrent_bias);
  if (cell == RecurrentCell::Lstm)
    return lstm_forward(products, before, input_bias, recurrent_bias);
  const Tensor hidden = (products.input + products.recurrent + input_bias + recurrent_bias).tanh();
  return {{hidden}, {hidden}};
}

CellGradient cell_backward(RecurrentCell cell, at::TensorList saved, const CellState& arrived) {
  if (cell == RecurrentCell::Gru) return gru_backward(saved, arrived.hidden);
  if (cell == RecurrentCell::Lstm) return lstm_backward(saved, arrived);
  const Tensor products = through_tanh(arrived.hidden, saved[0]);
  return {{products, products}, {}};
}

}  // namespace fovea

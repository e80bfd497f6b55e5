#include "fovea/nn/recurrent/packed_recurrent.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/kernels/cell_step/cell_step.h"
#include "fovea/kernels/instruction_set.h"
#include "fovea/nn/recurrent/recurrent_passes.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::RecurrentCell;

constexpr int64_t kRowsOfSlice = 32;

}  // namespace

PackedRecurrent::PackedRecurrent(const Recurrent& recurrent) : recurrent_(recurrent) {
  const RecurrentOptions& o = recurrent.options();
  require(!o.bidirectional, ErrorKind::Internal, "a bidirectional network cannot go step by step");
  if (!o.reset.is_usual()) return;
  const auto parameters = recurrent.named_parameters();
  for (int64_t layer = 0; layer < o.layers; ++layer) {
    const auto own = [&](const char* name) {
      return parameters[concat(name, "_l", layer)].detach().contiguous();
    };
    const Tensor w = own("weight_ih"), u = own("weight_hh");
    if (!kernels_take({w, u})) return;
    Layer packed;
    packed.shape.cell = cell_named(o.cell);
    packed.shape.hidden = o.hidden_size;
    packed.shape.inputs = w.size(1);
    packed.shape.steps = 1;
    if (current_precision() == Precision::BFloat16 && kernels::multiplies_bf16()) {
      packed.of_input.emplace(w, own("bias_ih"));
      packed.of_state.emplace(u, own("bias_hh"));
      layers_.push_back(std::move(packed));
      continue;
    }
    packed.packed = at::empty({packed.shape.packed()}, w.options());
    packed.input_bias = own("bias_ih");
    packed.recurrent_bias = own("bias_hh");
    kernels::recurrent_pack_forward(packed.shape, w.data_ptr<float>(), u.data_ptr<float>(),
                                    packed.packed.data_ptr<float>());
    layers_.push_back(std::move(packed));
  }
}

RecurrentState PackedRecurrent::step(const Tensor& x, const RecurrentState& state) const {
  if (layers_.empty() || !kernels_take({x})) return recurrent_.step(x, state, {});
  const int64_t rows = x.size(0);
  const std::vector<int64_t> lengths(size_t(rows), 1);
  std::vector<int64_t> order(size_t(rows), 0);
  std::iota(order.begin(), order.end(), int64_t{0});
  RecurrentState next;
  Tensor input = x.contiguous();
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    kernels::RecurrentShape shape = layer.shape;
    shape.rows = rows;
    shape.lengths = lengths.data(), shape.first = shape.descending = order.data();
    const bool has_cell = shape.cell == RecurrentCell::Lstm;
    const Tensor before = state.hidden[i].contiguous();
    const Tensor cell_before = has_cell ? state.cell[i].contiguous() : Tensor();
    const Tensor hidden = layer.of_input ? before.clone() : at::empty_like(before);
    const Tensor cell = !has_cell        ? Tensor()
                        : layer.of_input ? cell_before.clone()
                                         : at::empty_like(before);
    next.hidden.push_back(hidden);
    if (has_cell) next.cell.push_back(cell);
    if (layer.of_input) {
      step_rounded(layer, input, hidden, cell);
      input = hidden;
      continue;
    }
    kernels::RecurrentForward at{};
    at.packed = layer.packed.data_ptr<float>();
    at.input_bias = layer.input_bias.data_ptr<float>();
    at.recurrent_bias = layer.recurrent_bias.data_ptr<float>();
    at.start_hidden = before.data_ptr<float>();
    at.x = input.data_ptr<float>();
    at.outputs = at.last_hidden = hidden.data_ptr<float>();  // after one step the same
    at.output_row = shape.hidden;
    if (has_cell)
      at.start_cell = cell_before.data_ptr<float>(), at.last_cell = cell.data_ptr<float>();
    run_parallel(shape.slices(), [&](int64_t slice) {
      std::vector<float> scratch(size_t(shape.scratch()));
      kernels::recurrent_forward(shape, slice, at, scratch.data());
    });
    input = hidden;
  }
  return next;
}

/// `hidden` and `cell` go from before the step to after it.
void PackedRecurrent::step_rounded(const Layer& layer, const Tensor& x, const Tensor& hidden,
                                   const Tensor& cell) const {
  const Tensor of_input = layer.of_input->forward(x),  // [R, G H]
      of_state = layer.of_state->forward(hidden);
  const int64_t rows = x.size(0), h = layer.shape.hidden, products = of_input.size(1);
  run_parallel((rows + kRowsOfSlice - 1) / kRowsOfSlice, [&](int64_t slice) {
    const int64_t first = slice * kRowsOfSlice;
    const kernels::CellRows at{
        .rows = std::min(kRowsOfSlice, rows - first),
        .hidden = h,
        .x = of_input.data_ptr<float>() + first * products,
        .u = of_state.data_ptr<float>() + first * products,
        .state = hidden.data_ptr<float>() + first * h,
        .memory = cell.defined() ? cell.data_ptr<float>() + first * h : nullptr};
    kernels::cell_step(layer.shape.cell, at);
  });
}

}  // namespace fovea

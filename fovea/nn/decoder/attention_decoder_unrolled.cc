// What a step needs from the step before is done step by step, everything else at once for all of
// them. Inside, steps come first: [T, B, …]. With t_j = tanh(A h + a + k_j) and what softmax sends
// back, which adds up to 0 over the keys of a query:
//   de  = w (dw - w . dw),  dw_j = dz . m_j
//   d(A h) = sum_j de_j v (1 - t_j^2) = -v sum_j de_j t_j^2
//   dk_j   = v sum over steps of de_j (1 - t_j^2),   dv = sum over steps and keys of de_j t_j
#include "fovea/nn/decoder/attention_decoder_passes.h"
#include "fovea/nn/recurrent/unrolled_cell.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::AttentionDecoderShape;
using torch::autograd::tensor_list;

/// What the forward pass leaves for the backward pass; behind it cell_saves() tensors per step.
enum SavedOfSteps : size_t {
  kTanhs,        // t [T, B, K, F], additive
  kStepWeights,  // w [T, B, K]
  kSeen,         // z [T, B, C]
  kBefore,       // h [T, B, H]
  kSavedOfCells
};

/// Added to scores: keys that are not kept end up with the weight 0. Where none is kept the values
/// are 0 (Memory), so weights do not matter.
Tensor blocked_keys(const AttentionDecoderPlan& plan, const Tensor& keys) {
  const Tensor zeros = at::zeros({plan.shape.rows, plan.shape.keys}, keys.options());
  return plan.keep.defined() ? zeros.masked_fill(plan.keep.eq(0), -1e30) : zeros;
}

/// The scores' matrix A above the cell's U: both multiply h. [F + G H, H]
Tensor from_state(at::TensorList in, const Tensor& query) {
  return query.numel() > 0 ? at::cat({query, in[kWeightRecurrent]}) : in[kWeightRecurrent];
}

Tensor steps_first(const Tensor& x) {
  return x.transpose(0, 1).contiguous();
}

/// x [T, B, N] as [T B, N]
Tensor entries_of(const Tensor& x) {
  return x.flatten(0, 1);
}

}  // namespace

AttentionDecoderPass unrolled_decoder_forward(at::TensorList in, const AttentionDecoderPlan& plan) {
  const AutocastOff off;
  const AttentionDecoderShape& shape = plan.shape;
  const int64_t rows = shape.rows, steps = shape.steps, keys = shape.keys, width = in[kX].size(2),
                asked = shape.query_size(), products = shape.gates() * shape.hidden;
  const auto empty = [&](at::IntArrayRef sizes) { return at::empty(sizes, in[kX].options()); };
  const Tensor inputs = at::matmul(steps_first(in[kX]), in[kWeightInput].narrow(1, 0, width).t());
  const Tensor from_context = in[kWeightInput].narrow(1, width, shape.value_size).t();
  const Tensor of_state = from_state(in, in[kQuery]).t();  // [H, F + G H]
  const Tensor blocked = blocked_keys(plan, in[kKeys]);    // [B, K]
  const Tensor own = in[kQueryBias].numel() > 0 ? in[kKeys] + in[kQueryBias] : in[kKeys];
  AttentionDecoderPass pass;
  pass.saved = {empty({shape.additive ? steps : 0, rows, keys, shape.key_size}),
                empty({steps, rows, keys}), empty({steps, rows, shape.value_size})};
  tensor_list states{in[kStartHidden]}, of_cells;
  CellState state{in[kStartHidden], in[kStartCell]};
  for (int64_t t = 0; t < steps; ++t) {
    const Tensor product = at::mm(state.hidden, of_state);  // [B, F + G H]
    Tensor scores;                                          // [B, K]
    if (shape.additive) {
      Tensor tanhs = pass.saved[kTanhs][t];  // [B, K, F]
      at::add_out(tanhs, own, product.narrow(1, 0, asked).unsqueeze(1)).tanh_();
      scores = at::addmv(blocked.view(-1), tanhs.flatten(0, 1), in[kEnergy]).view({rows, keys});
    } else {
      scores = at::baddbmm(blocked.unsqueeze(2), own, state.hidden.unsqueeze(2), 1, shape.scale)
                   .squeeze(2);
    }
    Tensor weights = pass.saved[kStepWeights][t], context = pass.saved[kSeen][t].unsqueeze(1);
    at::_softmax_out(weights, scores, 1, false);
    at::bmm_out(context, weights.unsqueeze(1), in[kValues]);
    const CellProducts sums{at::addmm(inputs[t], context.squeeze(1), from_context),
                            product.narrow(1, asked, products)};
    CellStep step = cell_forward(shape.cell, sums, state, in[kBiasInput], in[kBiasRecurrent]);
    state = step.state;
    states.push_back(state.hidden);
    of_cells.insert(of_cells.end(), step.saved.begin(), step.saved.end());
  }
  const Tensor all = at::stack(states);  // [T + 1, B, H]
  pass.states = all.narrow(0, 1, steps).transpose(0, 1);
  pass.contexts = pass.saved[kSeen].transpose(0, 1);
  pass.saved.push_back(all.narrow(0, 0, steps));
  pass.saved.insert(pass.saved.end(), of_cells.begin(), of_cells.end());
  return pass;
}

tensor_list unrolled_decoder_backward(at::TensorList in, at::TensorList saved,
                                      const AttentionDecoderPlan& plan,
                                      const tensor_list& arrived) {
  const AutocastOff off;
  const AttentionDecoderShape& shape = plan.shape;
  const int64_t rows = shape.rows, steps = shape.steps, keys = shape.keys, width = in[kX].size(2),
                asked = shape.query_size(), products = shape.gates() * shape.hidden;
  const auto empty = [&](at::IntArrayRef sizes) { return at::empty(sizes, in[kX].options()); };
  const auto of_steps = [&](const Tensor& gradient, int64_t size) {
    return gradient.defined() ? steps_first(gradient)
                              : at::zeros({steps, rows, size}, in[kX].options());
  };
  const Tensor of_states = of_steps(arrived[0], shape.hidden),
               of_contexts = of_steps(arrived[1], shape.value_size),
               from_context = in[kWeightInput].narrow(1, width, shape.value_size),  // [G H, C]
      energy = in[kEnergy];
  const Tensor squares = saved[kTanhs].square();  // t^2 [T, B, K, F]
  // what is sent back to A h is -v times a sum: the rows of A take the -v
  const Tensor to_state =
      from_state(in, asked > 0 ? in[kQuery] * energy.neg().unsqueeze(1) : in[kQuery]);
  const Tensor values = in[kValues].transpose(1, 2);  // [B, C, K]
  // d(W x + Z z), then sum_j de_j t_j^2 beside d(U h), dz and de
  Tensor of_inputs = empty({steps, rows, products}),
         of_state = empty({steps, rows, asked + products}),
         of_seen = empty({steps, rows, shape.value_size}), of_scores = empty({steps, rows, keys});
  CellState back{at::zeros_like(in[kStartHidden]), at::zeros_like(in[kStartCell])};
  const size_t keeps = cell_saves(shape.cell);
  for (int64_t t = steps - 1; t >= 0; --t) {
    back.hidden = back.hidden + of_states[t];
    const CellGradient of_cell =
        cell_backward(shape.cell, saved.slice(kSavedOfCells + size_t(t) * keeps, keeps), back);
    of_inputs[t].copy_(of_cell.products.input);
    of_state[t].narrow(1, asked, products).copy_(of_cell.products.recurrent);
    Tensor seen = of_seen[t], scores = of_scores[t];
    at::addmm_out(seen, of_contexts[t], of_cell.products.input, from_context);
    const Tensor of_weights = at::bmm(seen.unsqueeze(1), values).squeeze(1);  // [B, K]
    at::_softmax_backward_data_out(scores, of_weights, saved[kStepWeights][t], 1,
                                   of_weights.scalar_type());
    Tensor before = of_cell.before.hidden;  // [B, H], or undefined
    if (shape.additive) {
      of_state[t].narrow(1, 0, asked).copy_(at::bmm(scores.unsqueeze(1), squares[t]).squeeze(1));
    } else {
      const Tensor through_keys = at::bmm(scores.unsqueeze(1), in[kKeys]).squeeze(1) * shape.scale;
      before = before.defined() ? before + through_keys : through_keys;
    }
    back = {
        before.defined() ? at::addmm(before, of_state[t], to_state) : at::mm(of_state[t], to_state),
        of_cell.before.cell};
  }
  const Tensor before = entries_of(saved[kBefore]), inputs = entries_of(of_inputs);
  const Tensor recurrent = entries_of(of_state.narrow(2, asked, products));
  tensor_list gradients(kDecoderInputs);
  gradients[kX] =
      at::matmul(of_inputs, in[kWeightInput].narrow(1, 0, width)).transpose(0, 1);  // [B, T, E]
  gradients[kWeightInput] = at::cat(
      {inputs.t().mm(entries_of(steps_first(in[kX]))), inputs.t().mm(entries_of(saved[kSeen]))}, 1);
  gradients[kWeightRecurrent] = recurrent.t().mm(before);
  gradients[kBiasInput] = inputs.sum(0);
  gradients[kBiasRecurrent] = recurrent.sum(0);
  gradients[kStartHidden] = back.hidden;
  gradients[kStartCell] = back.cell;
  gradients[kValues] = at::bmm(saved[kStepWeights].permute({1, 2, 0}), of_seen.transpose(0, 1));
  const Tensor by_key = of_scores.permute({1, 2, 0});  // [B, K, T]
  if (!shape.additive) {
    gradients[kKeys] = at::bmm(by_key, saved[kBefore].transpose(0, 1)) * shape.scale;
    return gradients;
  }
  const Tensor bent = at::bmm(by_key.reshape({rows * keys, 1, steps}),
                              squares.flatten(1, 2).transpose(0, 1));  // [B K, 1, F]
  gradients[kKeys] =
      (by_key.sum(2, true) - bent.view({rows, keys, shape.key_size})) * energy;    // [B, K, F]
  const Tensor queries = entries_of(of_state.narrow(2, 0, asked)) * energy.neg();  // [T B, F]
  gradients[kQuery] = queries.t().mm(before);
  if (in[kQueryBias].numel() > 0) gradients[kQueryBias] = queries.sum(0);
  gradients[kEnergy] = at::mv(saved[kTanhs].flatten(0, 2).t(), of_scores.flatten());
  return gradients;
}

}  // namespace fovea

#include "fovea/nn/recurrent/gru_forms.h"

#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

GruInputs GruInputs::select(int64_t step) const {
  return {sums.select(1, step), gated.defined() ? gated.select(1, step) : gated};
}

GruInputs gru_inputs(const RecurrentLayer& layer, const Tensor& x) {
  const Tensor &w = layer.weights[0], &bias = layer.weights[2];
  const int64_t h = layer.hidden_size(), outside = layer.reset.inputs;
  if (outside == 0) return {at::linear(x, w, bias), {}};
  const int64_t own = x.size(-1) - outside;
  const Tensor candidate = w.narrow(0, 2 * h, h);  // [H, I]
  const Tensor gates = at::linear(x, w.narrow(0, 0, 2 * h), bias.narrow(0, 0, 2 * h)),
               proposed = at::linear(x.narrow(-1, 0, own), candidate.narrow(1, 0, own),
                                     bias.narrow(0, 2 * h, h));
  return {at::cat({gates, proposed}, -1),
          at::linear(x.narrow(-1, own, outside), candidate.narrow(1, own, outside))};
}

Tensor gru_step(const RecurrentLayer& layer, const GruInputs& inputs, const Tensor& hidden) {
  const Tensor &u = layer.weights[1], &bias = layer.weights[3];
  const int64_t h = hidden.size(1);
  const Tensor gates = (inputs.sums.narrow(1, 0, 2 * h) +
                        at::linear(hidden, u.narrow(0, 0, 2 * h), bias.narrow(0, 0, 2 * h)))
                           .sigmoid();  // [B, 2 H]
  const Tensor reset = gates.narrow(1, 0, h), update = gates.narrow(1, h, h);
  const Tensor own = u.narrow(0, 2 * h, h), own_bias = bias.narrow(0, 2 * h, h);
  Tensor recurrent;  // [B, H]
  if (layer.reset.before) {
    recurrent = at::linear(reset * hidden, own, own_bias);
  } else {
    recurrent = at::linear(hidden, own, own_bias);
    recurrent = reset * (inputs.gated.defined() ? recurrent + inputs.gated : recurrent);
  }
  const Tensor proposed = (inputs.sums.narrow(1, 2 * h, h) + recurrent).tanh();
  return proposed + update * (hidden - proposed);
}

Tensor gru_step(const RecurrentLayer& layer, const Tensor& x, const Tensor& hidden) {
  return gru_step(layer, gru_inputs(layer, x), hidden);
}

}  // namespace fovea

#include "fovea/models/recurrent_glimpses_pass.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// out = x W^T + b
void project(const Projection& layer, const Tensor& x, Tensor out) {
  at::addmm_out(out, layer.bias, x, layer.weight.t());
}

/// The gradient where the layer put out something, else 0.
Tensor through_relu(const Tensor& gradient, const Tensor& output) {
  return at::threshold_backward(gradient, output, 0);
}

/// Of weight [out, in] and bias [out], from the gradient [R, out] of what came out of x [R, in].
void add_layer(const Tensor& gradient, const Tensor& x, tensor_list& result) {
  result.push_back(gradient.t().mm(x));
  result.push_back(gradient.sum(0));
}

class LastState : public torch::autograd::Function<LastState> {
 public:
  /// The layers' weights and biases in their order; then what the pass kept, [T, N, …].
  static Tensor forward(AutogradContext* context, const Tensor&, const Tensor&, const Tensor&,
                        const Tensor&, const Tensor& combine, const Tensor&, const Tensor& input,
                        const Tensor&, const Tensor& state, const Tensor& seen,
                        const Tensor& places, const Tensor& both, const Tensor& glimpses,
                        const Tensor& states) {
    context->save_for_backward({combine, input, state, seen, places, both, glimpses, states});
    return states[-1].detach();
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const Tensor &combine = saved[0], &input = saved[1], &state = saved[2];
    const Tensor &seen = saved[3], &places = saved[4], &both = saved[5], &glimpses = saved[6],
                 &states = saved[7];
    const int64_t steps = states.size(0), half = both.size(2) / 2;
    Tensor core = torch::empty_like(states);  // of W g_t + W h_{t-1}
    Tensor next = gradients[0];               // of h_t
    for (int64_t t = steps - 1; t >= 0; --t) {
      core[t].copy_(through_relu(next, states[t]));
      if (t > 0) next = core[t].mm(state);
    }
    const Tensor of_core = core.flatten(0, 1);                                           // [T N, D]
    const Tensor of_glimpses = through_relu(of_core.mm(input), glimpses.flatten(0, 1));  // [T N, D]
    const Tensor of_both = through_relu(of_glimpses.mm(combine), both.flatten(0, 1));  // [T N, 2 G]
    tensor_list result;
    add_layer(of_both.narrow(1, 0, half), seen.flatten(0, 1), result);
    add_layer(of_both.narrow(1, half, half), places.flatten(0, 1), result);
    add_layer(of_glimpses, both.flatten(0, 1), result);
    add_layer(of_core, glimpses.flatten(0, 1), result);
    const Tensor later = core.narrow(0, 1, steps - 1).flatten(0, 1);
    result.push_back(later.t().mm(states.narrow(0, 0, steps - 1).flatten(0, 1)));
    result.resize(result.size() + 5);  // what was kept has no gradient
    return result;
  }
};

}  // namespace

Tensor as_places(const Tensor& draws) {
  return draws.clamp(-1, 1);
}

Tensor time_first(const Tensor& x) {
  return x.flatten(0, 1).transpose(0, 1).contiguous();
}

GlimpsePass::GlimpsePass(const GlimpseLayers& layers, int64_t episodes, int64_t steps,
                         bool keeps_all)
    : layers_(layers), steps_(steps), slots_(keeps_all ? steps : std::min<int64_t>(steps, 2)) {
  const auto room = [&](int64_t slots, int64_t numbers) {
    return torch::empty({slots, episodes, numbers}, layers.what.weight.options());
  };
  if (keeps_all)
    seen_ = room(steps, layers.what.weight.size(1)), places_ = room(steps, kPlaceNumbers);
  both_ = room(slots_, layers.combine.weight.size(1));
  glimpses_ = room(slots_, layers.combine.weight.size(0));
  states_ = room(slots_, layers.core_input.weight.size(0));
}

Tensor GlimpsePass::step(const Tensor& seen, const Tensor& places) {
  require(next_ < steps_, ErrorKind::Internal, "a pass of ", steps_, " steps has ended");
  torch::NoGradGuard no_gradients;
  if (seen_.defined()) {
    seen_[next_].copy_(seen);
    places_[next_].copy_(places);
  }
  const int64_t slot = next_ % slots_, half = both_.size(2) / 2;
  Tensor both = both_[slot], glimpse = glimpses_[slot], state = states_[slot];
  project(layers_.what, seen, both.narrow(1, 0, half));
  project(layers_.where, places, both.narrow(1, half, half));
  project(layers_.combine, both.relu_(), glimpse);
  project(layers_.core_input, glimpse.relu_(), state);
  if (next_ > 0) state.addmm_(states_[(next_ - 1) % slots_], layers_.core_state.weight.t());
  ++next_;
  return state.relu_();
}

Tensor GlimpsePass::last_state() const {
  require(next_ == steps_ && seen_.defined(), ErrorKind::Internal,
          "a pass has its gradient after the last step, where everything was kept");
  const auto& l = layers_;
  return LastState::apply(l.what.weight, l.what.bias, l.where.weight, l.where.bias,
                          l.combine.weight, l.combine.bias, l.core_input.weight, l.core_input.bias,
                          l.core_state.weight, seen_, places_, both_, glimpses_, states_);
}

Tensor GlimpsePass::earlier_states() const {
  return states_.narrow(0, 0, steps_ - 1);
}

}  // namespace fovea

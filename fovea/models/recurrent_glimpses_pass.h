// Episodes of the recurrent model of glimpses, step by step into buffers that are laid out in time:
//   c_t  ReLU([W rho_t, W l_t])      what and where, side by side
//   g_t  ReLU(W c_t)
//   h_t  ReLU(W g_t + W h_{t-1})
// Where everything is kept, the last state is one node of the graph. Its gradient goes back through
// the core step by step and takes that of each layer in one product over all steps: nothing is
// computed twice, and few operations are many episodes long.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "fovea/attention/projection.h"

namespace fovea {

inline constexpr int64_t kPlaceNumbers = 2;  // of a place: x and y

/// Draws cut to the picture, [-1, 1].
at::Tensor as_places(const at::Tensor& draws);
/// Episodes first, [B, M, T, …], to time first, [T, B M, …].
at::Tensor time_first(const at::Tensor& x);

struct GlimpseLayers {
  const Projection &what, &where, &combine, &core_input, &core_state;
};

class GlimpsePass {
 public:
  /// N episodes of T steps. Without `keeps_all` only the newest states are remembered.
  GlimpsePass(const GlimpseLayers& layers, int64_t episodes, int64_t steps, bool keeps_all);

  /// seen [N, P] at places [N, 2] -> the state [N, D]. No gradients here.
  at::Tensor step(const at::Tensor& seen, const at::Tensor& places);

  /// After the last step, where everything was kept. h_T [N, D] with the gradient of the layers:
  at::Tensor last_state() const;
  /// h_1 … h_{T-1} without any: [T - 1, N, D].
  at::Tensor earlier_states() const;

 private:
  GlimpseLayers layers_;
  int64_t steps_, slots_, next_ = 0;
  at::Tensor seen_, places_;             // [T, N, P], [T, N, 2]; only where everything is kept
  at::Tensor both_, glimpses_, states_;  // [slots, N, 2 G], [slots, N, D] twice
};

}  // namespace fovea

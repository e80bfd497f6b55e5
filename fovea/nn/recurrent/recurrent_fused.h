// A recurrent layer by kernels/recurrent, for float32 on a CPU: forward and backward of all steps
// in one node of the graph. Nothing is computed for padding. The large products (inputs with their
// weights; gradients of weights and inputs) are LibTorch's, in blocks that run side by side.
// Gradients of gradients go through LibTorch's layers.
#pragma once

#include "fovea/nn/recurrent/recurrent_layer.h"

namespace fovea {

/// As run_layer().
RecurrentOutput run_fused_layer(const RecurrentLayer& layer, const at::Tensor& x,
                                const std::shared_ptr<const SequenceLayout>& layout,
                                const RecurrentState& start);

}  // namespace fovea

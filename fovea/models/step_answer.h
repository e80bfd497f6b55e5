// What a model answers to one step of a search, from the state in front of its output layer.
#pragma once

#include "fovea/decoding/search.h"
#include "fovea/nn/ops/packed_projection.h"

namespace fovea {

/// log_softmax(W x + b): of the likeliest symbols where these are enough and kernels can find them,
/// else of all. x [R, D]; weights as in StepOutput.
StepOutput answer_step(const StepInput& in, const PackedProjection& output, const at::Tensor& x,
                       const at::Tensor& weights = {});

}  // namespace fovea

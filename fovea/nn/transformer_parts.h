// How a Transformer layer is put together from its parts; see transformer_layer.h. Private to this
// folder.
#pragma once

#include <functional>
#include <initializer_list>

#include "fovea/nn/transformer_layer.h"

namespace fovea {

/// One part of a layer, f, and the norm that it is wrapped with.
struct LayerPart {
  const LayerNorm& norm;
  const char* dropout;  // name of its random numbers
  std::function<at::Tensor(const at::Tensor&)> run;
};

/// x [..., D] through all parts, each in its wrapping.
at::Tensor run_parts(const TransformerLayerOptions& options, at::Tensor x, const LayerCall& call,
                     std::initializer_list<LayerPart> parts);

}  // namespace fovea

// How a Transformer layer is put together from its sublayers; see transformer_layer.h. Private to
// this folder.
#pragma once

#include <functional>
#include <initializer_list>

#include "fovea/nn/transformer/transformer_layer.h"

namespace fovea {

/// One sublayer, f, and the norm that it is wrapped with.
struct Sublayer {
  const Norm& norm;
  const char* dropout;  // name of its random numbers
  std::function<at::Tensor(const at::Tensor&)> run;
};

/// x [..., D] through all sublayers, each in its wrapping.
at::Tensor run_sublayers(const TransformerLayerOptions& options, at::Tensor x,
                         const LayerCall& call, std::initializer_list<Sublayer> sublayers);

}  // namespace fovea

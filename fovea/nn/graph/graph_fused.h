// Attention over edges by kernels/graph_attention, for float32 on a CPU: forward and backward of
// all heads in one node of the autograd graph. The weights [E, H] are the only thing that is kept
// per edge. No gradients of gradients.
#pragma once

#include <string>

#include "fovea/kernels/graph_attention/graph_attention.h"
#include "fovea/nn/graph/graph_block.h"

namespace fovea {

struct FusedEdgeOptions {
  std::string score;  // gat, gatv2 or uniform
  int64_t heads = 1, width = 1;
  double slope = 0.2;
};

/// As in graph_layer.h; what a score does not need, and what dropout leaves alone, is undefined.
struct FusedEdgeInputs {
  at::Tensor states;                // z [S, H D]
  at::Tensor values;                // [S, H D]; undefined: z
  at::Tensor queries;               // [T, H D]
  at::Tensor to_target, to_source;  // [H, D]
  at::Tensor keep;                  // [E, H], without gradient
};

/// [T, H D]. The first T sources are the targets.
at::Tensor attend_edges_fused(const FusedEdgeOptions& options, const FusedEdgeInputs& inputs,
                              const GraphEdges& edges);

}  // namespace fovea

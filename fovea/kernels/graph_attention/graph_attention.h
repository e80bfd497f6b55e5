// Attention over the edges of a graph, forward and backward, all heads together. Target i looks at
// the sources j of its edges; nothing is stored or computed for pairs without an edge. Per head,
// with leaky(x) = x for x > 0, else slope x:
//   gat      e_ij = leaky(a . z_i + b . z_j)        Velickovic et al. 2018, a and b one vector
//   there gatv2    e_ij = a . leaky(y_i + z_j)            Brody et al. 2022 uniform  e_ij = 0 the
//   control w_ij = softmax over j of e_ij        o_i = sum over j of w_ij m_ij v_j
// m is what dropout makes of 1, and v is z, or what dropout makes of it.
//
// Rows of z, v, y and o hold the heads side by side, H blocks of D numbers. Edges lie in the order
// of their targets, and once more in the order of their sources: backward gathers instead of
// scattering. A target without edges gets zeros. Work is cut into slices of kGraphRows targets or
// sources; the caller runs them in any order, on any number of threads, with the same bits.
#pragma once

#include <cstdint>

namespace fovea::kernels {

constexpr int64_t kGraphRows = 128;       // targets or sources of one slice
constexpr int64_t kMostGraphHeads = 256;  // H, at most

enum class GraphScore { Gat, GatV2, Uniform };

struct GraphAttention {
  GraphScore score = GraphScore::Gat;
  int64_t heads = 0, width = 0;      // H, D
  int64_t targets = 0, sources = 0;  // T, S; with gat the first T sources are the targets
  const int64_t* begin = nullptr;    // [T + 1]: edges begin[i] … begin[i + 1] - 1 are target i's
  const int64_t* source = nullptr;   // [E]
  const int64_t* target = nullptr;   // [E]
  const int64_t* out_begin = nullptr;  // [S + 1]: places in out_edge that are a source's
  const int64_t* out_edge = nullptr;   // edges, rising for each source; those from E on are not
                                       // this problem's
  float slope = 0.2f;

  int64_t row() const { return heads * width; }
  int64_t edges() const { return begin[targets]; }
  int64_t target_slices() const { return (targets + kGraphRows - 1) / kGraphRows; }
  int64_t source_slices() const { return (sources + kGraphRows - 1) / kGraphRows; }
};

struct GraphForward {
  const float* states;     // z [S, H D]
  const float* values;     // v [S, H D], may be `states`
  const float* queries;    // y [T, H D]; gatv2 only
  const float* to_target;  // a [H D]; not read for uniform
  const float* to_source;  // b [H D]; gat only
  const float* keep;       // m [E, H]; null: all 1
  float* target_scores;    // a . z [T, H]; gat only
  float* source_scores;    // b . z [S, H]; gat only
  float* weights;          // w [E, H]
  float* out;              // o [T, H D]
};

/// The scores of a slice of the sources, for gat: all slices before any of
/// graph_attention_forward().
void graph_attention_scores(const GraphAttention& graph, int64_t source_slice,
                            const GraphForward& at);

/// Weights and outputs of a slice of the targets.
void graph_attention_forward(const GraphAttention& graph, int64_t target_slice,
                             const GraphForward& at);

struct GraphBackward {
  const float *states, *values, *queries, *to_target, *to_source, *keep;  // as in GraphForward
  const float *target_scores, *source_scores, *weights;                   // that it left
  const float* out;               // the gradient of o [T, H D]
  float* edges;                   // the gradient of e before leaky (gat), of e (gatv2) [E, H]
  float* target_scores_gradient;  // [T, H]; gat only
  float* queries_gradient;        // [T, H D]; gatv2 only
  float* states_gradient;         // [S, H D]
  float* values_gradient;         // [S, H D]; null: v is z, and its gradient is added to z's
  float* target_sums;             // [target slices, H D]: gradient of a, by slice; gatv2 only
  float* source_sums;  // [source slices, 2 H D]: gradients of a and b, by slice; gat only
};

/// What belongs to a slice of the targets: all slices before any of the sources'.
void graph_attention_backward_targets(const GraphAttention& graph, int64_t target_slice,
                                      const GraphBackward& at);
/// What belongs to a slice of the sources.
void graph_attention_backward_sources(const GraphAttention& graph, int64_t source_slice,
                                      const GraphBackward& at);

}  // namespace fovea::kernels

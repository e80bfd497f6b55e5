// Picks the vectors that the problem's rows fill.
#include "fovea/kernels/graph_attention/graph_attention.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/graph_attention/backward-inl.h"
#include "fovea/kernels/graph_attention/forward-inl.h"

namespace fovea::kernels {
namespace {

template <template <class> class Work, int64_t kHeads, int64_t kColumns, class... Rest>
inline void with_rows(const GraphAttention& g, const Rest&... rest) {
  if (g.heads == kHeads && g.width == kColumns)
    return Work<RowsOf<kHeads, kColumns, true>>::run(g, rest...);
  Work<RowsOf<kHeads, kColumns, false>>::run(g, rest...);
}

template <template <class> class Work, int64_t kHeads, class... Rest>
inline void with_columns(const GraphAttention& g, const Rest&... rest) {
  const int64_t step = vector_for(g.width);
  if constexpr (kLanes >= 16)
    if (step == 16) return with_rows<Work, kHeads, 16>(g, rest...);
  if constexpr (kLanes >= 8)
    if (step == 8) return with_rows<Work, kHeads, 8>(g, rest...);
  if (step == 4) return with_rows<Work, kHeads, 4>(g, rest...);
  with_rows<Work, kHeads, 1>(g, rest...);
}

/// Work::run for the rows of this problem.
template <template <class> class Work, class... Rest>
inline void with_steps(const GraphAttention& g, const Rest&... rest) {
  const int64_t step = vector_for(g.heads);
  if constexpr (kLanes >= 8)
    if (step >= 8) return with_columns<Work, 8>(g, rest...);
  if (step >= 4) return with_columns<Work, 4>(g, rest...);
  with_columns<Work, 1>(g, rest...);
}

void scores(const GraphAttention& graph, int64_t source_slice, const GraphForward& at) {
  with_steps<Scores>(graph, source_slice, at);
}

void forward(const GraphAttention& graph, int64_t target_slice, const GraphForward& at) {
  with_steps<Forward>(graph, target_slice, at);
}

void backward_targets(const GraphAttention& graph, int64_t target_slice, const GraphBackward& at) {
  with_steps<BackwardTargets>(graph, target_slice, at);
}

void backward_sources(const GraphAttention& graph, int64_t source_slice, const GraphBackward& at) {
  with_steps<BackwardSources>(graph, source_slice, at);
}

}  // namespace

struct GraphAttentionTable {
  decltype(&graph_attention_scores) scores;
  decltype(&graph_attention_forward) forward;
  decltype(&graph_attention_backward_targets) backward_targets;
  decltype(&graph_attention_backward_sources) backward_sources;
};
FOVEA_TABLE(GraphAttentionTable, scores, forward, backward_targets, backward_sources)

#ifdef FOVEA_ENTRY_POINTS

void graph_attention_scores(const GraphAttention& graph, int64_t source_slice,
                            const GraphForward& at) {
  table().scores(graph, source_slice, at);
}

void graph_attention_forward(const GraphAttention& graph, int64_t target_slice,
                             const GraphForward& at) {
  table().forward(graph, target_slice, at);
}

void graph_attention_backward_targets(const GraphAttention& graph, int64_t target_slice,
                                      const GraphBackward& at) {
  table().backward_targets(graph, target_slice, at);
}

void graph_attention_backward_sources(const GraphAttention& graph, int64_t source_slice,
                                      const GraphBackward& at) {
  table().backward_sources(graph, source_slice, at);
}

#endif

}  // namespace fovea::kernels

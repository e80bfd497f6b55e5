#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/graph_attention-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
#define FOVEA_DECLARE(set)                                                                     \
  namespace set {                                                                              \
  void graph_attention_scores(const GraphAttention&, int64_t, const GraphForward&);            \
  void graph_attention_forward(const GraphAttention&, int64_t, const GraphForward&);           \
  void graph_attention_backward_targets(const GraphAttention&, int64_t, const GraphBackward&); \
  void graph_attention_backward_sources(const GraphAttention&, int64_t, const GraphBackward&); \
  }
FOVEA_DECLARE(avx2)
FOVEA_DECLARE(avx512)
#undef FOVEA_DECLARE
#endif

void graph_attention_scores(const GraphAttention& graph, int64_t source_part,
                            const GraphForward& at) {
  FOVEA_PICK(graph_attention_scores)(graph, source_part, at);
}

void graph_attention_forward(const GraphAttention& graph, int64_t target_part,
                             const GraphForward& at) {
  FOVEA_PICK(graph_attention_forward)(graph, target_part, at);
}

void graph_attention_backward_targets(const GraphAttention& graph, int64_t target_part,
                                      const GraphBackward& at) {
  FOVEA_PICK(graph_attention_backward_targets)(graph, target_part, at);
}

void graph_attention_backward_sources(const GraphAttention& graph, int64_t source_part,
                                      const GraphBackward& at) {
  FOVEA_PICK(graph_attention_backward_sources)(graph, source_part, at);
}

}  // namespace fovea::kernels

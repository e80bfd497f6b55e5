#include "fovea/nn/graph/graph_fused.h"

#include <memory>

#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::GraphScore;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What both passes know besides tensors with gradients.
struct Plan {
  FusedEdgeOptions options;
  GraphEdges edges;

  kernels::GraphAttention problem() const {
    kernels::GraphAttention graph;
    graph.score = options.score == "gat"     ? GraphScore::Gat
                  : options.score == "gatv2" ? GraphScore::GatV2
                                             : GraphScore::Uniform;
    graph.heads = options.heads, graph.width = options.width;
    graph.targets = edges.targets, graph.sources = edges.sources;
    graph.begin = edges.begin.data_ptr<int64_t>();
    graph.source = edges.source.data_ptr<int64_t>();
    graph.target = edges.target.data_ptr<int64_t>();
    graph.out_begin = edges.out_begin.data_ptr<int64_t>();
    graph.out_edge = edges.out_edge.data_ptr<int64_t>();
    graph.slope = float(options.slope);
    return graph;
  }
};

/// The order of the function's tensors; one that is not there is empty.
enum Place { kStates, kValues, kGraphQueries, kToTarget, kToSource, kKeep, kInputs };
enum Kept { kTargetScores = kInputs, kSourceScores, kWeights };

const float* raw_numbers(const Tensor& tensor) {
  return tensor.numel() > 0 ? tensor.data_ptr<float>() : nullptr;
}
Tensor present(const Tensor& tensor) {
  return tensor.defined() ? tensor.contiguous() : at::empty({0});
}

class EdgeFunction : public torch::autograd::Function<EdgeFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& states, const Tensor& values,
                        const Tensor& queries, const Tensor& to_target, const Tensor& to_source,
                        const Tensor& keep, const std::shared_ptr<Plan>& plan) {
    const kernels::GraphAttention graph = plan->problem();
    const bool has_scores = graph.score == GraphScore::Gat;
    const auto options = states.options();
    const Tensor target_scores = at::empty({has_scores ? graph.targets : 0, graph.heads}, options),
                 source_scores = at::empty({has_scores ? graph.sources : 0, graph.heads}, options),
                 weights = at::empty({graph.edges(), graph.heads}, options),
                 out = at::empty({graph.targets, graph.row()}, options);
    const float* said = values.numel() > 0 ? raw_numbers(values) : raw_numbers(states);
    const kernels::GraphForward at{raw_numbers(states),
                                   said,
                                   raw_numbers(queries),
                                   raw_numbers(to_target),
                                   raw_numbers(to_source),
                                   raw_numbers(keep),
                                   target_scores.data_ptr<float>(),
                                   source_scores.data_ptr<float>(),
                                   weights.data_ptr<float>(),
                                   out.data_ptr<float>()};
    if (has_scores)
      run_parallel(graph.source_slices(),
                   [&](int64_t slice) { kernels::graph_attention_scores(graph, slice, at); });
    run_parallel(graph.target_slices(),
                 [&](int64_t slice) { kernels::graph_attention_forward(graph, slice, at); });
    context->save_for_backward({states, values, queries, to_target, to_source, keep, target_scores,
                                source_scores, weights});
    context->saved_data["plan"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(plan));
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto holder =
        c10::static_intrusive_pointer_cast<Holder>(context->saved_data["plan"].toCapsule());
    const kernels::GraphAttention graph = holder->plan->problem();
    const Tensor out = gradients[0].contiguous();  // [T, H D]
    const int64_t row = graph.row();
    const bool gat = graph.score == GraphScore::Gat, gatv2 = graph.score == GraphScore::GatV2,
               own_values = saved[kValues].numel() > 0;
    const auto room = [&](bool wanted, int64_t rows, int64_t columns) {
      return at::empty({wanted ? rows : 0, columns}, out.options());
    };
    const Tensor edges = room(gat || gatv2, graph.edges(), graph.heads),
                 scores = room(gat, graph.targets, graph.heads),
                 queries = room(gatv2, graph.targets, row), states = room(true, graph.sources, row),
                 values = room(own_values, graph.sources, row),
                 target_sums = room(gatv2, graph.target_slices(), row),
                 source_sums = room(gat, graph.source_slices(), 2 * row);
    const kernels::GraphBackward at{raw_numbers(saved[kStates]),
                                    raw_numbers(saved[own_values ? kValues : kStates]),
                                    raw_numbers(saved[kGraphQueries]),
                                    raw_numbers(saved[kToTarget]),
                                    raw_numbers(saved[kToSource]),
                                    raw_numbers(saved[kKeep]),
                                    raw_numbers(saved[kTargetScores]),
                                    raw_numbers(saved[kSourceScores]),
                                    raw_numbers(saved[kWeights]),
                                    raw_numbers(out),
                                    edges.data_ptr<float>(),
                                    scores.data_ptr<float>(),
                                    queries.data_ptr<float>(),
                                    states.data_ptr<float>(),
                                    own_values ? values.data_ptr<float>() : nullptr,
                                    target_sums.data_ptr<float>(),
                                    source_sums.data_ptr<float>()};
    run_parallel(graph.target_slices(), [&](int64_t slice) {
      kernels::graph_attention_backward_targets(graph, slice, at);
    });
    run_parallel(graph.source_slices(), [&](int64_t slice) {
      kernels::graph_attention_backward_sources(graph, slice, at);
    });
    const Tensor sums = (gatv2 ? target_sums : source_sums).sum(0);  // [H D] or [2 H D]
    const auto vector = [&](int64_t first) {
      return sums.narrow(0, first, row).view({graph.heads, graph.width});
    };
    return {states,
            own_values ? values : Tensor(),
            gatv2 ? queries : Tensor(),
            gat || gatv2 ? vector(0) : Tensor(),
            gat ? vector(row) : Tensor(),
            Tensor(),
            Tensor()};
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<Plan> p) : plan(std::move(p)) {}
    std::shared_ptr<Plan> plan;
  };
};

}  // namespace

Tensor attend_edges_fused(const FusedEdgeOptions& options, const FusedEdgeInputs& inputs,
                          const GraphEdges& edges) {
  const auto plan = std::make_shared<Plan>(Plan{options, edges});
  return EdgeFunction::apply(inputs.states.contiguous(), present(inputs.values),
                             present(inputs.queries), present(inputs.to_target),
                             present(inputs.to_source), present(inputs.keep), plan);
}

}  // namespace fovea

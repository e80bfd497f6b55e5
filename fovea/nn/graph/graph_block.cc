#include "fovea/nn/graph/graph_block.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

namespace {

std::vector<int64_t> numbers_of(const Tensor& tensor) {
  const Tensor on_cpu = tensor.to(at::kCPU).contiguous();
  return {on_cpu.data_ptr<int64_t>(), on_cpu.data_ptr<int64_t>() + on_cpu.numel()};
}

}  // namespace

Tensor GraphEdges::index() const {
  const Tensor lookers =
      own.defined() ? own.index_select(0, targets_of_edges()) : targets_of_edges();
  return at::stack({lookers, sources_of_edges()});  // [2, E]
}

GraphEdges GraphEdges::of_rows(const Tensor& node) const {
  const Tensor from = begin.index_select(0, node), until = begin.index_select(0, node + 1);  // [B]
  GraphEdges rows;
  rows.targets = node.size(0);
  rows.sources = sources;
  rows.begin = at::cat({at::zeros({1}, begin.options()), (until - from).cumsum(0)});  // [B + 1]
  rows.target = at::repeat_interleave(until - from);                                  // [E]
  rows.count = rows.target.size(0);
  const Tensor within =
      at::arange(rows.count, begin.options()) - rows.begin.index_select(0, rows.target);  // [E]
  const Tensor edge = from.index_select(0, rows.target) + within;                         // [E]
  rows.source = source.index_select(0, edge);
  if (features.defined()) rows.features = features.index_select(0, edge);
  rows.own = own.defined() ? own.index_select(0, node) : node;
  return rows;
}

GraphBlock::GraphBlock(const Batch& batch, int64_t layers)
    : reach_(numbers_of(batch.at("reach"))),
      all_{0,
           0,
           0,
           batch.at("edge_begin"),
           batch.at("edge_source"),
           batch.at("edge_target"),
           batch.at("out_begin"),
           batch.at("out_edge")} {
  if (const auto known = batch.tensors.find("edge_features"); known != batch.tensors.end())
    all_.features = known->second;
  require(int64_t(reach_.size()) == layers + 1, ErrorKind::InvalidArgument,
          "the batch holds neighbours up to ", int64_t(reach_.size()) - 1,
          " steps away; a network of ", layers, " layers needs ", layers);
  const Tensor places = torch::tensor(std::vector<int64_t>(reach_.begin(), reach_.end() - 1));
  ends_ = numbers_of(all_.begin.index_select(0, places.to(all_.begin.device())));
}

GraphEdges GraphBlock::edges(int64_t layer) const {
  const size_t steps = reach_.size() - 1 - size_t(layer);  // to the farthest target
  GraphEdges own = all_;
  own.targets = reach_[steps];
  own.sources = reach_[steps + 1];
  own.count = ends_[steps];
  return own;
}

}  // namespace fovea

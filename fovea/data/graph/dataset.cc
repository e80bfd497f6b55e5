// The nodes of one part of the data as rows.
#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/graph/nodes.h"

namespace fovea {

using at::Tensor;

NodeDataset::NodeDataset(NodeEncoder encoder, NodeRows rows)
    : encoder_(std::move(encoder)), rows_(std::move(rows)) {
  require(rows_.nodes.size() == rows_.classes.size(), ErrorKind::Internal, rows_.nodes.size(),
          " nodes with ", rows_.classes.size(), " classes");
  if (rows_.neighbours == 0) return;
  NodeRows all = rows_;
  all.neighbours = 0;
  complete_ = std::make_shared<const NodeDataset>(encoder_, std::move(all));
}

size_t NodeDataset::checked(int64_t row) const {
  require(row >= 0 && row < size(), ErrorKind::InvalidArgument, "row ", row, " is not in 0 … ",
          size() - 1);
  return size_t(row);
}

const std::string& NodeDataset::name(int64_t row) const {
  return encoder_.graph().name(rows_.nodes[checked(row)]);
}

Example NodeDataset::example(int64_t row) const {
  const size_t at = checked(row);
  Example example = encoder_.example(rows_.nodes[at], rows_.seen.get());
  example.tensors["target"] = at::scalar_tensor(rows_.classes[at], at::kLong);
  if (has_truth()) {
    const Tensor marks = truth({&row, 1});  // [1, K]
    if (marks.any().item<bool>()) example.truth["neighbours"] = marks;
  }
  return example;
}

Tensor NodeDataset::truth(std::span<const int64_t> rows) const {
  std::vector<std::vector<char>> marks;
  size_t longest = 0;
  for (const int64_t row : rows) {
    const int64_t node = rows_.nodes[checked(row)];
    std::vector<char> own{(*rows_.informative)[size_t(node)]};
    for (const int64_t other : encoder_.graph().neighbours(node))
      if (!rows_.seen || (*rows_.seen)[size_t(other)])
        own.push_back((*rows_.informative)[size_t(other)]);
    longest = std::max(longest, own.size());
    marks.push_back(std::move(own));
  }
  const Tensor all = at::zeros({int64_t(rows.size()), int64_t(longest)}, at::kBool);
  for (size_t i = 0; i < marks.size(); ++i)
    for (size_t k = 0; k < marks[i].size(); ++k)
      all.data_ptr<bool>()[i * longest + k] = marks[i][k] != 0;
  return all;
}

NamedTensors NodeDataset::shared_tensors(std::span<const int64_t> rows,
                                         std::vector<int64_t>& places) const {
  std::vector<int64_t> targets;
  for (const int64_t row : rows) targets.push_back(rows_.nodes[checked(row)]);
  LookOptions options;
  options.hops = encoder_.hops();
  options.neighbours = rows_.neighbours;
  options.seen = rows_.seen.get();
  options.random = Random(rows_.seed).split("neighbours");
  if (options.neighbours > 0)
    for (const int64_t row : rows) options.random = options.random.split(uint64_t(row));
  const Subgraph around = k_hop_subgraph(encoder_.graph(), targets, options);
  const auto last = around.nodes.begin() + around.reach[0];
  for (const int64_t node : targets)
    places.push_back(std::lower_bound(around.nodes.begin(), last, node) - around.nodes.begin());
  return encoder_.tensors(around);
}

Batch NodeDataset::batch(std::span<const int64_t> rows) const {
  Batch batch{{}, int64_t(rows.size())};
  std::vector<int64_t> places, classes;
  const bool whole = rows_.neighbours == 0 && batch.size == size();
  if (whole) {
    // In any order: what the rows see, and in which order it stands, does not depend on theirs.
    const std::lock_guard lock(mutex_);
    if (whole_.empty()) {
      std::vector<int64_t> all(rows.size());
      std::iota(all.begin(), all.end(), int64_t{0});
      whole_ = shared_tensors(all, whole_places_);
    }
    batch.tensors = whole_;
    for (const int64_t row : rows) places.push_back(whole_places_[checked(row)]);
  } else {
    batch.tensors = shared_tensors(rows, places);
  }
  for (const int64_t row : rows) classes.push_back(rows_.classes[checked(row)]);
  batch.tensors["node"] = at::tensor(places, at::kLong);
  batch.tensors["target"] = at::tensor(classes, at::kLong);
  return batch;
}

}  // namespace fovea

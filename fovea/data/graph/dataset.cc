// The nodes of one split of the data as rows.
#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/graph/nodes.h"

namespace fovea {

using at::Tensor;

NodeDataset::NodeDataset(NodeEncoder encoder, NodeRows rows)
    : encoder_(std::move(encoder)), rows_(std::move(rows)) {
  const size_t answers = rows_.label_count > 0 ? rows_.labels.size() : rows_.classes.size();
  require(rows_.nodes.size() == answers, ErrorKind::Internal, rows_.nodes.size(), " nodes with ",
          answers, " classes");
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
  example.tensors["target"] = targets({&row, 1}).squeeze(0);
  example.truth = planted_truth(row);
  return example;
}

NamedTensors NodeDataset::planted_truth(int64_t row) const {
  if (!has_truth()) return {};
  const int64_t node = rows_.nodes[checked(row)];
  std::vector<char> marks{(*rows_.informative)[size_t(node)]};
  for (const int64_t other : encoder_.graph().neighbours(node))
    if (!rows_.seen || (*rows_.seen)[size_t(other)])
      marks.push_back((*rows_.informative)[size_t(other)]);
  if (std::find(marks.begin(), marks.end(), 1) == marks.end()) return {};
  const Tensor truth = at::empty({1, int64_t(marks.size())}, at::kBool);
  std::copy(marks.begin(), marks.end(), truth.data_ptr<bool>());
  return {{"neighbours", truth}};
}

NamedTensors NodeDataset::shared_tensors(std::span<const int64_t> rows, int64_t neighbours,
                                         std::vector<int64_t>& places) const {
  std::vector<int64_t> targets;
  for (const int64_t row : rows) targets.push_back(rows_.nodes[checked(row)]);
  LookOptions options;
  options.hops = encoder_.hops();
  options.neighbours = neighbours;
  options.seen = rows_.seen.get();
  options.random = Random(rows_.seed).split("neighbours");
  if (neighbours > 0)
    for (const int64_t row : rows) options.random = options.random.split(uint64_t(row));
  const Subgraph around = k_hop_subgraph(encoder_.graph(), targets, options);
  const auto last = around.nodes.begin() + around.reach[0];
  for (const int64_t node : targets)
    places.push_back(std::lower_bound(around.nodes.begin(), last, node) - around.nodes.begin());
  return encoder_.tensors(around);
}

Tensor NodeDataset::targets(std::span<const int64_t> rows) const {
  if (rows_.label_count == 0) {
    std::vector<int64_t> classes;
    for (const int64_t row : rows) classes.push_back(rows_.classes[checked(row)]);
    return at::tensor(classes, at::kLong);
  }
  const Tensor all = at::zeros({int64_t(rows.size()), rows_.label_count});
  for (size_t i = 0; i < rows.size(); ++i)
    for (const int64_t label : rows_.labels[checked(rows[i])])
      all.data_ptr<float>()[int64_t(i) * rows_.label_count + label] = 1;
  return all;
}

Batch NodeDataset::labelled(NamedTensors tensors, std::span<const int64_t> rows,
                            std::vector<int64_t> places) const {
  tensors["node"] = at::tensor(places, at::kLong);
  tensors["target"] = targets(rows);
  return {std::move(tensors), int64_t(rows.size())};
}

Batch NodeDataset::batch(std::span<const int64_t> rows) const {
  std::vector<int64_t> places;
  if (int64_t(rows.size()) != size()) {
    NamedTensors tensors = shared_tensors(rows, 0, places);
    return labelled(std::move(tensors), rows, std::move(places));
  }
  // In any order: what the rows see, and in which order it stands, does not depend on theirs.
  const std::lock_guard lock(mutex_);
  if (whole_.empty()) {
    std::vector<int64_t> all(rows.size());
    std::iota(all.begin(), all.end(), int64_t{0});
    whole_ = shared_tensors(all, 0, whole_places_);
  }
  for (const int64_t row : rows) places.push_back(whole_places_[checked(row)]);
  return labelled(whole_, rows, std::move(places));
}

Batch NodeDataset::augmented_batch(std::span<const int64_t> rows, const Random&) const {
  if (rows_.neighbours == 0) return batch(rows);
  std::vector<int64_t> places;
  NamedTensors tensors = shared_tensors(rows, rows_.neighbours, places);
  return labelled(std::move(tensors), rows, std::move(places));
}

}  // namespace fovea

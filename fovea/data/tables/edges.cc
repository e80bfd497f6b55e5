#include "fovea/data/tables/edges.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fovea {

namespace {

/// The rows [begin, end) in the order of their values, and the best place to split them.
struct TreeNode {
  int64_t begin = 0, end = 0;
  int64_t split = -1;  // the first row of the right side; -1: nothing is gained
  double gain = 0;
};

/// Grows the tree on rows that are sorted by their values.
class EdgeTree {
 public:
  EdgeTree(std::span<const double> values, const SplitTarget& target) : target_(target) {
    for (int64_t row = 0; row < int64_t(values.size()); ++row)
      if (!std::isnan(values[size_t(row)])) sorted_.push_back({values[size_t(row)], row});
    std::sort(sorted_.begin(), sorted_.end());
    // Small enough for values that stand out, such as sums that a rule prescribes.
    constexpr int64_t kSmallestLeaf = 8, kMostLeaves = 2000;
    smallest_leaf_ = std::max(kSmallestLeaf, int64_t(sorted_.size()) / kMostLeaves);
    left_.resize(size_t(target.class_count));
    right_.resize(size_t(target.class_count));
  }

  int64_t rows() const { return int64_t(sorted_.size()); }
  double value(int64_t place) const { return sorted_[size_t(place)].first; }

  /// At most `most` different values; empty where there are more.
  std::vector<double> few_values(int64_t most) const {
    std::vector<double> found;
    for (const auto& [value, row] : sorted_) {
      if (!found.empty() && value == found.back()) continue;
      if (int64_t(found.size()) == most) return {};
      found.push_back(value);
    }
    return found;
  }

  std::vector<double> thresholds(int64_t bins) {
    std::vector<TreeNode> leaves{best_split(0, rows())};
    const auto less_gain = [](const TreeNode& a, const TreeNode& b) { return a.gain < b.gain; };
    while (int64_t(leaves.size()) < bins) {
      const auto best = std::max_element(leaves.begin(), leaves.end(), less_gain);
      if (best->split < 0) break;
      split_node(leaves, *best);
    }
    complete(leaves, std::max<int64_t>(bins / 3, std::min<int64_t>(bins, 4)));
    std::vector<double> found;
    for (const TreeNode& leaf : leaves)
      if (leaf.begin > 0) found.push_back(std::midpoint(value(leaf.begin - 1), value(leaf.begin)));
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  void split_node(std::vector<TreeNode>& leaves, TreeNode node) {
    leaves.push_back(best_split(node.split, node.end));
    for (TreeNode& leaf : leaves)
      if (leaf.begin == node.begin) leaf = best_split(node.begin, node.split);
  }

  /// Splits the leaf with the most rows at its middle until there are `least`.
  void complete(std::vector<TreeNode>& leaves, int64_t least) const {
    for (TreeNode& leaf : leaves) leaf = middle_split(leaf.begin, leaf.end);
    const auto fewer_rows = [](const TreeNode& a, const TreeNode& b) {
      return (a.split < 0 ? 0 : a.end - a.begin) < (b.split < 0 ? 0 : b.end - b.begin);
    };
    while (int64_t(leaves.size()) < least) {
      const auto largest = std::max_element(leaves.begin(), leaves.end(), fewer_rows);
      if (largest->split < 0) return;
      const TreeNode node = *largest;
      *largest = middle_split(node.begin, node.split);
      leaves.push_back(middle_split(node.split, node.end));
    }
  }

  /// Where the value changes nearest to the middle, with enough rows on both sides.
  TreeNode middle_split(int64_t begin, int64_t end) const {
    TreeNode node{begin, end};
    const int64_t middle = begin + (end - begin) / 2;
    for (int64_t away = 0; away <= (end - begin) / 2; ++away)
      for (const int64_t place : {middle + away, middle - away})
        if (place - begin >= smallest_leaf_ && end - place >= smallest_leaf_ &&
            value(place - 1) < value(place))
          return node.split = place, node;
    return node;
  }

  TreeNode best_split(int64_t begin, int64_t end) {
    TreeNode node{begin, end};
    if (end - begin < 2 * smallest_leaf_) return node;
    return target_.class_count > 0 ? best_class_split(node) : best_value_split(node);
  }

  /// gain = S_l² / n_l + S_r² / n_r - S² / n. Of noise alone it is about the variance, and the best
  /// of many places seldom above kNoise times as much.
  TreeNode best_value_split(TreeNode node) const {
    double sum = 0, squares = 0;
    for (int64_t i = node.begin; i < node.end; ++i) {
      const double y = target_.values[size_t(sorted_[size_t(i)].second)];
      sum += y, squares += y * y;
    }
    const double count = double(node.end - node.begin), whole = sum * sum / count;
    node.gain = kNoise * (squares - whole) / count;
    double left = 0;
    for (int64_t i = node.begin; i + smallest_leaf_ < node.end; ++i) {
      left += target_.values[size_t(sorted_[size_t(i)].second)];
      const double n = double(i + 1 - node.begin);
      if (i + 1 - node.begin < smallest_leaf_ || value(i) == value(i + 1)) continue;
      const double right = sum - left;
      const double gain = left * left / n + right * right / (count - n) - whole;
      if (gain > node.gain) node.gain = gain, node.split = i + 1;
    }
    if (node.split < 0) node.gain = 0;
    return node;
  }

  /// The same of the 0/1 numbers of all classes together: Gini impurity.
  TreeNode best_class_split(TreeNode node) {
    std::fill(left_.begin(), left_.end(), 0);
    std::fill(right_.begin(), right_.end(), 0);
    const auto class_at = [&](int64_t place) {
      return size_t(target_.classes[size_t(sorted_[size_t(place)].second)]);
    };
    for (int64_t i = node.begin; i < node.end; ++i) ++right_[class_at(i)];
    double left_squares = 0, right_squares = 0;
    for (const int64_t own : right_) right_squares += double(own) * double(own);
    const double count = double(node.end - node.begin), whole = right_squares / count;
    const double noise = 1 + (kNoise - 1) / std::sqrt(double(target_.class_count - 1));
    node.gain = noise * (1 - whole / count);
    for (int64_t i = node.begin; i + smallest_leaf_ < node.end; ++i) {
      const size_t own = class_at(i);
      left_squares += double(2 * left_[own]++ + 1);
      right_squares -= double(2 * right_[own]-- - 1);
      const double n = double(i + 1 - node.begin);
      if (i + 1 - node.begin < smallest_leaf_ || value(i) == value(i + 1)) continue;
      const double gain = left_squares / n + right_squares / (count - n) - whole;
      if (gain > node.gain) node.gain = gain, node.split = i + 1;
    }
    if (node.split < 0) node.gain = 0;
    return node;
  }

  static constexpr double kNoise = 8;
  SplitTarget target_;
  int64_t smallest_leaf_ = 1;
  std::vector<std::pair<double, int64_t>> sorted_;  // value, row
  std::vector<int64_t> left_, right_;               // rows of each class
};

}  // namespace

UsualRange usual_range(std::span<const double> sorted) {
  constexpr size_t kEnoughRows = 20;
  const size_t extremes =
      sorted.size() < kEnoughRows ? 0 : std::max<size_t>(1, sorted.size() / 1000);
  const UsualRange usual{sorted[extremes], sorted[sorted.size() - 1 - extremes]};
  return usual.low < usual.high ? usual : UsualRange{sorted.front(), sorted.back()};
}

std::vector<double> fit_edges(std::span<const double> values, const SplitTarget& target,
                              int64_t bins) {
  if (bins < 1) return {};
  EdgeTree tree(values, target);
  if (tree.rows() == 0) return {};
  std::vector<double> edges = tree.few_values(bins + 1);
  if (!edges.empty()) return edges.size() == 1 ? std::vector<double>{} : edges;
  std::vector<double> sorted;
  for (int64_t i = 0; i < tree.rows(); ++i) sorted.push_back(tree.value(i));
  const UsualRange usual = usual_range(sorted);
  edges = {usual.low};
  for (const double threshold : tree.thresholds(bins))
    if (threshold > edges.back() && threshold < usual.high) edges.push_back(threshold);
  edges.push_back(usual.high);
  return edges;
}

}  // namespace fovea

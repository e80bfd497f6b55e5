#include "fovea/explain/import/axes.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

bool equal_axes(const Axis& a, const Axis& b) {
  const auto equal_spans = [](const Span& left, const Span& right) {
    return left.begin == right.begin && left.end == right.end;
  };
  return a.labels == b.labels && a.kind == b.kind && a.output == b.output && a.text == b.text &&
         std::equal(a.spans.begin(), a.spans.end(), b.spans.begin(), b.spans.end(), equal_spans);
}

Axis numbered_axis(const std::string& name, int64_t size) {
  Axis axis{name, "position", {}};
  for (int64_t i = 0; i < size; ++i) axis.labels.push_back(std::to_string(i));
  return axis;
}

/// Decoders that continue a text are padded before it. Then the last query, which is no padding,
/// has nothing on the first keys; padded behind, it has nothing on the last ones.
bool is_padded_left(const at::Tensor& weights, int64_t count) {
  const int64_t keys = weights.size(3), padding = keys - count;
  const at::Tensor last = weights.select(2, weights.size(2) - 1)
                              .to(at::kDouble)
                              .abs()
                              .nan_to_num(0, 0, 0)
                              .reshape({-1, keys})
                              .sum(0);  // [K]
  const double total = last.sum().item<double>(), negligible = 1e-6 * total;
  return last.narrow(0, 0, padding).sum().item<double>() <= negligible &&
         last.narrow(0, count, padding).sum().item<double>() > negligible;
}

/// The most that a labelled query puts on keys beyond the slice.
double largest_loss(const at::Tensor& weights, const AxisSlice& queries, const AxisSlice& keys) {
  const at::Tensor rows = weights.narrow(2, queries.begin, queries.count)
                              .to(at::kDouble)
                              .abs()
                              .nan_to_num(0, 0, 0);  // [L, H, Q, K]
  const at::Tensor kept = rows.narrow(3, keys.begin, keys.count).sum(-1);
  return (rows.sum(-1) - kept).max().item<double>();
}

}  // namespace

ImportedAxes::ImportedAxes(const std::vector<AttentionStack>& stacks,
                           const std::vector<TensorPlace>& places, const ImportedLabels& labels)
    : labels_(labels) {
  std::set<AttentionRole> roles;
  for (const TensorPlace& place : places) {
    const AttentionStack& stack = stacks[place.tensor];
    roles.insert(attention_role(stack.name));
    if (!stack.prediction) sizes_.insert(stack.weights.size(2));
    sizes_.insert(stack.weights.size(3));
  }
  two_texts_ = roles.count(AttentionRole::Cross) > 0 ||
               (roles.count(AttentionRole::Encoder) > 0 && roles.count(AttentionRole::Decoder) > 0);
}

const PairLabels* ImportedAxes::own_labels(const AttentionStack& stack,
                                           const TensorPlace& place) const {
  for (const std::string& name : {stack.name, place.family})
    if (const auto found = labels_.tensors.find(name); found != labels_.tensors.end())
      return &found->second;
  return nullptr;
}

/// Labels that fit another dimension exactly are those of that one; else they may be fewer than the
/// units, which are padded then.
const UnitLabels* ImportedAxes::fitting(const UnitLabels& units, int64_t size,
                                        const std::set<int64_t>& sizes) const {
  const auto count = int64_t(units.labels.size());
  if (units.empty() || (count != size && sizes.count(count) > 0)) return nullptr;
  return &units;
}

ImportedAxes::Sides ImportedAxes::find_sides(const AttentionStack& stack,
                                             const TensorPlace& place) const {
  const int64_t queries = stack.weights.size(2), keys = stack.weights.size(3);
  const PairLabels* own = own_labels(stack, place);
  const PairLabels& pair = own ? *own : labels_.common;
  const std::set<int64_t>& sizes = own ? std::set<int64_t>{queries, keys} : sizes_;
  const bool one_list = pair.queries.empty() || pair.keys.empty();
  const UnitLabels& only = pair.keys.empty() ? pair.queries : pair.keys;
  const AttentionRole role = attention_role(stack.name);
  const bool self =
      two_texts_ && (role == AttentionRole::Encoder || role == AttentionRole::Decoder);
  Sides sides;
  sides.queries.family = sides.keys.family = place.family;
  sides.same = !stack.prediction && queries == keys && role != AttentionRole::Cross &&
               (one_list || (self && !own) || pair.queries.labels == pair.keys.labels);
  if (sides.same) {
    const bool target = self && role == AttentionRole::Decoder;
    const UnitLabels& units = one_list ? only : target ? pair.queries : pair.keys;
    sides.keys.name = target ? "target" : self ? "source" : "tokens";
    sides.keys.units = fitting(units, keys, sizes);
    sides.keys.output = target;
    return sides;
  }
  const bool translates = two_texts_ || role == AttentionRole::Cross;
  sides.queries.name = translates ? "target" : "queries";
  sides.queries.output = translates;
  sides.keys.name = translates ? "source" : "keys";
  if (!one_list) {
    sides.queries.units = fitting(pair.queries, queries, sizes);
    sides.keys.units = fitting(pair.keys, keys, sizes);
    return sides;
  }
  // A plain list is that of the keys, unless it can only be that of the queries.
  const auto count = int64_t(only.labels.size());
  const bool of_queries =
      !stack.prediction && (pair.keys.empty() || (count == queries && count != keys));
  if (of_queries)
    sides.queries.units = fitting(only, queries, sizes);
  else
    sides.keys.units = fitting(only, keys, sizes);
  return sides;
}

AxisSlice ImportedAxes::slice_axis(const Side& side, int64_t size, bool left,
                                   const AttentionStack& stack) {
  if (side.units == nullptr) {
    if (!labels_.empty())
      note(concat("no labels fit the ", size, " units of the axis '", side.name, "' of '",
                  side.family, "': they are numbered"));
    return {add_axis(numbered_axis(side.name, size)), 0, size};
  }
  const auto count = int64_t(side.units->labels.size());
  require(count <= size, ErrorKind::InvalidArgument, "tensor '", stack.name, "' of shape ",
          stack.shape, " has ", size, " units on the axis '", side.name, "', found ", count,
          " labels for them");
  if (count < size)
    note(concat("the axis '", side.name, "' has ", size, " units and ", count,
                " labels: padding of ", size - count, left ? " before" : " behind",
                " them is cut off"));
  Axis axis{side.name, "token", side.units->labels};
  axis.output = side.output;
  if (!side.units->spans.empty()) axis.text = side.units->text, axis.spans = side.units->spans;
  return {add_axis(std::move(axis)), left ? size - count : 0, count};
}

ImportedAxes::Slices ImportedAxes::slice_axes(const AttentionStack& stack,
                                              const TensorPlace& place) {
  const int64_t queries = stack.weights.size(2), keys = stack.weights.size(3);
  const Sides sides = find_sides(stack, place);
  const auto labelled =
      sides.keys.units == nullptr ? keys : int64_t(sides.keys.units->labels.size());
  const bool left = labelled < keys && is_padded_left(stack.weights, labelled);
  Slices slices;
  slices.keys = slice_axis(sides.keys, keys, left, stack);
  slices.queries = stack.prediction ? AxisSlice{"", 0, 1}
                   : sides.same     ? slices.keys
                                    : slice_axis(sides.queries, queries, false, stack);
  if (slices.keys.count < keys) {
    double& loss = losses_[place.family];
    loss = std::max(loss, largest_loss(stack.weights, slices.queries, slices.keys));
  }
  return slices;
}

const std::vector<std::string>& ImportedAxes::labels(const std::string& axis) const {
  static const std::vector<std::string> kPrediction{"prediction"};
  for (const Axis& known : axes_)
    if (known.name == axis) return known.labels;
  return kPrediction;
}

std::string ImportedAxes::add_axis(Axis axis) {
  const std::string base = axis.name;
  for (int number = 2;; ++number) {
    const auto known =
        std::ranges::find_if(axes_, [&](const Axis& other) { return other.name == axis.name; });
    if (known == axes_.end()) break;
    if (equal_axes(*known, axis)) return axis.name;
    axis.name = concat(base, "-", number);
  }
  axes_.push_back(std::move(axis));
  return axes_.back().name;
}

std::vector<std::string> ImportedAxes::notes() const {
  constexpr double kNoticed = 1e-3;
  std::vector<std::string> notes = notes_;
  for (const auto& [family, loss] : losses_)
    if (loss > kNoticed)
      notes.push_back(concat("'", family, "' puts up to ", format_number(loss, 2),
                             " of a row on keys that were cut off: they may be no padding"));
  return notes;
}

void ImportedAxes::note(const std::string& text) {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(text);
}

}  // namespace fovea

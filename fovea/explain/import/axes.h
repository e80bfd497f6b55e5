// Axes for attention from elsewhere: which labels belong to the queries and keys of a tensor, and
// what of it is padding. Internal to import.h.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fovea/explain/import/dimensions.h"
#include "fovea/explain/import/labels.h"
#include "fovea/explain/import/names.h"

namespace fovea {

/// The units of an axis that have labels: begin … begin+count-1 of its dimension.
struct AxisSlice {
  std::string axis;  // "" for the one prediction
  int64_t begin = 0, count = 0;
};

class ImportedAxes {
 public:
  /// `stacks` and `places` are all that will be asked for.
  ImportedAxes(const std::vector<AttentionStack>& stacks, const std::vector<TensorPlace>& places,
               const ImportedLabels& labels);

  struct Slices {
    AxisSlice queries, keys;
  };
  /// InvalidArgument, with both numbers, when there are more labels than units.
  Slices slice_axes(const AttentionStack& stack, const TensorPlace& place);

  const std::vector<std::string>& labels(const std::string& axis) const;
  std::vector<Axis> take_axes() { return std::move(axes_); }
  std::vector<std::string> notes() const;

 private:
  /// One side of a tensor: what it is called, and its labels, if there are any.
  struct Side {
    std::string name, family;
    const UnitLabels* units = nullptr;
    bool output = false;  // the model put these units out
  };
  struct Sides {
    Side queries, keys;
    bool same = false;  // both are one axis
  };
  Sides find_sides(const AttentionStack& stack, const TensorPlace& place) const;
  const PairLabels* own_labels(const AttentionStack& stack, const TensorPlace& place) const;
  const UnitLabels* fitting(const UnitLabels& units, int64_t size,
                            const std::set<int64_t>& sizes) const;
  AxisSlice slice_axis(const Side& side, int64_t size, bool left, const AttentionStack& stack);
  std::string add_axis(Axis axis);
  void note(const std::string& text);

  const ImportedLabels& labels_;
  bool two_texts_ = false;   // an encoder and a decoder: source and target
  std::set<int64_t> sizes_;  // of all queries and keys
  std::vector<Axis> axes_;
  std::vector<std::string> notes_;
  std::map<std::string, double> losses_;  // by family: the most of a row that was cut off
};

}  // namespace fovea

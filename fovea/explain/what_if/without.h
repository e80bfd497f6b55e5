// The input without some of its units: which can be taken away, by place or by label, and the
// example that is left. What "away" means is up to the kind of data (Predictor::erase).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/tensor/predictor.h"

namespace fovea {

/// Units of one axis of an input, by their places from 0.
struct AxisUnits {
  std::string axis;
  std::vector<int64_t> units;
};

/// The axes of an input that have units to lose, by name.
std::vector<std::string> axes_with_units(const Example& example);

/// InvalidArgument, with the nearest, for an axis that is not one of them.
void check_axis(const Example& example, const std::string& name);

/// Says what is wrong with them, by name: an axis that the input does not have (with the nearest)
/// or that the model puts out, a place that is not there, one that is named twice, a unit that is
/// no part of the input ([CLS]), all units of an axis. InvalidArgument.
void check_away(const Example& example, std::span<const AxisUnits> away);

/// "AXIS:UNIT,UNIT", where a unit is a label that stands there once, or #3 for the third. Checked
/// but for what only all of them together show. InvalidArgument, for a slip with the nearest label.
AxisUnits parse_away(const std::string& text, const Example& example);

/// The units of one axis in one list, in the order of the axes' first names.
std::vector<AxisUnits> by_axis(std::span<const AxisUnits> away);

/// The example without all of them. Unsupported for an axis that cannot lose units.
Example without_units(const Predictor& predictor, const Example& example,
                      std::span<const AxisUnits> away);

}  // namespace fovea

// An example without some units of an axis. What "not there" means depends on the kind of unit; the
// sizes stay, so that everything that was learned about the axis still fits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/vocabulary.h"
#include "fovea/tensor/example.h"

namespace fovea {

/// Symbols of the tensor [S] become the unknown one.
Example erase_symbols(const Example& example, const std::string& tensor,
                      std::span<const int64_t> units, int64_t unknown = Vocabulary::kUnknown);

/// Units of the axis `symbols`, which a tensor is called after, or all symbols in units of the axis
/// `groups` that they lie in. Unsupported for another axis.
Example erase_nested(const Example& example, const std::string& symbols, const std::string& groups,
                     const std::string& axis, std::span<const int64_t> units);

/// Inputs of the tensor [I] that belong to the units become their means over the training rows.
/// Input i belongs to unit unit_of[i], or to unit i where `unit_of` is empty.
Example erase_inputs(const Example& example, const std::string& tensor,
                     std::span<const int64_t> units, const std::vector<int64_t>& unit_of,
                     const std::vector<double>& means);

/// Rows of the tensor [S, F] become 0: the mean of standardised series.
Example erase_steps(const Example& example, const std::string& tensor,
                    std::span<const int64_t> units);

}  // namespace fovea

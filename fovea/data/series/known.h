// Scales of series, and columns that are known in advance: how they are learned and how one cell of
// them is encoded.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/series/encoder.h"

namespace fovea {

/// Of the known values; deviation 1 where they never change.
SeriesScale fit_series_scale(std::span<const double> values, bool* constant = nullptr);

/// Numbers where every cell is one, else words, at most kMostLevels of them: the most frequent.
KnownColumn fit_known_column(const std::string& name, bool is_static,
                             std::span<const std::string_view> cells,
                             std::vector<std::string>& notes);

/// Writes column.width() numbers. A missing cell is 0, the mean; a word that training did not see
/// is none of them. BadData for text where numbers are due.
void encode_known_cell(const KnownColumn& column, std::string_view cell, const std::string& place,
                       float* to);
/// What such numbers stand for; null where it is not known.
Json decode_known_cell(const KnownColumn& column, const float* from);

}  // namespace fovea

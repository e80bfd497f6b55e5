// Which picture suits which map, and what of a large map is shown. Shared by the terminal and the
// canvas, so that both tell the same story. One query: bars. A group of maps: one panel per query,
// one series per map. Several queries: a matrix.
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/record/explanation.h"

namespace fovea {

enum class BarOrder {
  Automatic,  // as the data has them up to 20 keys, else by weight
  Keys,       // as the data has them
  Weights,    // the heaviest first
};

struct PictureOptions {
  BarOrder order = BarOrder::Automatic;
  size_t most_bars = 30;  // of a larger map the heaviest are shown, and the rest as one sum
};

enum class FigureKind { Bars, Panels, Matrix };

struct Figure {
  FigureKind kind = FigureKind::Bars;
  std::vector<const MapView*> series;  // one for bars and matrices; all with the same labels
  const MapView& map() const { return *series.front(); }
  std::string title() const;  // of all series
  bool has_truth() const;
  bool is_true(size_t query, size_t key) const;
};

/// The maps of an explanation as figures, in order. The figures point into `explanation`.
std::vector<Figure> arrange(const Explanation& explanation);

/// "context → position", or "" when the map names no query axis.
std::string axes_text(const MapView& map);

/// The notes of an explanation and what drawing it adds: gaps where weights are not numbers.
std::vector<std::string> drawing_notes(const Explanation& explanation);

/// The keys that bars show, in drawing order, and the rest.
struct BarSelection {
  std::vector<size_t> keys;
  size_t hidden = 0;
  double hidden_sum = 0;  // of magnitudes
};

/// `rows` are magnitudes of the same keys [K each]; a key ranks by its largest.
BarSelection select_bars(const std::vector<std::vector<double>>& rows,
                         const PictureOptions& options);

/// "… and 74 more, together 0.12".
std::string hidden_text(const BarSelection& selection, const std::string& ellipsis);

/// One row of a map as magnitudes [K]; NaN stays.
std::vector<double> magnitudes(const MapView& map, size_t query);

/// What a panel shows: weights of distributions, partial maps and gates as they are; of free maps
/// and contributions the share of the row's total magnitude. `scale` is what a weight was
/// multiplied with.
struct PanelRow {
  std::vector<double> heights;  // [K], in 0..1, NaN for gaps
  double scale = 1;
};
PanelRow panel_row(const MapView& map, size_t query);

/// Whether panel_row() shows shares of the map instead of its weights.
bool shows_shares(const MapView& map);

/// One panel: a row per series, and the keys that are shown, in their own order unless the options
/// say another.
struct PanelRows {
  std::vector<PanelRow> series;
  BarSelection selection;
};
PanelRows panel_rows(const Figure& figure, size_t query, PictureOptions options);

/// What is said of the answer, each a line: the answer, the truth, what was cut of the input.
std::vector<std::string> heading_lines(const Explanation& explanation);

/// What was taken away from the input, and the answer to the whole.
std::vector<std::string> without_lines(const TakenAway& without);

/// Whether this map shows what the model used: the answer to that question in a sentence. Nothing
/// is said of a map for another one, or for a part of it.
std::string verdict_sentence(const Explanation& explanation, const MapView& map);

/// The weight of each key where all are looked at alike; 0 for weights that are no shares of 1.
double equal_share(const MapView& map);

/// "0.25: the equal share, all looked at alike".
std::string equal_text(double equal);

/// How weights become shades, as on the web page: as a share of the largest, but where weights are
/// shares of 1 never of less than four equal shares, so that an even map looks even and pale. Of
/// many keys most weights are small: their shades follow the root.
struct ShadeScale {
  double ceiling = 0;  // has the last shade; 0 where there is none
  double equal = 0;    // equal_share()
  double power = 1;
  double share(double weight) const;  // of the last shade, for a magnitude
  double weight(double share) const;
  bool has_mark() const { return equal > 0 && equal < ceiling; }
};

/// A map reduced to at most so many rows and columns: each cell keeps the weight of largest
/// magnitude that falls into it.
struct MatrixCells {
  size_t rows = 0, columns = 0;
  size_t row_step = 1, column_step = 1;  // how many queries and keys share a cell
  std::vector<std::string> row_labels,
      column_labels;  // of the first in each cell, with visible_blanks()
  std::vector<double> values;
  std::vector<char> truth;
  ShadeScale scale;
  bool has_negative = false, has_gap = false, has_truth = false;
};
MatrixCells max_pool(const MapView& map, size_t most_rows, size_t most_columns);

/// "each cell shows the largest of 3 x 25 weights", or "" when nothing was reduced.
std::string pooling_text(const MatrixCells& cells);

}  // namespace fovea

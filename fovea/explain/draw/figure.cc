#include "fovea/explain/draw/figure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "fovea/base/text.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr size_t kMostKeysInOrder = 20;

bool fits(const Figure& figure, const MapView& map) {
  const MapView& first = figure.map();
  return figure.kind == FigureKind::Panels && first.group == map.group &&
         first.query_labels == map.query_labels && first.key_labels == map.key_labels;
}

double finite_sum(const std::vector<double>& row) {
  double sum = 0;
  for (const double value : row)
    if (std::isfinite(value)) sum += value;
  return sum;
}

}  // namespace

std::string Figure::title() const {
  std::vector<std::string> titles;
  for (const MapView* map : series) titles.push_back(map->title);
  return join(titles);
}

bool Figure::has_truth() const {
  return std::ranges::any_of(series, [](const MapView* map) { return !map->truth.empty(); });
}

bool Figure::is_true(size_t query, size_t key) const {
  return std::ranges::any_of(series, [&](const MapView* map) { return map->is_true(query, key); });
}

std::vector<Figure> arrange(const Explanation& explanation) {
  std::vector<Figure> figures;
  for (const MapView& map : explanation.maps) {
    check_sizes(map);
    if (map.layout != MapLayout::Dense) continue;  // drawing_notes() says so
    if (map.group.empty()) {
      figures.push_back({map.queries() > 1 ? FigureKind::Matrix : FigureKind::Bars, {&map}});
      continue;
    }
    const auto same =
        std::ranges::find_if(figures, [&](const Figure& figure) { return fits(figure, map); });
    if (same != figures.end()) {
      same->series.push_back(&map);
    } else {
      figures.push_back({FigureKind::Panels, {&map}});
    }
  }
  return figures;
}

std::string axes_text(const MapView& map) {
  return map.query_axis.empty() ? "" : concat(map.query_axis, " → ", map.key_axis);
}

std::vector<std::string> drawing_notes(const Explanation& explanation) {
  std::vector<std::string> notes = explanation.notes;
  std::set<std::string> not_drawn;  // once for all layers
  for (const MapView& map : explanation.maps) {
    if (map.layout != MapLayout::Dense && not_drawn.insert(map.name).second)
      notes.push_back(concat("map '", map.name, "' is not drawn here: its layout is ",
                             name_of(map.layout), "; a report (.html) shows it"));
    const auto gaps =
        std::ranges::count_if(map.weights, [](double weight) { return !std::isfinite(weight); });
    if (gaps > 0)
      notes.push_back(concat("map '", map.name, "': ", format_count(gaps), " of ",
                             format_count(int64_t(map.weights.size())),
                             " weights are not numbers and are left blank"));
  }
  return notes;
}

BarSelection select_bars(const std::vector<std::vector<double>>& rows,
                         const PictureOptions& options) {
  const size_t keys = rows.empty() ? 0 : rows.front().size();
  std::vector<double> rank(keys, -1);  // a gap ranks below zero weight
  for (const std::vector<double>& row : rows)
    for (size_t key = 0; key < keys; ++key)
      if (std::isfinite(row[key])) rank[key] = std::max(rank[key], row[key]);

  BarSelection selection;
  selection.keys.resize(keys);
  std::iota(selection.keys.begin(), selection.keys.end(), size_t{0});
  const bool by_weight = options.order == BarOrder::Weights ||
                         (options.order == BarOrder::Automatic && keys > kMostKeysInOrder);
  const size_t shown = std::min(keys, std::max<size_t>(options.most_bars, 1));
  if (by_weight || shown < keys)
    std::ranges::stable_sort(selection.keys,
                             [&](size_t left, size_t right) { return rank[left] > rank[right]; });
  selection.hidden = keys - shown;
  for (size_t i = shown; i < keys; ++i)
    selection.hidden_sum += std::max(rank[selection.keys[i]], 0.0);
  selection.keys.resize(shown);
  if (!by_weight) std::ranges::sort(selection.keys);
  return selection;
}

std::string hidden_text(const BarSelection& selection, const std::string& ellipsis) {
  return concat(ellipsis, " and ", format_count(int64_t(selection.hidden)), " more, together ",
                format_number(selection.hidden_sum, 2));
}

std::vector<double> magnitudes(const MapView& map, size_t query) {
  std::vector<double> row(map.keys());
  for (size_t key = 0; key < row.size(); ++key) {
    const double weight = map.weight(query, key);
    row[key] = std::isfinite(weight) ? std::abs(weight) : std::numeric_limits<double>::quiet_NaN();
  }
  return row;
}

bool shows_shares(const MapView& map) {
  return map.kind == MapKind::Free || map.kind == MapKind::Contribution;
}

PanelRows panel_rows(const Figure& figure, size_t query, PictureOptions options) {
  PanelRows rows;
  std::vector<std::vector<double>> heights;
  for (const MapView* series : figure.series) {
    rows.series.push_back(panel_row(*series, query));
    heights.push_back(rows.series.back().heights);
  }
  if (options.order == BarOrder::Automatic) options.order = BarOrder::Keys;
  rows.selection = select_bars(heights, options);
  return rows;
}

PanelRow panel_row(const MapView& map, size_t query) {
  PanelRow row{magnitudes(map, query), 1};
  const double total = finite_sum(row.heights);
  if (!shows_shares(map) || !(total > 0)) return row;
  row.scale = 1 / total;
  for (double& height : row.heights) height *= row.scale;
  return row;
}

std::vector<std::string> heading_lines(const Explanation& explanation) {
  std::vector<std::string> lines;
  if (!explanation.prediction.empty()) lines.push_back(explanation.prediction);
  if (explanation.truth) {
    const KnownTruth& truth = *explanation.truth;
    const bool is_right = truth.right.value_or(false);
    lines.push_back(concat(!truth.right ? ""
                           : is_right   ? "Right. "
                                        : "Wrong. ",
                           is_right ? "That is the right answer: " : "The right answer: ",
                           truth.text, truth.remark.empty() ? "" : "; ", truth.remark));
  }
  for (const Cut& cut : explanation.cuts)
    lines.push_back(concat("Read ", format_count(cut.read), " of ", format_count(cut.of), " ",
                           cut.unit, ". The model did not see the rest."));
  return lines;
}

std::vector<std::string> without_lines(const TakenAway& without) {
  std::vector<std::string> lines;
  for (const TakenAway::Units& some : without.units) {
    std::vector<std::string> names;
    for (size_t i = 0; i < some.units.size(); ++i)
      names.push_back(concat(some.labels[i], " (#", some.units[i] + 1, ")"));
    lines.push_back(
        concat("without ", some.units.size() == 1 ? "" : "the ", some.axis, ": ", join(names)));
  }
  lines.push_back("the answer to the whole input: " + without.before.text);
  if (without.predictions > 0)
    lines.push_back(
        concat("found in ", format_count(without.predictions),
               " predictions; without any one of them less the answer stays as it was"));
  return lines;
}

std::string verdict_sentence(const Explanation& explanation, const MapView& map) {
  static const std::map<std::string, std::string> kWords{
      {"supported", "Yes"}, {"mixed", "In part"}, {"unsupported", "No"}};
  const std::string question = "Does this picture show what the model used? ";
  for (const Faithfulness& judged : explanation.faithfulness) {
    const bool is_rollout = judged.judged_as == "rollout";
    const bool is_whole = judged.judged_as.empty() || judged.judged_as == "mean of heads";
    const std::string name = is_rollout ? judged.map + " rollout" : judged.map;
    if (name != map.name || !(is_rollout || is_whole) || map.head > 0) continue;
    const auto word = kWords.find(judged.trust);
    return concat(question, word == kWords.end() ? "Cannot be told" : word->second, ". ",
                  judged.verdict);
  }
  return question + "Not measured for this map.";
}

double equal_share(const MapView& map) {
  const bool shares = map.kind == MapKind::Distribution || map.kind == MapKind::Partial;
  if (!shares || map.layout == MapLayout::Points || map.keys() == 0) return 0;
  return 1 / double(map.keys());
}

std::string equal_text(double equal) {
  return concat(format_number(equal, 3), ": the equal share, all looked at alike");
}

double ShadeScale::share(double weight) const {
  if (!(ceiling > 0)) return 0;
  return std::pow(std::min(1.0, std::abs(weight) / ceiling), power);
}

double ShadeScale::weight(double share) const {
  return ceiling * std::pow(share, 1 / power);
}

namespace {

ShadeScale shade_scale(const MapView& map, double largest) {
  constexpr double kOverEqual = 4;
  constexpr size_t kManyKeys = 64;
  const double equal = equal_share(map);
  return {std::max(largest, std::min(1.0, kOverEqual * equal)), equal,
          map.keys() > kManyKeys ? 0.5 : 1.0};
}

}  // namespace

MatrixCells max_pool(const MapView& map, size_t most_rows, size_t most_columns) {
  auto step_for = [](size_t count, size_t most) {
    return std::max<size_t>(1, (count + most - 1) / std::max<size_t>(most, 1));
  };
  MatrixCells cells;
  cells.row_step = step_for(map.queries(), most_rows);
  cells.column_step = step_for(map.keys(), most_columns);
  for (size_t query = 0; query < map.queries(); query += cells.row_step)
    cells.row_labels.push_back(visible_blanks(map.query_labels[query]));
  for (size_t key = 0; key < map.keys(); key += cells.column_step)
    cells.column_labels.push_back(visible_blanks(map.key_labels[key]));
  cells.rows = cells.row_labels.size();
  cells.columns = cells.column_labels.size();
  cells.values.assign(cells.rows * cells.columns, std::numeric_limits<double>::quiet_NaN());
  cells.truth.assign(cells.rows * cells.columns, 0);
  double largest = 0;
  for (size_t query = 0; query < map.queries(); ++query) {
    for (size_t key = 0; key < map.keys(); ++key) {
      const size_t cell = query / cells.row_step * cells.columns + key / cells.column_step;
      const double weight = map.weight(query, key);
      if (map.is_true(query, key)) cells.truth[cell] = 1;
      if (!std::isfinite(weight)) continue;
      double& value = cells.values[cell];
      if (std::isnan(value) || std::abs(weight) > std::abs(value)) value = weight;
      largest = std::max(largest, std::abs(weight));
    }
  }
  cells.scale = shade_scale(map, largest);
  for (const double value : cells.values) {
    cells.has_negative = cells.has_negative || value < 0;
    cells.has_gap = cells.has_gap || std::isnan(value);
  }
  for (const char mark : cells.truth) cells.has_truth = cells.has_truth || mark != 0;
  return cells;
}

std::string pooling_text(const MatrixCells& cells) {
  if (cells.row_step == 1 && cells.column_step == 1) return "";
  return concat("each cell shows the largest of ", cells.row_step, " x ", cells.column_step,
                " weights");
}

}  // namespace fovea

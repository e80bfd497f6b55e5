#include "fovea/tasks/column_importance.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/explain/record/stability.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// How far each column moves the answers, on an even choice of rows: [N, C]. Undefined where the
/// network does not say.
at::Tensor moves_of_rows(const ModelAndRows& judged, const ColumnContributions& contributions) {
  constexpr int64_t kMostRows = 1000, kRowsAtATime = 100;  // each takes many passes
  if (!contributions) return {};
  const auto& [model, rows] = judged;
  const int64_t count = std::min(rows.size(), kMostRows);
  std::vector<at::Tensor> slices;
  for (int64_t first = 0; first < count; first += kRowsAtATime) {
    std::vector<int64_t> chosen;
    for (int64_t i = first; i < std::min(count, first + kRowsAtATime); ++i)
      chosen.push_back(i * rows.size() / count);
    const Batch batch = rows.batch(chosen).to(model.device());
    slices.push_back(contributions(model, batch).abs().cpu());  // [B, C]
  }
  return torch::cat(slices);
}

/// How well the mean over the rows is known. weights [N, C]
void add_interval(const at::Tensor& weights, MapView& map) {
  constexpr int64_t kMostRows = 2000;  // of more rows an even choice: the interval is rougher then
  const int64_t rows = std::min(weights.size(0), kMostRows);
  if (rows < 2) return;
  std::vector<MapView> views(size_t(rows), map);
  for (int64_t i = 0; i < rows; ++i) {
    const at::Tensor row = weights[i * weights.size(0) / rows].contiguous();  // [C]
    views[size_t(i)].weights.assign(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
    views[size_t(i)].spread.clear();
  }
  const MapView known = mean_with_bootstrap(views);
  map.low = known.low;
  map.high = known.high;
  map.interval_of = known.interval_of;
  map.interval_is = known.interval_is;
}

/// The mean over the rows. weights [N, C]
MapView mean_over_rows(const TableLayout& layout, const at::Tensor& weights) {
  const at::Tensor all = weights.to(torch::kFloat64);
  const at::Tensor mean = all.mean(0), deviation = all.std(0, /*unbiased=*/all.size(0) > 1);
  MapView map;
  map.key_axis = "columns";
  map.query_labels = {layout.target};
  map.key_labels = layout.columns;
  map.weights = to_vector<double>(mean);
  map.spread = to_vector<double>(deviation);
  return map;
}

/// Of an ensemble the members' means are the interval.
MapView mean_attention(const TableLayout& layout, const RowAttention& attention, bool is_ensemble,
                       const NamedTensors& truth) {
  MapView map = mean_over_rows(layout, attention.rows);
  map.name = "attention";
  map.title = "How much each column was looked at";
  map.kind = MapKind::Distribution;
  if (!is_ensemble) {
    add_interval(attention.rows.to(torch::kFloat64), map);
  } else {
    map.low = to_vector<double>(attention.heads.amin(0));
    map.high = to_vector<double>(attention.heads.amax(0));
    map.interval_of = concat(attention.heads.size(0), " members");
    map.interval_is = "full range";
  }
  if (truth.count("attention")) {
    const at::Tensor keep = truth.at("attention").flatten().to(torch::kChar).contiguous();
    map.truth.assign(keep.data_ptr<int8_t>(), keep.data_ptr<int8_t>() + keep.numel());
  }
  return map;
}

MapView mean_move(const TableLayout& layout, const at::Tensor& moves) {
  MapView map = mean_over_rows(layout, moves);
  map.name = "contributions";
  map.title = concat("how far each column moves ",
                     layout.kind == TargetKind::Number ? "the standardised answer" : "the log odds",
                     ", mean of ", format_count(moves.size(0)), " rows");
  map.kind = MapKind::Free;
  add_interval(moves.to(torch::kFloat64), map);
  return map;
}

}  // namespace

RowAttention attention_of_rows(const Model& model, const Dataset& rows) {
  constexpr int64_t kRowsAtATime = 1024;
  const RowBatches batches = batches_of_rows(model, rows, kRowsAtATime);
  std::vector<at::Tensor> slices(batches.size()), heads(batches.size());
  over_batches(model, rows, batches,
               [&](size_t index, const Batch& batch) {
                 Tap tap;
                 model.replay(batch, model.predict(batch), &tap);
                 if (!has_map(tap, "attention")) return;
                 const at::Tensor weights =
                     tap.map("attention").weights.squeeze(2).cpu();  // [B, H, C]
                 slices[index] = weights.size(1) == 1 ? weights.squeeze(1) : weights.mean(1);
                 heads[index] = weights.to(torch::kFloat64).sum(0) / double(rows.size());
               },
               {});
  if (slices.empty() || !slices[0].defined()) return {};
  std::vector<int64_t> order;
  for (const auto& batch : batches) order.insert(order.end(), batch.begin(), batch.end());
  const at::Tensor all = torch::cat(slices);  // [N, C], in the order of the batches
  return {torch::empty_like(all).index_copy_(0, torch::tensor(order, torch::kInt64), all),
          torch::stack(heads).sum(0)};
}

Explanation importance_of_columns(const TableLayout& layout, const ExplainTitles& titles,
                                  const ModelAndRows& judged,
                                  const ColumnContributions& contributions) {
  const auto& [model, rows] = judged;
  std::vector<MapView> maps;
  if (const RowAttention attention = attention_of_rows(model, rows); attention.rows.defined())
    maps.push_back(
        mean_attention(layout, attention, !titles.ensembles.empty(), rows.example(0).truth));
  if (const at::Tensor moves = moves_of_rows(judged, contributions); moves.defined())
    maps.push_back(mean_move(layout, moves));
  return {"features",
          titles.title,
          concat("mean over ", format_count(rows.size()), " rows, ± one standard deviation"),
          std::move(maps),
          {},
          "",
          nullptr,
          {Axis{"columns", "column", layout.columns}}};
}

std::vector<std::string> most_important(const TableLayout& layout, const ModelAndRows& judged,
                                        const ColumnContributions& contributions, int64_t count) {
  const auto columns = static_cast<int64_t>(layout.columns.size());
  require(count >= 1 && count < columns, ErrorKind::InvalidArgument, "prune: --keep ", count,
          " of ", columns, " columns; expected 1 to ", columns - 1);
  const RowAttention attention = attention_of_rows(judged.model, judged.rows);
  const at::Tensor weights =
      attention.rows.defined() ? attention.rows : moves_of_rows(judged, contributions);  // [N, C]
  const at::Tensor mean = weights.to(torch::kFloat64).mean(0);                           // [C]
  std::vector<int64_t> order(layout.columns.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return mean[a].item<double>() > mean[b].item<double>();
  });
  order.resize(static_cast<size_t>(count));
  std::sort(order.begin(), order.end());
  std::vector<std::string> kept;
  for (const int64_t column : order) kept.push_back(layout.columns[size_t(column)]);
  return kept;
}

}  // namespace fovea

// A strip of columns of W stays in the caches while all rows of a slice pass it; what a row keeps
// from strip to strip is its largest score so far, the sum of powers relative to it, and its best
// symbols.
#include "fovea/kernels/best_symbols/best_symbols.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/sizes-inl.h"
#ifdef FOVEA_BF16
#include "fovea/kernels/packed_product/rounded_panel-inl.h"
#else
#include "fovea/kernels/packed_product/panel-inl.h"
#endif

namespace fovea::kernels {
namespace {

constexpr int64_t kStripPanels = 4, kStrip = kStripPanels * kPanel;
constexpr float kLowest = -3.402823466e38f;  // finite, so that -inf less it is -inf and not NaN

/// What one row has seen.
class SeenRow {
 public:
  void begin(const BestSymbolsShape& shape, float* values, int64_t* symbols) {
    values_ = values, symbols_ = symbols;
    for (int64_t i = 0; i < shape.count; ++i) values_[i] = -__builtin_inff(), symbols_[i] = 0;
  }

  /// x [kStrip]: the scores of the symbols first … first + kStrip - 1, -inf beyond the last one.
  void look_at(const float* x, int64_t first, const BestSymbolsShape& shape) {
    const float highest = highest_of(x);
    if (highest > largest_) {
      sum_ *= __builtin_expf(largest_ - highest);
      largest_ = highest;
    }
    Accumulator powers;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kStrip / kLanes; ++v)
      powers.slots[v % kSlots] += exp(load(x + v * kLanes) - broadcast(largest_));
    sum_ += powers.total();
    if (!(highest > values_[shape.count - 1])) return;
    for (int64_t c = 0; c < kStrip; ++c)
      if (x[c] > values_[shape.count - 1] && !is_forbidden(first + c, shape))
        insert(x[c], first + c, shape.count);
  }

  void finish(int64_t count) {
    const double lse = static_cast<double>(largest_) + __builtin_log(static_cast<double>(sum_));
    for (int64_t i = 0; i < count; ++i) values_[i] = static_cast<float>(values_[i] - lse);
  }

 private:
  static float highest_of(const float* x) {
    Lanes most = load(x);
#pragma GCC unroll 8
    for (int64_t v = 1; v < kStrip / kLanes; ++v) most = max(most, load(x + v * kLanes));
    return largest(most);
  }

  static bool is_forbidden(int64_t symbol, const BestSymbolsShape& shape) {
    for (int64_t i = 0; i < shape.forbidden_count; ++i)
      if (shape.forbidden[i] == symbol) return true;
    return false;
  }

  void insert(float value, int64_t symbol, int64_t count) {
    int64_t place = count - 1;
    for (; place > 0 && value > values_[place - 1]; --place)
      values_[place] = values_[place - 1], symbols_[place] = symbols_[place - 1];
    values_[place] = value, symbols_[place] = symbol;
  }

  float largest_ = kLowest, sum_ = 0;
  float* values_ = nullptr;     // [count]: scores, best first
  int64_t* symbols_ = nullptr;  // [count]
};

void find_best(const BestSymbolsShape& shape, int64_t slice, const BestSymbolsRows& at) {
  const SliceRows slice_rows(slice, kBestSymbolsRows, shape.rows);
  const int64_t begin = slice_rows.begin, rows = slice_rows.count(), inputs = shape.layer.inputs,
                outputs = shape.layer.outputs, panel = panel_size(inputs);
  SeenRow seen[kBestSymbolsRows];
  PanelStore ready;
  for (int64_t r = 0; r < rows; ++r)
    seen[r].begin(shape, at.log_probabilities + (begin + r) * shape.count,
                  at.symbols + (begin + r) * shape.count);
  for (int64_t first = 0; first < outputs; first += kStrip)
    for (int64_t r = 0; r < rows; r += kTileRows) {
      float scores[kTileRows][kStrip];
      const int64_t now = min(kTileRows, rows - r);
      const PanelRows x = ready.take(at.hidden + (begin + r) * inputs, inputs, now, inputs);
      for (int64_t c = first; c < first + kStrip && c < outputs; c += kPanel)
        multiply_panel(at.packed + c / kPanel * panel, inputs, x, scores[0] + c - first, kStrip);
      for (int64_t i = 0; i < now; ++i) {
        for (int64_t c = outputs - first; c < kStrip; ++c) scores[i][c] = -__builtin_inff();
        seen[r + i].look_at(scores[i], first, shape);
      }
    }
  for (int64_t r = 0; r < rows; ++r) seen[r].finish(shape.count);
}

}  // namespace

struct BestSymbolsTable {
  decltype(&best_symbols) find_best;
};
FOVEA_TABLE_WITH_BF16(BestSymbolsTable, find_best)

#ifdef FOVEA_ENTRY_POINTS

void best_symbols(const BestSymbolsShape& shape, int64_t slice, const BestSymbolsRows& at) {
  table(shape.layer.rounded).find_best(shape, slice, at);
}

#endif

}  // namespace fovea::kernels

#include <algorithm>
#include <numeric>

#include "fovea/base/text.h"
#include "fovea/metrics/prefetching.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/prefetch.h"
#include "fovea/tasks/prefetch_parts.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsInMemory = 1 << 15;  // what was named after them waits to be counted

}  // namespace

Metrics PrefetchTask::measure(const Model& model, const Dataset& given) const {
  const auto& rows = dynamic_cast<const TraceDataset&>(given);
  PrefetchScore one(1), many(degree());
  for (int64_t first = 0; first < rows.size(); first += kRowsInMemory) {
    const int64_t count = std::min(kRowsInMemory, rows.size() - first);
    std::vector<std::vector<int64_t>> named(static_cast<size_t>(count));
    in_parts(model, count, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> picked(static_cast<size_t>(end - begin));
      std::iota(picked.begin(), picked.end(), first + begin);
      const Batch batch = rows.batch(picked);
      const Predictions predictions = model.predict(batch.to(model.device()));
      const at::Tensor now = batch.at("lines").select(1, -1).contiguous();  // [B]
      for (int64_t row = 0; row < batch.size; ++row)
        named[size_t(begin + row)] =
            lines_named(predictions.outputs[size_t(row)], now.data_ptr<int64_t>()[row]);
    });
    for (int64_t row = 0; row < count; ++row) {
      const int64_t next = rows.next_line(first + row);
      one.add(named[size_t(row)], next);
      many.add(named[size_t(row)], next);
    }
    if (progress) progress(first + count);
  }
  Metrics metrics{{"accuracy", one.accuracy(), true}, {"coverage", one.coverage(), true}};
  if (rows.is_consecutive() && degree() > 1) {
    metrics.push_back({concat("accuracy_", degree()), many.accuracy(), true});
    metrics.push_back({concat("coverage_", degree()), many.coverage(), true});
  }
  if (is_network() && voyager_.history == "attention" && rows.has_truth())
    if (const auto share = planted_truth(model, rows, "history"))
      metrics.push_back({"attention_truth", *share, true});
  return metrics;
}

}  // namespace fovea

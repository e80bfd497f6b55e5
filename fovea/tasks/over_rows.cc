#include "fovea/tasks/over_rows.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

#include "fovea/data/batches.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsOfTruth = 1000, kTruthTogether = 32;
constexpr int64_t kMostRows = 512;  // of one batch, however short they are

constexpr int64_t kOnGpu = 8;  // times as much is computed together as on a CPU

/// All rows, the shortest first.
template <class Length>
std::vector<int64_t> sorted_by(const Dataset& rows, Length length) {
  std::vector<int64_t> order = rows_from(rows, 0, rows.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t left, int64_t right) { return length(left) < length(right); });
  return order;
}

/// Appends the rows in batches of at most `count`.
void append_batches(std::span<const int64_t> rows, int64_t count, RowBatches& batches) {
  for (size_t begin = 0; begin < rows.size(); begin += size_t(count)) {
    const auto some = rows.subspan(begin, std::min(size_t(count), rows.size() - begin));
    batches.emplace_back(some.begin(), some.end());
  }
}

/// The rows' truth side by side: [B, Q, K], false at padding. Undefined where none has any.
at::Tensor truth_of(const Dataset& rows, std::span<const int64_t> picked, const std::string& map,
                    const at::Tensor& weights) {
  at::Tensor keep;
  for (size_t i = 0; i < picked.size(); ++i) {
    const at::Tensor own = rows.map_truth(picked[i], map);  // [Q, K]
    if (!own.defined()) continue;
    if (!keep.defined()) keep = torch::zeros(weights.sizes(), torch::kBool);
    keep[int64_t(i)].narrow(0, 0, own.size(0)).narrow(1, 0, own.size(1)).copy_(own);
  }
  return keep;
}

}  // namespace

std::vector<int64_t> rows_from(const Dataset& rows, int64_t first, int64_t most) {
  std::vector<int64_t> picked(size_t(std::min(most, rows.size() - first)));
  std::iota(picked.begin(), picked.end(), first);
  return picked;
}

void put_rows(std::span<const int64_t> picked, const at::Tensor& from, at::Tensor to) {
  const at::Tensor places = torch::tensor(c10::ArrayRef<int64_t>(picked.data(), picked.size()));
  to.index_copy_(0, places, from.to(at::kCPU, to.scalar_type()));
}

RowBatches batches_of_tokens(const Model& model, const Dataset& rows, int64_t tokens) {
  BatchOptions cutting;
  cutting.batch_tokens = model.device().is_cpu() ? tokens : kOnGpu * tokens;
  cutting.shuffle = false;
  const auto order = sorted_by(rows, [&](int64_t row) { return rows.length(row); });
  RowBatches batches;
  for (const auto& batch : plan_batches(rows, order, cutting, Random(0)))
    append_batches(batch, kMostRows, batches);
  return batches;
}

RowBatches batches_of_rows(const Model& model, const Dataset& rows, int64_t count) {
  RowBatches batches;
  append_batches(sorted_by(rows, [&](int64_t row) { return rows.input_length(row); }),
                 model.device().is_cpu() ? count : kOnGpu * count, batches);
  return batches;
}

void over_batches(const Model& model, const Dataset& rows, const RowBatches& batches,
                  const std::function<void(size_t, const Batch&)>& job,
                  const std::function<void(int64_t)>& progress) {
  std::mutex reporting;
  int64_t done = 0;
  const auto do_batch = [&](int64_t index) {
    torch::NoGradGuard no_gradients;
    const std::vector<int64_t>& picked = batches[size_t(index)];
    job(size_t(index), rows.batch(picked).to(model.device()));
    const std::lock_guard lock(reporting);
    done += int64_t(picked.size());
    if (progress) progress(done);
  };
  if (model.device().is_cpu()) return run_parallel(int64_t(batches.size()), do_batch);
  for (size_t i = 0; i < batches.size(); ++i) do_batch(int64_t(i));
}

void over_rows(const Model& model, const Dataset& rows, int64_t tokens,
               const std::function<void(std::span<const int64_t>, const Batch&)>& job,
               const std::function<void(int64_t)>& progress) {
  const RowBatches batches = batches_of_tokens(model, rows, tokens);
  over_batches(
      model, rows, batches, [&](size_t index, const Batch& batch) { job(batches[index], batch); },
      progress);
}

bool has_map(const Tap& tap, const std::string& name) {
  return std::any_of(tap.maps().begin(), tap.maps().end(),
                     [&](const AttentionMap& map) { return map.name == name; });
}

std::optional<double> planted_truth(const Model& model, const Dataset& rows,
                                    const std::string& map) {
  return planted_truth(model, rows, map, [&](const Tap& tap) {
    return has_map(tap, map) ? tap.map(map).weights.mean(1) : at::Tensor();  // [B, Q, K]
  });
}

std::optional<double> planted_truth(const Model& model, const Dataset& rows,
                                    const std::string& truth,
                                    const std::function<at::Tensor(const Tap&)>& weights_of) {
  torch::NoGradGuard no_gradients;
  const int64_t step = std::max<int64_t>(1, rows.size() / kRowsOfTruth);
  std::vector<int64_t> chosen;
  for (int64_t row = 0; row < rows.size(); row += step) chosen.push_back(row);
  double sum = 0, count = 0;
  for (size_t begin = 0; begin < chosen.size(); begin += size_t(kTruthTogether)) {
    const auto picked = std::span<const int64_t>(chosen).subspan(
        begin, std::min(size_t(kTruthTogether), chosen.size() - begin));
    const Batch batch = rows.batch(picked).to(model.device());
    Tap tap;
    model.replay(batch, model.predict(batch), &tap);
    const at::Tensor found = weights_of(tap);
    if (!found.defined()) return {};
    const at::Tensor weights = found.cpu();  // [B, Q, K]
    const at::Tensor keep = truth_of(rows, picked, truth, weights);
    if (!keep.defined()) continue;
    if (const auto share = attention_truth(weights.flatten(0, 1), keep.flatten(0, 1))) {
      const double informed = keep.any(-1).sum().item<double>();
      sum += *share * informed;
      count += informed;
    }
  }
  return count > 0 ? std::optional<double>(sum / count) : std::nullopt;
}

}  // namespace fovea

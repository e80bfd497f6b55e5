#include "fovea/nn/recurrent_layer.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "fovea/core/error.h"
#include "fovea/core/kernel_path.h"
#include "fovea/core/torch.h"
#include "fovea/nn/recurrent_fused.h"

namespace fovea {

namespace {

using at::Tensor;

// cuDNN wants a layer's weights in one piece of memory of its own; the optimiser's flat array is
// another one. They are copied at every call, which costs little, and LibTorch complains at every
// call, which nobody wants to read.
class IgnoreWarnings : public c10::WarningHandler {
#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning&) override {}
#else
  void process(const c10::SourceLocation&, const std::string&, const bool) override {}
#endif
};

#if TORCH_VERSION_MAJOR >= 2
using WarningGuard = c10::WarningUtils::WarningHandlerGuard;
#else
using WarningGuard = c10::Warning::WarningHandlerGuard;
#endif

/// What LibTorch's three functions share.
struct LibraryRun {
  Tensor data;               // [B, S, D H], or packed [N, D H]
  Tensor last, last_cell{};  // [D, B, H]
};

/// data [B, S, I], or packed [N, I] with `batch_sizes`; states [D, B, H]
LibraryRun call_library(const RecurrentLayer& layer, const Tensor& data, const Tensor& batch_sizes,
                        const Tensor& hidden, const Tensor& cell) {
  const auto& w = layer.weights;
  const bool both = layer.directions() == 2, packed = batch_sizes.defined();
  const bool train = torch::GradMode::is_enabled();  // cuDNN keeps what backward needs only then
  LibraryRun run;
  if (layer.cell == "lstm") {
    const std::vector<Tensor> states{hidden, cell};
    std::tie(run.data, run.last, run.last_cell) =
        packed ? at::lstm(data, batch_sizes, states, w, true, 1, 0, train, both)
               : at::lstm(data, states, w, true, 1, 0, train, both, true);
  } else if (layer.cell == "gru") {
    std::tie(run.data, run.last) =
        packed ? at::gru(data, batch_sizes, hidden, w, true, 1, 0, train, both)
               : at::gru(data, hidden, w, true, 1, 0, train, both, true);
  } else {
    std::tie(run.data, run.last) =
        packed ? at::rnn_tanh(data, batch_sizes, hidden, w, true, 1, 0, train, both)
               : at::rnn_tanh(data, hidden, w, true, 1, 0, train, both, true);
  }
  return run;
}

/// Packing wants rows of falling length, each at least 1.
LibraryRun call_packed(const RecurrentLayer& layer, const Tensor& x, const SequenceLayout& layout,
                       const Tensor& hidden, const Tensor& cell) {
  const Tensor order = torch::tensor(layout.descending), lengths = torch::tensor(layout.lengths);
  const Tensor moved = order.to(x.device()), back = order.argsort().to(x.device());
  const Tensor some = lengths.gt(0).to(x.device());  // [B]: rows that have steps
  const bool all_have = layout.lengths[size_t(layout.descending.back())] > 0;
  const Tensor clean = all_have ? x : x.masked_fill(~some.view({-1, 1, 1}), 0);
  const auto [data, batch_sizes] = at::_pack_padded_sequence(
      clean.index_select(0, moved), lengths.index_select(0, order).clamp_min(1), true);
  LibraryRun run = call_library(layer, data, batch_sizes, hidden.index_select(1, moved),
                                cell.defined() ? cell.index_select(1, moved) : cell);
  run.data = std::get<0>(at::_pad_packed_sequence(run.data, batch_sizes, true, 0.0, layout.steps));
  run.data = run.data.index_select(0, back);
  run.last = run.last.index_select(1, back);
  if (cell.defined()) run.last_cell = run.last_cell.index_select(1, back);
  if (all_have) return run;
  run.data = run.data.masked_fill(~some.view({-1, 1, 1}), 0);
  run.last = at::where(some.view({1, -1, 1}), run.last, hidden);
  if (cell.defined()) run.last_cell = at::where(some.view({1, -1, 1}), run.last_cell, cell);
  return run;
}

}  // namespace

SequenceLayout::SequenceLayout(const Tensor& given, int64_t row_count, int64_t step_count)
    : rows(row_count),
      steps(step_count),
      lengths(size_t(row_count), step_count),
      first(size_t(row_count)),
      descending(size_t(row_count)) {
  if (given.defined()) {
    require(given.dim() == 1 && given.size(0) == rows && given.scalar_type() == at::kLong &&
                given.is_cpu(),
            ErrorKind::Internal, "the lengths of ", rows, " sequences have the shape ",
            given.sizes());
    const Tensor values = given.contiguous();
    std::copy_n(values.data_ptr<int64_t>(), rows, lengths.begin());
  }
  for (size_t row = 0; row < lengths.size(); ++row) {
    require(lengths[row] >= 0 && lengths[row] <= steps, ErrorKind::Internal, "a sequence of ",
            lengths[row], " steps does not fit a batch of ", steps);
    first[row] = entries;
    entries += lengths[row];
  }
  std::iota(descending.begin(), descending.end(), int64_t{0});
  std::stable_sort(descending.begin(), descending.end(),
                   [&](int64_t a, int64_t b) { return lengths[size_t(a)] > lengths[size_t(b)]; });
}

RecurrentOutput run_library_layer(const RecurrentLayer& layer, const Tensor& x,
                                  const SequenceLayout& layout, const RecurrentState& start) {
  const int64_t d = layer.directions();
  const bool lstm = layer.cell == "lstm";
  const auto stacked = [&](const std::vector<Tensor>& states) {
    return states.empty() ? at::zeros({d, layout.rows, layer.hidden_size()}, x.options())
                          : at::stack(states);
  };
  const Tensor hidden = stacked(start.hidden), cell = lstm ? stacked(start.cell) : Tensor();
  IgnoreWarnings ignore;
  std::optional<WarningGuard> guard;
  if (x.is_cuda()) guard.emplace(&ignore);
  const LibraryRun run = layout.is_padded() ? call_packed(layer, x, layout, hidden, cell)
                                            : call_library(layer, x, {}, hidden, cell);
  RecurrentOutput result{run.data, {}};  // [B, S, D H]
  for (int64_t direction = 0; direction < d; ++direction) {
    result.state.hidden.push_back(run.last[direction]);  // [B, H]
    if (lstm) result.state.cell.push_back(run.last_cell[direction]);
  }
  return result;
}

RecurrentOutput run_layer(const RecurrentLayer& layer, const Tensor& x,
                          const std::shared_ptr<const SequenceLayout>& layout,
                          const RecurrentState& start) {
  std::vector<Tensor> all{x};
  for (const auto* tensors : {&layer.weights, &start.hidden, &start.cell})
    all.insert(all.end(), tensors->begin(), tensors->end());
  return kernels_take(all) ? run_fused_layer(layer, x, layout, start)
                           : run_library_layer(layer, x, *layout, start);
}

}  // namespace fovea

#include "fovea/nn/recurrent/recurrent_layer.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/nn/recurrent/gru_forms.h"
#include "fovea/nn/recurrent/recurrent_passes.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/torch.h"

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

namespace {

/// What one direction makes of x [B, S, I], in which every row begins at 0.
struct Direction {
  Tensor outputs;          // [B, S, H], anything at padding
  Tensor last, last_cell;  // [B, H]
};

/// Step by step, where a row that has ended keeps its state: a library tells the cells of the last
/// step only, and rows end earlier.
Direction run_lstm_steps(const std::vector<Tensor>& w, const Tensor& x, const Tensor& live,
                         Tensor hidden, Tensor cell) {
  const Tensor inputs = at::linear(x, w[0], w[2]);  // [B, S, 4 H]
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < x.size(1); ++t) {
    const Tensor gates = inputs.select(1, t) + at::linear(hidden, w[1], w[3]);
    const auto parts = gates.chunk(4, 1);  // i, f, g, o
    const Tensor next_cell =
        parts[1].sigmoid() * cell + parts[0].sigmoid() * parts[2].tanh();  // [B, H]
    const Tensor next = parts[3].sigmoid() * next_cell.tanh(), goes_on = live.select(1, t);
    cell = at::where(goes_on, next_cell, cell);
    hidden = at::where(goes_on, next, hidden);
    outputs.push_back(next);
  }
  return {at::stack(outputs, 1), hidden, cell};
}

/// A GRU whose reset gate is not torch's. Steps behind a row's end are computed and not looked at.
Direction run_gru_steps(const RecurrentLayer& one, const Tensor& x, const Tensor& live,
                        Tensor hidden) {
  const GruInputs inputs = gru_inputs(one, x);
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < x.size(1); ++t) {
    const Tensor next = gru_step(one, inputs.select(t), hidden);  // [B, H]
    hidden = at::where(live.select(1, t), next, hidden);
    outputs.push_back(next);
  }
  return {at::stack(outputs, 1), hidden, {}};
}

Direction run_direction(const RecurrentLayer& one, const Tensor& x, const Tensor& lengths,
                        const Tensor& live, const Tensor& hidden, const Tensor& cell) {
  if (one.cell == "lstm") return run_lstm_steps(one.weights, x, live, hidden, cell);
  if (!one.reset.is_usual()) return run_gru_steps(one, x, live, hidden);
  const Tensor outputs = call_library(one, x, {}, hidden.unsqueeze(0), {}).data;
  const Tensor end = (lengths - 1).clamp_min(0).view({-1, 1, 1}).expand({-1, 1, hidden.size(1)});
  const Tensor last = outputs.gather(1, end).squeeze(1);
  return {outputs, at::where(lengths.gt(0).unsqueeze(1), last, hidden), {}};
}

}  // namespace

RecurrentOutput run_padded_layer(const RecurrentLayer& layer, const Tensor& x,
                                 const Tensor& lengths, const RecurrentState& start) {
  const Tensor place = at::arange(x.size(1), lengths.options()).unsqueeze(0);    // [1, S]
  const Tensor live = (place < lengths.unsqueeze(1)).unsqueeze(2);               // [B, S, 1]
  const Tensor mirrored = lengths.unsqueeze(1) - 1 - place;                      // [B, S]
  const Tensor mirror = at::where(mirrored >= 0, mirrored, place).unsqueeze(2);  // [B, S, 1]
  const auto turned = [&](const Tensor& y) { return y.gather(1, mirror.expand_as(y)); };
  const Tensor zeros = at::zeros({x.size(0), layer.hidden_size()}, x.options());
  IgnoreWarnings ignore;
  const WarningGuard guard(&ignore);
  RecurrentOutput result;
  std::vector<Tensor> outputs;
  for (int64_t direction = 0; direction < layer.directions(); ++direction) {
    const auto d = static_cast<size_t>(direction);
    const auto first = layer.weights.begin() + 4 * direction;
    const RecurrentLayer one{layer.cell, {first, first + 4}, layer.reset};
    const Direction run = run_direction(one, direction == 0 ? x : turned(x), lengths, live,
                                        start.hidden.empty() ? zeros : start.hidden[d],
                                        start.cell.empty() ? zeros : start.cell[d]);
    outputs.push_back(direction == 0 ? run.outputs : turned(run.outputs));
    result.state.hidden.push_back(run.last);
    if (layer.cell == "lstm") result.state.cell.push_back(run.last_cell);
  }
  result.outputs = at::where(live, at::cat(outputs, 2), at::zeros({}, x.options()));  // [B, S, D H]
  return result;
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// The kernels' passes as one node.
class LayerFunction : public torch::autograd::Function<LayerFunction> {
 public:
  /// `list` as in RecurrentInputs. Saved are `list`, its entries, and what each direction saves.
  static tensor_list forward(AutogradContext* context, at::TensorList list,
                             const std::shared_ptr<RecurrentPlan>& plan) {
    const RecurrentInputs in{list, *plan};
    const Tensor entries = without_padding(in.x(), *plan->layout);
    const RecurrentPass pass = recurrent_forward_pass(in, entries, /*keep=*/true);
    tensor_list saved = list.vec();
    saved.push_back(entries);
    for (const SavedForBackward& direction : pass.saved) {
      saved.insert(saved.end(), {direction.gates, direction.hidden_before});
      if (plan->has_cell()) saved.push_back(direction.cell_before);
    }
    context->set_materialize_grads(false);
    context->save_for_backward(saved);
    context->saved_data["plan"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(plan));
    return pass.results;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const tensor_list saved = context->get_saved_variables();
    const auto holder =
        c10::static_intrusive_pointer_cast<Holder>(context->saved_data["plan"].toCapsule());
    const RecurrentPlan& plan = *holder->plan;
    const size_t each = plan.has_cell() ? 3 : 2;
    const size_t inputs = saved.size() - 1 - each * static_cast<size_t>(plan.directions);
    const RecurrentInputs in{at::TensorList(saved).slice(0, inputs), plan};
    if (at::GradMode::is_enabled()) return differentiable(in, arrived);
    std::vector<SavedForBackward> directions;
    for (size_t i = inputs + 1; i < saved.size(); i += each)
      directions.push_back({saved[i], saved[i + 1], plan.has_cell() ? saved[i + 2] : Tensor()});
    tensor_list gradients = recurrent_backward_pass(
        in, saved[inputs], directions,
        {arrived, [&](size_t input) { return context->needs_input_grad(input); }});
    gradients.emplace_back();  // the plan's
    return gradients;
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<RecurrentPlan> p) : plan(std::move(p)) {}
    std::shared_ptr<RecurrentPlan> plan;
  };

  /// The gradients by LibTorch, for those who differentiate them again.
  static tensor_list differentiable(const RecurrentInputs& in, const tensor_list& arrived) {
    const RecurrentOutput again =
        run_library_layer(in.layer(), in.x(), *in.plan.layout, in.start());
    tensor_list results{again.outputs};
    for (const auto* states : {&again.state.hidden, &again.state.cell})
      results.insert(results.end(), states->begin(), states->end());
    tensor_list reached, there, wanted;
    for (size_t i = 0; i < results.size(); ++i)
      if (arrived[i].defined()) reached.push_back(results[i]), there.push_back(arrived[i]);
    for (const Tensor& input : in.list)
      if (input.requires_grad()) wanted.push_back(input);
    const tensor_list found = torch::autograd::grad(reached, wanted, there, /*retain_graph=*/true,
                                                    /*create_graph=*/true, /*allow_unused=*/true);
    tensor_list gradients;
    size_t next = 0;
    for (const Tensor& input : in.list)
      gradients.push_back(input.requires_grad() ? found[next++] : Tensor());
    gradients.emplace_back();  // the plan's
    return gradients;
  }
};

}  // namespace

RecurrentOutput run_fused_layer(const RecurrentLayer& layer, const Tensor& x,
                                const std::shared_ptr<const SequenceLayout>& layout,
                                const RecurrentState& start) {
  const auto plan = std::make_shared<RecurrentPlan>(
      RecurrentPlan{layer.cell, layout, layer.directions(), x.size(2), layer.hidden_size(),
                    !start.hidden.empty()});
  tensor_list list{x};
  for (const auto* tensors : {&layer.weights, &start.hidden, &start.cell})
    for (const Tensor& tensor : *tensors) list.push_back(tensor.contiguous());
  tensor_list results;
  if (torch::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(list)) {
    results = LayerFunction::apply(at::TensorList(list), plan);
  } else {
    const RecurrentInputs in{list, *plan};
    results = recurrent_forward_pass(in, without_padding(x, *layout), /*keep=*/false).results;
  }
  const auto cells = results.begin() + 1 + layer.directions();
  return {results[0], {{results.begin() + 1, cells}, {cells, results.end()}}};
}

RecurrentOutput run_layer(const RecurrentLayer& layer, const Tensor& x,
                          const std::shared_ptr<const SequenceLayout>& layout,
                          const RecurrentState& start) {
  if (!layer.reset.is_usual())
    return run_padded_layer(layer, x, torch::tensor(layout->lengths).to(x.device()), start);
  std::vector<Tensor> all{x};
  for (const auto* tensors : {&layer.weights, &start.hidden, &start.cell})
    all.insert(all.end(), tensors->begin(), tensors->end());
  return kernels_take(all) ? run_fused_layer(layer, x, layout, start)
                           : run_library_layer(layer, x, *layout, start);
}

}  // namespace fovea

#include "fovea/models/turing_machine.h"

#include <optional>

#include "fovea/attention/attend.h"
#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/models/initialise.h"
#include "fovea/nn/ops/addressing.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kFirstMemory = 1e-6;
constexpr double kFirstReadDeviation = 0.1;  // of the fresh first read
// A fresh head stays near where it was, and sharp: looking by content finds nothing in an empty
// memory, and a head that is spread over all slots learns nothing of places.
constexpr double kFirstGate = -2, kFirstSharpness = 1;

Tensor report_heads(Tap* tap, const char* name, const Tensor& weights) {
  if (!tap) return weights;
  return tap
      ->report(labelled_map({name, "steps", "slots"}, weights.unsqueeze(2)))  // [B, heads, 1, N]
      .squeeze(2);
}

}  // namespace

void TuringMachineOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"ntm"});
  list.add("controller", controller, "the network that tells the heads where to look")
      .choices({"feedforward", "lstm"});
  list.add("hidden", hidden, "numbers of the controller").at_least(1);
  list.add("slots", slots, "slots of the memory").within(2, 1 << 16);
  list.add("width", width, "numbers of a slot").at_least(1);
  list.add("heads", heads, "heads that read, and as many that write").within(1, 64);
  list.add("range", range, "slots that a head moves in one step, at most").at_least(0);
}

TuringMachine::TuringMachine(TuringMachineOptions options, CopyWidths widths)
    : CopyModel(widths), options_(std::move(options)) {
  const auto& o = options_;
  require(2 * o.range < o.slots, ErrorKind::InvalidArgument, "model.range=", o.range,
          " needs more than ", 2 * o.range, " slots, found model.slots=", o.slots);
  const int64_t in = inputs() + o.heads * o.width;
  if (o.controller == "lstm")
    recurrent_ = register_module(
        "controller", std::make_shared<Recurrent>(RecurrentOptions{"lstm", in, o.hidden}));
  else
    feedforward_ = register_projection(*this, "controller", {in, o.hidden});
  interface_ = register_projection(
      *this, "interface",
      {o.hidden, o.heads * (2 * AddressParameters::size(o.width, o.range) + 2 * o.width)});
  output_ = register_projection(*this, "output", {o.hidden + o.heads * o.width, bits()});
  first_read_ = register_parameter("first_read", at::zeros({o.heads * o.width}));
}

void TuringMachine::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  if (recurrent_) recurrent_->initialise(random.split("controller"));
  if (feedforward_) feedforward_->initialise(random.split("controller"));
  interface_->initialise(random.split("interface"));
  const Tensor heads = where_of(interface_->bias.unsqueeze(0));
  const auto first = AddressParameters::split(heads, options_.width, options_.range);
  first.gate.fill_(kFirstGate);
  first.sharpness.fill_(kFirstSharpness);
  output_->initialise(random.split("output"));
  initialise_normal(first_read_, kFirstReadDeviation, random.split("first_read"));
}

std::vector<LayerSummary> TuringMachine::summary() const {
  const auto& o = options_;
  const int64_t controller =
      recurrent_ ? count_parameters(*recurrent_) : count_parameters(*feedforward_);
  return {{concat("controller (", o.controller, ")"), {o.hidden}, controller},
          {concat("heads (", o.heads, " read, ", o.heads, " write, ", o.slots, " slots)"),
           {o.heads * o.width},
           count_parameters(*interface_) + first_read_.numel()},
          {"output (sigmoid of each bit)", {bits()}, count_parameters(*output_)}};
}

TuringMachine::State TuringMachine::begin(int64_t batch) const {
  const auto& o = options_;
  State state;
  if (recurrent_) state.controller = recurrent_->zeros(batch);
  state.memory = at::full({batch, o.slots, o.width}, kFirstMemory, first_read_.options());
  state.weights = at::zeros({batch, 2 * o.heads, o.slots}, first_read_.options());
  state.weights.select(-1, 0).fill_(1);
  state.read = first_read_.unsqueeze(0).expand({batch, -1});
  return state;
}

Tensor TuringMachine::control(const Tensor& x, State& state) const {
  const Tensor seen = at::cat({x, state.read}, -1);  // [B, I + heads M]
  if (feedforward_) return feedforward_->forward(seen).tanh();
  state.controller = recurrent_->step(seen, state.controller, {});
  return state.controller.hidden.back();
}

/// What is said of where to look. said [B, heads (2 size + 2 M)] -> [B, 2 heads, size]
Tensor TuringMachine::where_of(const Tensor& said) const {
  const int64_t heads = 2 * options_.heads;
  const int64_t size = AddressParameters::size(options_.width, options_.range);
  return said.narrow(-1, 0, heads * size).reshape({said.size(0), heads, size});
}

/// said [B, heads, 2 M], weights [B, heads, N]
void TuringMachine::write(const Tensor& said, const Tensor& weights, State& state) const {
  const Tensor erase = said.narrow(-1, 0, options_.width).sigmoid();          // [B, heads, M]
  const Tensor add = said.narrow(-1, options_.width, options_.width).tanh();  // [B, heads, M]
  for (int64_t head = 0; head < options_.heads; ++head)
    state.memory = state.memory * (1 - weights.select(1, head).unsqueeze(-1) *
                                           erase.select(1, head).unsqueeze(1));  // [B, N, M]
  state.memory = state.memory + weights.transpose(1, 2).matmul(add);
}

/// x [B, I] -> logits [B, bits]
Tensor TuringMachine::step(const Tensor& x, const Tensor& keep_slots, State& state,
                           Tap* tap) const {
  const auto& o = options_;
  const Tensor hidden = control(x, state);          // [B, H]
  const Tensor said = interface_->forward(hidden);  // [B, heads (2 size + 2 M)]
  const Tensor what = said.narrow(-1, said.size(-1) - 2 * o.heads * o.width, 2 * o.heads * o.width)
                          .reshape({x.size(0), o.heads, 2 * o.width});  // [B, heads, 2 M]
  const Tensor weights =
      address(state.memory, AddressParameters::take(where_of(said), o.width, o.range),
              state.weights);  // [B, 2 heads, N]
  const Tensor writes = report_heads(tap, "write", weights.narrow(1, o.heads, o.heads));
  const Tensor reads = report_heads(tap, "read", weights.narrow(1, 0, o.heads));
  state.weights = tap ? at::cat({reads, writes}, 1) : weights;
  write(what, writes, state);
  const Tensor readable = keep_slots.defined() ? state.memory * keep_slots : state.memory;
  state.read = reads.matmul(readable).flatten(1);  // [B, heads M]
  return output_->forward(at::cat({hidden, state.read}, -1));
}

Tensor TuringMachine::logits_of(const Batch& batch, Tap* tap) const {
  const Tensor inputs = leaf_of(tap, "steps",
                                batch.at("inputs").to(first_read_.scalar_type()));  // [B, S, I]
  Tensor keep_slots;                                                                // [B, N, 1]
  if (batch.has("slots")) keep_slots = batch.at("slots").to(inputs.scalar_type()).unsqueeze(-1);
  State state = begin(batch.size);
  std::optional<StepTap> rows;
  if (tap) rows.emplace(*tap);
  std::vector<Tensor> logits;
  for (int64_t t = 0; t < inputs.size(1); ++t) {
    stop_if_asked();
    logits.push_back(step(inputs.select(1, t), keep_slots, state, rows ? &*rows : nullptr));
  }
  if (rows) rows->finish();
  return at::stack(logits, 1);  // [B, S, W]
}

Tensor steps_read(const Tensor& writes, const Tensor& reads) {
  return reads.mean(1).matmul(writes.mean(1).transpose(1, 2)).tril();  // [B, S, S]
}

}  // namespace fovea

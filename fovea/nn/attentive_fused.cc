#include "fovea/nn/attentive_fused.h"

#include "fovea/core/error.h"
#include "fovea/core/kernel_path.h"
#include "fovea/core/parallel.h"
#include "fovea/core/torch.h"
#include "fovea/kernels/attentive_recurrent.h"
#include "fovea/nn/recurrent_passes.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::AttentiveShape;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Everything about a call besides its numbers.
struct AttentivePlan {
  AttentiveShape shape;
  Tensor keep;  // uint8 [B, K], which the shape points at, or undefined

  bool has_cell() const { return shape.cell == kernels::RecurrentCell::Lstm; }
};

/// A call's tensors in the order in which the graph knows them; those that a cell or score does not
/// have are empty. All are contiguous.
enum Input : size_t {
  kX,                // [B, T, E]
  kWeightInput,      // [G H, E + C]
  kWeightRecurrent,  // [G H, H]
  kBiasInput,
  kBiasRecurrent,
  kStartHidden,  // [B, H]
  kStartCell,
  kKeys,    // [B, K, F]
  kValues,  // [B, K, C]
  kQuery,   // [F, H]
  kQueryBias,
  kEnergy,  // [F]
  kInputs
};

/// What the forward pass leaves for the backward pass.
enum Kept : size_t { kGates, kHiddenBefore, kCellBefore, kQueries, kAttention, kContexts, kKepts };

const float* read(const Tensor& x) {
  return x.defined() && x.numel() > 0 ? x.data_ptr<float>() : nullptr;
}
float* write(const Tensor& x) {
  return x.data_ptr<float>();
}

kernels::AttentiveWeights weights_of(at::TensorList in) {
  const int64_t width = in[kX].size(2);
  return {read(in[kWeightInput]) + width, in[kWeightInput].size(1), read(in[kWeightRecurrent]),
          read(in[kQuery])};
}

/// work(part, scratch) for all parts.
void run_attentive_parts(const AttentiveShape& shape,
                         const std::function<void(int64_t, float*)>& work) {
  run_parallel(shape.parts(), [&](int64_t part) {
    const Tensor scratch = at::empty({shape.scratch()}, at::kFloat);
    work(part, write(scratch));
  });
}

struct AttentivePass {
  Tensor states;     // [B, T, H]
  tensor_list kept;  // see Kept
};

AttentivePass attentive_forward_pass(at::TensorList in, const AttentiveShape& shape) {
  const Tensor& x = in[kX];
  const int64_t rows = shape.rows, steps = shape.steps, h = shape.hidden, n = rows * steps,
                width = x.size(2), products = shape.gates() * h;
  const auto empty = [&](at::IntArrayRef sizes) { return at::empty(sizes, x.options()); };
  AttentivePass pass{empty({rows, steps, h}), tensor_list(kKepts)};
  auto& kept = pass.kept;
  kept[kGates] = empty({n, shape.kept() * h});
  kept[kHiddenBefore] = empty({n, h});
  kept[kCellBefore] = empty({in[kStartCell].size(0) > 0 ? n : 0, h});
  kept[kQueries] = empty({n, shape.query_size()});
  kept[kAttention] = empty({n, shape.keys});
  kept[kContexts] = empty({rows, steps, shape.value_size});
  const Tensor packed = empty({shape.packed()}), entries = x.view({n, width});
  const Tensor weight = in[kWeightInput].narrow(1, 0, width).t();  // [E, G H]
  Jobs jobs;
  jobs.add([&] { kernels::attentive_pack_forward(shape, weights_of(in), write(packed)); });
  jobs.add_blocks(n, kEntryBlock, [&](int64_t begin, int64_t count) {
    Tensor block = kept[kGates].narrow(0, begin, count).narrow(1, 0, products);
    at::mm_out(block, entries.narrow(0, begin, count), weight);
  });
  jobs.run();
  run_attentive_parts(shape, [&](int64_t part, float* scratch) {
    const kernels::AttentiveForward at{.packed = read(packed),
                                       .input_bias = read(in[kBiasInput]),
                                       .recurrent_bias = read(in[kBiasRecurrent]),
                                       .query_bias = read(in[kQueryBias]),
                                       .energy = read(in[kEnergy]),
                                       .keys = read(in[kKeys]),
                                       .values = read(in[kValues]),
                                       .start_hidden = read(in[kStartHidden]),
                                       .start_cell = read(in[kStartCell]),
                                       .gates = write(kept[kGates]),
                                       .hidden_before = write(kept[kHiddenBefore]),
                                       .cell_before = write(kept[kCellBefore]),
                                       .queries = write(kept[kQueries]),
                                       .attention = write(kept[kAttention]),
                                       .outputs = write(pass.states),
                                       .contexts = write(kept[kContexts])};
    kernels::attentive_forward(shape, part, at, scratch);
  });
  return pass;
}

/// One gradient per input. `arrived`: of states and contexts, or undefined.
tensor_list attentive_backward_pass(at::TensorList in, const tensor_list& kept,
                                    const AttentiveShape& shape, const tensor_list& arrived) {
  const int64_t width = in[kX].size(2), h = shape.hidden;
  tensor_list gradients(kInputs);
  for (size_t i = 0; i < kInputs; ++i) gradients[i] = at::empty_like(in[i]);
  const auto empty = [&](at::IntArrayRef sizes) { return at::empty(sizes, in[kX].options()); };
  const Tensor packed = empty({shape.packed()}), gates = at::empty_like(kept[kGates]),
               queries = at::empty_like(kept[kQueries]),
               sums = empty({shape.parts(), shape.kept() * h}),
               energy_sums = empty({shape.parts(), shape.query_size()});
  const Tensor of_states = arrived[0].defined() ? arrived[0].contiguous() : Tensor(),
               of_contexts = arrived[1].defined() ? arrived[1].contiguous() : Tensor();
  kernels::attentive_pack_backward(shape, weights_of(in), write(packed));
  run_attentive_parts(shape, [&](int64_t part, float* scratch) {
    const kernels::AttentiveBackward at{.packed = read(packed),
                                        .energy = read(in[kEnergy]),
                                        .keys = read(in[kKeys]),
                                        .values = read(in[kValues]),
                                        .gates = read(kept[kGates]),
                                        .hidden_before = read(kept[kHiddenBefore]),
                                        .cell_before = read(kept[kCellBefore]),
                                        .queries = read(kept[kQueries]),
                                        .attention = read(kept[kAttention]),
                                        .outputs = read(of_states),
                                        .contexts = read(of_contexts),
                                        .gate_gradients = write(gates),
                                        .query_gradients = write(queries),
                                        .key_gradients = write(gradients[kKeys]),
                                        .value_gradients = write(gradients[kValues]),
                                        .start_hidden = write(gradients[kStartHidden]),
                                        .start_cell = write(gradients[kStartCell]),
                                        .sums = write(sums),
                                        .energy_sums = write(energy_sums)};
    kernels::attentive_backward(shape, part, at, scratch);
  });
  kernels::recurrent_bias_gradients(shape.recurrent(), read(sums), write(gradients[kBiasInput]),
                                    write(gradients[kBiasRecurrent]));
  const Tensor of_inputs = gates.narrow(1, 0, shape.gates() * h);  // [N, G H]
  const Tensor entries = in[kX].view({-1, width}), contexts = kept[kContexts].flatten(0, 1);
  const Tensor weight = in[kWeightInput].narrow(1, 0, width);  // [G H, E]
  const Tensor dx = gradients[kX].view({-1, width});
  Jobs jobs;
  jobs.add_product(gradients[kWeightInput].narrow(1, 0, width), of_inputs, entries);
  jobs.add_product(gradients[kWeightInput].narrow(1, width, shape.value_size), of_inputs, contexts);
  add_recurrent_product(shape.recurrent(), gradients[kWeightRecurrent], gates, kept[kHiddenBefore],
                        jobs);
  jobs.add_blocks(dx.size(0), kEntryBlock, [&](int64_t begin, int64_t count) {
    Tensor block = dx.narrow(0, begin, count);
    at::mm_out(block, of_inputs.narrow(0, begin, count), weight);
  });
  if (shape.additive) {
    jobs.add_product(gradients[kQuery], queries, kept[kHiddenBefore]);
    if (in[kQueryBias].size(0) > 0)
      jobs.add([&] { at::sum_out(gradients[kQueryBias], queries, 0); });
    jobs.add([&] { at::sum_out(gradients[kEnergy], energy_sums, 0); });
  }
  jobs.run();
  return gradients;
}

class AttentiveFunction : public torch::autograd::Function<AttentiveFunction> {
 public:
  static tensor_list forward(AutogradContext* context, at::TensorList in,
                             const std::shared_ptr<AttentivePlan>& plan) {
    AttentivePass pass = attentive_forward_pass(in, plan->shape);
    tensor_list saved = in.vec();
    saved.insert(saved.end(), pass.kept.begin(), pass.kept.end());
    context->set_materialize_grads(false);
    context->save_for_backward(saved);
    context->saved_data["plan"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(plan));
    return {pass.states, pass.kept[kContexts]};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    require(!at::GradMode::is_enabled(), ErrorKind::Unsupported,
            "the fused decoder's gradients cannot be differentiated; hold a ReadableOnly while the "
            "network runs");
    const tensor_list saved = context->get_saved_variables();
    const auto holder =
        c10::static_intrusive_pointer_cast<Holder>(context->saved_data["plan"].toCapsule());
    tensor_list gradients = attentive_backward_pass(
        at::TensorList(saved).slice(0, kInputs),
        tensor_list(saved.begin() + static_cast<ptrdiff_t>(kInputs), saved.end()),
        holder->plan->shape, arrived);
    gradients.emplace_back();  // the plan's
    return gradients;
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<AttentivePlan> p) : plan(std::move(p)) {}
    std::shared_ptr<AttentivePlan> plan;
  };
};

bool has_additive_or_dot(const ScoreFunction& score, int64_t key_size) {
  return score.dot_scale(key_size).has_value() || score.additive_parts().has_value();
}

}  // namespace

bool can_run_attentive_layer(const ScoreFunction& score, const Memory& memory) {
  const KeepMask& mask = memory.mask;
  return kernels_take({memory.keys, memory.values}) && memory.keys.size(1) == 1 &&
         memory.values.size(1) == 1 && !memory.broken.defined() && mask.is_simple() &&
         !mask.queries().defined() && !mask.band() &&
         has_additive_or_dot(score, memory.keys.size(3));
}

AttentiveOutput run_attentive_layer(const RecurrentLayer& layer, const ScoreFunction& score,
                                    const Memory& memory, const Tensor& x,
                                    const RecurrentState& start) {
  const auto plan = std::make_shared<AttentivePlan>();
  AttentiveShape& shape = plan->shape;
  shape.cell = cell_named(layer.cell);
  shape.hidden = layer.hidden_size();
  shape.rows = x.size(0), shape.steps = x.size(1);
  shape.keys = memory.size();
  shape.key_size = memory.keys.size(3), shape.value_size = memory.values.size(3);
  tensor_list in(kInputs);
  in[kX] = x;
  for (size_t i = 0; i < 4; ++i) in[kWeightInput + i] = layer.weights[i];
  in[kStartHidden] = start.hidden[0];
  if (plan->has_cell()) in[kStartCell] = start.cell[0];
  in[kKeys] = memory.keys.squeeze(1), in[kValues] = memory.values.squeeze(1);
  if (const auto parts = score.additive_parts()) {
    in[kQuery] = parts->query, in[kQueryBias] = parts->bias, in[kEnergy] = parts->energy;
  } else {
    shape.additive = false;
    shape.scale = static_cast<float>(*score.dot_scale(shape.key_size));
  }
  for (Tensor& tensor : in)
    tensor = tensor.defined() ? tensor.contiguous() : at::empty({0}, x.options());
  if (const Tensor& keep = memory.mask.keys(); keep.defined()) {
    plan->keep = keep.reshape({keep.size(0), -1})
                     .expand({shape.rows, shape.keys})
                     .to(at::kByte)
                     .contiguous();  // [B, K]
    shape.keep = plan->keep.data_ptr<uint8_t>();
  }
  if (torch::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(in)) {
    const tensor_list results = AttentiveFunction::apply(at::TensorList(in), plan);
    return {results[0], results[1]};
  }
  const AttentivePass pass = attentive_forward_pass(in, shape);
  return {pass.states, pass.kept[kContexts]};
}

}  // namespace fovea

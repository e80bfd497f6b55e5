#include "fovea/nn/attentive_layer.h"

#include "fovea/core/error.h"
#include "fovea/core/kernel_path.h"
#include "fovea/core/torch.h"
#include "fovea/nn/attentive_passes.h"
#include "fovea/nn/recurrent_passes.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::AttentionDecoderShape;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// One of the three ways.
struct AttentiveWay {
  AttentivePass (*forward)(at::TensorList, const AttentivePlan&);
  tensor_list (*backward)(at::TensorList, at::TensorList, const AttentivePlan&, const tensor_list&);
};
constexpr AttentiveWay kFused{fused_attentive_forward, fused_attentive_backward};
constexpr AttentiveWay kUnrolled{unrolled_attentive_forward, unrolled_attentive_backward};
constexpr AttentiveWay kDevice{device_attentive_forward, device_attentive_backward};

/// A call that the graph remembers.
struct AttentiveCall : torch::CustomClassHolder {
  AttentiveCall(AttentiveWay chosen, AttentivePlan made) : way(chosen), plan(std::move(made)) {}
  AttentiveWay way;
  AttentivePlan plan;
};

class AttentiveFunction : public torch::autograd::Function<AttentiveFunction> {
 public:
  static tensor_list forward(AutogradContext* context, at::TensorList in,
                             const c10::intrusive_ptr<AttentiveCall>& call) {
    AttentivePass pass = call->way.forward(in, call->plan);
    tensor_list saved = in.vec();
    saved.insert(saved.end(), pass.kept.begin(), pass.kept.end());
    context->set_materialize_grads(false);
    context->save_for_backward(saved);
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    return {pass.states, pass.contexts};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    require(!at::GradMode::is_enabled(), ErrorKind::Unsupported,
            "the fused decoder's gradients cannot be differentiated; hold a ReadableOnly while the "
            "network runs");
    const tensor_list saved = context->get_saved_variables();
    const at::TensorList all(saved);
    const auto call =
        c10::static_intrusive_pointer_cast<AttentiveCall>(context->saved_data["call"].toCapsule());
    tensor_list gradients = call->way.backward(all.slice(0, kAttentiveInputs),
                                               all.slice(kAttentiveInputs), call->plan, arrived);
    gradients.emplace_back();  // the call's
    return gradients;
  }
};

bool has_additive_or_dot(const ScoreFunction& score, int64_t key_size) {
  return score.dot_scale(key_size).has_value() || score.additive_parts().has_value();
}

/// The fastest way, or the unrolled one.
AttentiveOutput run_way(bool unrolled, const RecurrentLayer& layer, const ScoreFunction& score,
                        const Memory& memory, const Tensor& x, const RecurrentState& start) {
  AttentivePlan plan;
  AttentionDecoderShape& shape = plan.shape;
  shape.cell = cell_named(layer.cell);
  shape.hidden = layer.hidden_size();
  shape.rows = x.size(0), shape.steps = x.size(1);
  shape.keys = memory.size();
  shape.key_size = memory.keys.size(3), shape.value_size = memory.values.size(3);
  tensor_list in(kAttentiveInputs);
  in[kX] = x;
  for (size_t i = 0; i < 4; ++i) in[kWeightInput + i] = layer.weights[i];
  in[kStartHidden] = start.hidden[0];
  if (plan.has_cell()) in[kStartCell] = start.cell[0];
  in[kKeys] = memory.keys.squeeze(1), in[kValues] = memory.values.squeeze(1);
  if (const auto parts = score.additive_parts()) {
    in[kQuery] = parts->query, in[kQueryBias] = parts->bias, in[kEnergy] = parts->energy;
  } else {
    shape.additive = false;
    shape.scale = static_cast<float>(*score.dot_scale(shape.key_size));
  }
  const at::TensorOptions options = layer.weights[0].options().requires_grad(false);
  for (Tensor& tensor : in)  // on a GPU what comes from rounded products may be bfloat16
    tensor = tensor.defined() ? tensor.to(options.dtype()).contiguous() : at::empty({0}, options);
  if (const Tensor& keep = memory.mask.keys(); keep.defined()) {
    plan.keep = keep.reshape({keep.size(0), -1})
                    .expand({shape.rows, shape.keys})
                    .to(at::kByte)
                    .contiguous();  // [B, K]
    shape.keep = plan.keep.data_ptr<uint8_t>();
  }
  const AttentiveWay& way = unrolled                           ? kUnrolled
                            : x.is_cpu()                       ? kFused
                            : device_attentive_takes(shape, x) ? kDevice
                                                               : kUnrolled;
  if (torch::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(in)) {
    const tensor_list results = AttentiveFunction::apply(
        at::TensorList(in), c10::make_intrusive<AttentiveCall>(way, std::move(plan)));
    return {results[0], results[1]};
  }
  const AttentivePass pass = way.forward(in, plan);
  return {pass.states, pass.contexts};
}

}  // namespace

bool can_run_attentive_layer(const ScoreFunction& score, const Memory& memory, const Tensor& x) {
  const KeepMask& mask = memory.mask;
  const bool on_gpu = x.is_cuda() && !ReadableOnly::is_asked_for();
  return (on_gpu || kernels_take({x, memory.keys, memory.values})) && memory.keys.size(1) == 1 &&
         memory.values.size(1) == 1 && !memory.broken.defined() && mask.is_simple() &&
         !mask.queries().defined() && !mask.band() &&
         has_additive_or_dot(score, memory.keys.size(3));
}

AttentiveOutput run_attentive_layer(const RecurrentLayer& layer, const ScoreFunction& score,
                                    const Memory& memory, const Tensor& x,
                                    const RecurrentState& start) {
  return run_way(/*unrolled=*/false, layer, score, memory, x, start);
}

AttentiveOutput run_unrolled_attentive_layer(const RecurrentLayer& layer,
                                             const ScoreFunction& score, const Memory& memory,
                                             const Tensor& x, const RecurrentState& start) {
  return run_way(/*unrolled=*/true, layer, score, memory, x, start);
}

}  // namespace fovea

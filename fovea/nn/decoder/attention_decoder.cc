#include "fovea/nn/decoder/attention_decoder.h"

#include "fovea/base/error.h"
#include "fovea/nn/decoder/attention_decoder_passes.h"
#include "fovea/nn/recurrent/recurrent_passes.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::AttentionDecoderShape;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// One of the three ways.
struct DecoderPasses {
  AttentionDecoderPass (*forward)(at::TensorList, const AttentionDecoderPlan&);
  tensor_list (*backward)(at::TensorList, at::TensorList, const AttentionDecoderPlan&,
                          const tensor_list&);
};
constexpr DecoderPasses kFused{cpu_decoder_forward, cpu_decoder_backward};
constexpr DecoderPasses kUnrolled{unrolled_decoder_forward, unrolled_decoder_backward};
constexpr DecoderPasses kDevice{cuda_decoder_forward, cuda_decoder_backward};

/// A call that the graph remembers.
struct AttentionDecoderCall : torch::CustomClassHolder {
  AttentionDecoderCall(DecoderPasses chosen, AttentionDecoderPlan made)
      : way(chosen), plan(std::move(made)) {}
  DecoderPasses way;
  AttentionDecoderPlan plan;
};

class AttentionDecoderFunction : public torch::autograd::Function<AttentionDecoderFunction> {
 public:
  static tensor_list forward(AutogradContext* context, at::TensorList in,
                             const c10::intrusive_ptr<AttentionDecoderCall>& call) {
    AttentionDecoderPass pass = call->way.forward(in, call->plan);
    tensor_list saved = in.vec();
    saved.insert(saved.end(), pass.saved.begin(), pass.saved.end());
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
    const auto call = c10::static_intrusive_pointer_cast<AttentionDecoderCall>(
        context->saved_data["call"].toCapsule());
    tensor_list gradients = call->way.backward(all.slice(0, kDecoderInputs),
                                               all.slice(kDecoderInputs), call->plan, arrived);
    gradients.emplace_back();  // the call's
    return gradients;
  }
};

bool has_additive_or_dot(const ScoreFunction& score, int64_t key_size) {
  return score.dot_scale(key_size).has_value() || score.additive_parts().has_value();
}

/// The fastest way, or the unrolled one.
AttentionDecoderOutput run_way(bool unrolled, const RecurrentLayer& layer,
                               const ScoreFunction& score, const Memory& memory, const Tensor& x,
                               const RecurrentState& start) {
  AttentionDecoderPlan plan;
  AttentionDecoderShape& shape = plan.shape;
  shape.cell = cell_named(layer.cell);
  shape.hidden = layer.hidden_size();
  shape.rows = x.size(0), shape.steps = x.size(1);
  shape.keys = memory.size();
  shape.key_size = memory.keys.size(3), shape.value_size = memory.values.size(3);
  tensor_list in(kDecoderInputs);
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
  const DecoderPasses& way = unrolled                       ? kUnrolled
                             : x.is_cpu()                   ? kFused
                             : cuda_decoder_takes(shape, x) ? kDevice
                                                            : kUnrolled;
  if (torch::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(in)) {
    const tensor_list results = AttentionDecoderFunction::apply(
        at::TensorList(in), c10::make_intrusive<AttentionDecoderCall>(way, std::move(plan)));
    return {results[0], results[1]};
  }
  const AttentionDecoderPass pass = way.forward(in, plan);
  return {pass.states, pass.contexts};
}

}  // namespace

bool can_run_attention_decoder(const ScoreFunction& score, const Memory& memory, const Tensor& x) {
  const KeepMask& mask = memory.mask;
  const bool on_gpu = x.is_cuda() && !ReadableOnly::is_asked_for();
  return (on_gpu || kernels_take({x, memory.keys, memory.values})) && memory.keys.size(1) == 1 &&
         memory.values.size(1) == 1 && !memory.broken.defined() && mask.is_simple() &&
         !mask.queries().defined() && !mask.band() &&
         has_additive_or_dot(score, memory.keys.size(3));
}

AttentionDecoderOutput run_attention_decoder(const RecurrentLayer& layer,
                                             const ScoreFunction& score, const Memory& memory,
                                             const Tensor& x, const RecurrentState& start) {
  return run_way(/*unrolled=*/false, layer, score, memory, x, start);
}

AttentionDecoderOutput run_unrolled_attention_decoder(const RecurrentLayer& layer,
                                                      const ScoreFunction& score,
                                                      const Memory& memory, const Tensor& x,
                                                      const RecurrentState& start) {
  return run_way(/*unrolled=*/true, layer, score, memory, x, start);
}

}  // namespace fovea

// The steps of attention_decoder_unrolled.cc with the kernels of kernels/attention_decoder between
// their matrix products, and the factors of these rounded in a bf16 scope. Inside, steps come
// first: [T, B, …].
#include "fovea/kernels/attention_decoder/attention_decoder.h"
#include "fovea/kernels/cell_step/cell_step.h"
#include "fovea/kernels/device/device.h"
#include "fovea/nn/decoder/attention_decoder_passes.h"
#include "fovea/tensor/device_product.h"
#include "fovea/tensor/device_stream.h"
#include "fovea/tensor/device_tensor.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::AttentionDecoderShape;
using kernels::device::Attend;
using torch::autograd::tensor_list;

/// What the forward pass leaves for the backward pass. T: the type of factors.
enum SavedOnDevice : size_t {
  kDeviceInputs,       // x [T B, E'] in T, E' the width of factors
  kDeviceFromInput,    // the columns of W for x [G H, E'] in T
  kDeviceFromContext,  // those for z [G H, C] in T
  kDeviceFromState,    // A above U: both multiply h. [F + G H, H] in T
  kDeviceSeenKeys,     // k + a [B, K, F] in T
  kDeviceSeenValues,   // m [B, K, C] in T
  kDeviceStates,       // h before all steps and after the last [T + 1, B, H]
  kDeviceFactors,      // the same in T
  kDeviceCells,        // c likewise; lstm
  kDeviceProducts,     // A h beside U h [T, B, F + G H] in T
  kDeviceWeights,      // w [T, B, K]
  kDeviceSeen,         // z [T, B, C] in T
  kDeviceGates,        // [T, B, K H]
  kSavedOnDevice
};

/// x [T, B, N] as [T B, N]
Tensor entries_of(const Tensor& x) {
  return x.flatten(0, 1);
}

/// A copy of x [B, T, N] as [T, B, N].
Tensor steps_first(const Tensor& x, at::ScalarType type) {
  return at::empty({x.size(1), x.size(0), x.size(2)}, x.options().dtype(type))
      .copy_(x.transpose(0, 1));
}

float* numbers(const Tensor& x) {
  return x.numel() > 0 ? x.data_ptr<float>() : nullptr;
}

/// The attention of one step, with what all steps share.
Attend attend_of(at::TensorList in, const tensor_list& saved, const AttentionDecoderShape& shape,
                 int64_t step) {
  const Tensor& queries = shape.additive ? saved[kDeviceProducts] : saved[kDeviceFactors];
  return {.type = number_type_of(queries),
          .queries = queries[step].data_ptr(),
          .query_row = queries.size(2),
          .keys = saved[kDeviceSeenKeys].data_ptr(),
          .values = saved[kDeviceSeenValues].data_ptr(),
          .energy = numbers(in[kEnergy]),
          .weights = saved[kDeviceWeights][step].data_ptr<float>()};
}

/// The gradients of one call.
class Backward {
 public:
  Backward(at::TensorList in, tensor_list saved, const AttentionDecoderPlan& plan)
      : in_(in), saved_(std::move(saved)), plan_(plan) {}

  tensor_list run(const tensor_list& arrived) {
    begin(arrived);
    for (int64_t step = shape_.steps - 1; step >= 0; --step) run_step(step);
    tensor_list gradients(kDecoderInputs);
    of_weights(gradients);
    of_memory(gradients);
    gradients[kStartHidden] = past_ + back_;
    gradients[kStartCell] = of_cell_;
    for (Tensor& gradient : gradients)
      if (gradient.defined()) gradient = gradient.to(at::kFloat);
    return gradients;
  }

 private:
  Tensor empty(at::IntArrayRef sizes, at::ScalarType type) const {
    return at::empty(sizes, saved_[kDeviceStates].options().dtype(type));
  }

  void begin(const tensor_list& arrived) {
    const int64_t rows = shape_.rows, steps = shape_.steps;
    if (arrived[0].defined()) of_states_ = steps_first(arrived[0], type_);
    of_seen_ =
        arrived[1].defined() ? steps_first(arrived[1], type_) : at::zeros_like(saved_[kDeviceSeen]);
    of_inputs_ = empty({steps, rows, products_}, type_);
    of_products_ = empty({steps, rows, asked_ + products_}, type_);
    of_scores_ = empty({steps, rows, shape_.keys}, at::kFloat);
    back_ = empty({rows, shape_.hidden}, type_);
    past_ = at::zeros({rows, shape_.hidden}, saved_[kDeviceStates].options());
    of_cell_ = plan_.has_cell() ? at::zeros_like(past_) : empty({0}, at::kFloat);
  }

  void run_step(int64_t step) {
    const bool is_last = step == shape_.steps - 1;
    const auto at_step = [&](const Tensor& x, int64_t t) {
      return x.numel() > 0 ? x[t].data_ptr<float>() : nullptr;
    };
    const Tensor of_products = of_products_[step];  // [B, F + G H]
    Tensor of_input = of_inputs_[step], of_seen = of_seen_[step];
    const kernels::device::CellBackward cell{
        .type = number_type_of(back_),
        .gates = at_step(saved_[kDeviceGates], step),
        .hidden_before = at_step(saved_[kDeviceStates], step),
        .cell_before = at_step(saved_[kDeviceCells], step),
        .hidden = at_step(saved_[kDeviceStates], step + 1),
        .cell = at_step(saved_[kDeviceCells], step + 1),
        .outside = of_states_.defined() ? of_states_[step].data_ptr() : nullptr,
        .products = is_last ? nullptr : back_.data_ptr(),
        .past = numbers(past_),
        .of_cell = numbers(of_cell_),
        .input = of_input.data_ptr(),
        .recurrent = of_products.narrow(1, asked_, products_).data_ptr(),
        .recurrent_row = asked_ + products_};
    kernels::device::cell_backward(shape_.recurrent(), cell, stream_);
    of_seen.addmm_(of_input, saved_[kDeviceFromContext]);  // dz [B, C]
    const kernels::device::AttendGradient gradient{.contexts = of_seen.data_ptr(),
                                                   .scores = of_scores_[step].data_ptr<float>(),
                                                   .queries = of_products.data_ptr(),
                                                   .query_row = asked_ + products_,
                                                   .hidden = numbers(past_)};
    kernels::device::attend_backward(shape_, attend_of(in_, saved_, shape_, step), gradient,
                                     stream_);
    at::mm_out(back_, of_products, saved_[kDeviceFromState]);
  }

  void of_weights(tensor_list& gradients) const {
    const int64_t steps = shape_.steps, rows = shape_.rows, width = in_[kX].size(2);
    const Tensor inputs = entries_of(of_inputs_), products = entries_of(of_products_),
                 before = entries_of(saved_[kDeviceFactors].narrow(0, 0, steps));
    gradients[kX] = inputs.mm(saved_[kDeviceFromInput])
                        .narrow(1, 0, width)
                        .unflatten(0, {steps, rows})
                        .transpose(0, 1);  // [B, T, E]
    gradients[kWeightInput] = at::cat({inputs.t().mm(saved_[kDeviceInputs]).narrow(1, 0, width),
                                       inputs.t().mm(entries_of(saved_[kDeviceSeen]))},
                                      1);
    const Tensor both = products.t().mm(before);  // [F + G H, H]
    gradients[kWeightRecurrent] = both.narrow(0, asked_, products_);
    gradients[kBiasInput] = column_sums(inputs);
    const Tensor sums = column_sums(products);  // [F + G H]
    gradients[kBiasRecurrent] = sums.narrow(0, asked_, products_);
    if (asked_ == 0) return;
    gradients[kQuery] = both.narrow(0, 0, asked_);
    if (in_[kQueryBias].numel() > 0) gradients[kQueryBias] = sums.narrow(0, 0, asked_);
  }

  void of_memory(tensor_list& gradients) const {
    const int64_t steps = shape_.steps, rows = shape_.rows;
    const auto by_key = [&](const Tensor& x) { return x.permute({1, 2, 0}).to(type_); };
    gradients[kValues] =
        at::bmm(by_key(saved_[kDeviceWeights]), of_seen_.transpose(0, 1));  // [B, K, C]
    if (!shape_.additive) {
      const Tensor before = saved_[kDeviceFactors].narrow(0, 0, steps).transpose(0, 1);
      gradients[kKeys] = at::bmm(by_key(of_scores_), before).to(at::kFloat) * shape_.scale;
      return;
    }
    const Tensor keys = empty({rows, shape_.keys, shape_.key_size}, at::kFloat),
                 energies = empty({rows, shape_.key_size}, at::kFloat);
    kernels::device::attention_decoder_key_gradients(shape_, attend_of(in_, saved_, shape_, 0),
                                                     numbers(of_scores_), numbers(keys),
                                                     numbers(energies), stream_);
    gradients[kKeys] = keys;
    gradients[kEnergy] = energies.sum(0);
  }

  at::TensorList in_;
  const tensor_list saved_;
  const AttentionDecoderPlan& plan_;
  const AttentionDecoderShape& shape_ = plan_.shape;
  const at::ScalarType type_ = saved_[kDeviceFactors].scalar_type();
  const int64_t asked_ = shape_.query_size(), products_ = shape_.gates() * shape_.hidden;
  void* const stream_ = current_device_stream();
  Tensor of_states_;    // [T, B, H] in T, or undefined
  Tensor of_seen_;      // dz [T, B, C] in T; first what arrived from outside
  Tensor of_inputs_;    // d(W x + Z z) [T, B, G H] in T
  Tensor of_products_;  // d(A h) beside d(U h) [T, B, F + G H] in T
  Tensor of_scores_;    // de [T, B, K]
  Tensor back_, past_;  // dh by way of the products in T, and past them [B, H]
  Tensor of_cell_;      // dc [B, H]
};

}  // namespace

bool cuda_decoder_takes(const AttentionDecoderShape& shape, const Tensor& x) {
  return x.is_cuda() && kernels::device::exists() &&
         kernels::device::attention_decoder_takes(shape);
}

AttentionDecoderPass cuda_decoder_forward(at::TensorList in, const AttentionDecoderPlan& plan) {
  const AutocastOff off;
  const AttentionDecoderShape& shape = plan.shape;
  const int64_t rows = shape.rows, steps = shape.steps, hidden = shape.hidden,
                width = in[kX].size(2), asked = shape.query_size(),
                products = shape.gates() * hidden;
  const bool rounds = current_precision() == Precision::BFloat16;
  const at::ScalarType type = rounds ? at::kBFloat16 : at::kFloat;
  const auto empty = [&](at::IntArrayRef sizes, at::ScalarType of) {
    return at::empty(sizes, in[kX].options().dtype(of));
  };
  tensor_list saved(kSavedOnDevice);
  saved[kDeviceInputs] = device_factor(entries_of(steps_first(in[kX], at::kFloat)), type);
  saved[kDeviceFromInput] = device_factor(in[kWeightInput].narrow(1, 0, width), type);
  saved[kDeviceFromContext] =
      in[kWeightInput].narrow(1, width, shape.value_size).to(type).contiguous();
  saved[kDeviceFromState] =
      (asked > 0 ? at::cat({in[kQuery], in[kWeightRecurrent]}) : in[kWeightRecurrent]).to(type);
  saved[kDeviceSeenKeys] =
      (in[kQueryBias].numel() > 0 ? in[kKeys] + in[kQueryBias] : in[kKeys]).to(type);
  saved[kDeviceSeenValues] = in[kValues].to(type);
  saved[kDeviceStates] = empty({steps + 1, rows, hidden}, at::kFloat);
  saved[kDeviceFactors] = rounds ? empty({steps + 1, rows, hidden}, type) : saved[kDeviceStates];
  saved[kDeviceCells] =
      plan.has_cell() ? at::empty_like(saved[kDeviceStates]) : empty({0}, at::kFloat);
  saved[kDeviceProducts] = empty({steps, rows, asked + products}, type);
  saved[kDeviceWeights] = empty({steps, rows, shape.keys}, at::kFloat);
  saved[kDeviceSeen] = empty({steps, rows, shape.value_size}, type);
  saved[kDeviceGates] = empty({steps, rows, shape.saved() * hidden}, at::kFloat);
  saved[kDeviceStates][0].copy_(in[kStartHidden]);
  if (rounds) saved[kDeviceFactors][0].copy_(in[kStartHidden]);
  if (plan.has_cell()) saved[kDeviceCells][0].copy_(in[kStartCell]);
  const Tensor inputs =
      saved[kDeviceInputs].mm(saved[kDeviceFromInput].t()).view({steps, rows, products});  // W x
  const Tensor of_state = saved[kDeviceFromState].t(), of_context = saved[kDeviceFromContext].t();
  void* const stream = current_device_stream();
  for (int64_t step = 0; step < steps; ++step) {
    Tensor product = saved[kDeviceProducts][step], input = inputs[step];
    const Tensor seen = saved[kDeviceSeen][step];
    at::mm_out(product, saved[kDeviceFactors][step], of_state);
    kernels::device::attend_forward(shape, attend_of(in, saved, shape, step), seen.data_ptr(),
                                    stream);
    input.addmm_(seen, of_context);
    const auto at_step = [&](size_t which, int64_t t) {
      return saved[which].numel() > 0 ? saved[which][t].data_ptr<float>() : nullptr;
    };
    const kernels::device::CellForward cell{
        .type = number_type_of(input),
        .input = input.data_ptr(),
        .recurrent = product.narrow(1, asked, products).data_ptr(),
        .recurrent_row = asked + products,
        .input_bias = numbers(in[kBiasInput]),
        .recurrent_bias = numbers(in[kBiasRecurrent]),
        .hidden_before = at_step(kDeviceStates, step),
        .cell_before = at_step(kDeviceCells, step),
        .gates = at_step(kDeviceGates, step),
        .hidden = at_step(kDeviceStates, step + 1),
        .cell = at_step(kDeviceCells, step + 1),
        .rounded = rounds ? saved[kDeviceFactors][step + 1].data_ptr() : nullptr};
    kernels::device::cell_forward(shape.recurrent(), cell, stream);
  }
  return {saved[kDeviceStates].narrow(0, 1, steps).transpose(0, 1),
          saved[kDeviceSeen].transpose(0, 1), std::move(saved)};
}

tensor_list cuda_decoder_backward(at::TensorList in, at::TensorList saved,
                                  const AttentionDecoderPlan& plan, const tensor_list& arrived) {
  const AutocastOff off;
  return Backward(in, saved.vec(), plan).run(arrived);
}

}  // namespace fovea

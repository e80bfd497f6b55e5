#include "fovea/nn/decoder/attention_decoder_passes.h"
#include "fovea/nn/recurrent/recurrent_passes.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::AttentionDecoderShape;
using torch::autograd::tensor_list;

/// What the forward pass leaves for the backward pass.
enum SavedOnCpu : size_t {
  kGates,
  kHiddenBefore,
  kCellBefore,
  kQueries,
  kAttention,
  kContexts,
  kSavedOnCpu
};

const float* read(const Tensor& x) {
  return x.defined() && x.numel() > 0 ? x.data_ptr<float>() : nullptr;
}
float* write(const Tensor& x) {
  return x.data_ptr<float>();
}

kernels::AttentionDecoderWeights weights_of(at::TensorList in) {
  const int64_t width = in[kX].size(2);
  return {read(in[kWeightInput]) + width, in[kWeightInput].size(1), read(in[kWeightRecurrent]),
          read(in[kQuery])};
}

/// work(slice, scratch) for all slices.
void run_decoder_slices(const AttentionDecoderShape& shape,
                        const std::function<void(int64_t, float*)>& work) {
  run_parallel(shape.slices(), [&](int64_t slice) {
    const Tensor scratch = at::empty({shape.scratch()}, at::kFloat);
    work(slice, write(scratch));
  });
}

}  // namespace

AttentionDecoderPass cpu_decoder_forward(at::TensorList in, const AttentionDecoderPlan& plan) {
  const AttentionDecoderShape& shape = plan.shape;
  const Tensor& x = in[kX];
  const int64_t rows = shape.rows, steps = shape.steps, h = shape.hidden, n = rows * steps,
                width = x.size(2), products = shape.gates() * h;
  const auto empty = [&](at::IntArrayRef sizes) { return at::empty(sizes, x.options()); };
  AttentionDecoderPass pass{empty({rows, steps, h}), empty({rows, steps, shape.value_size}),
                            tensor_list(kSavedOnCpu)};
  auto& saved = pass.saved;
  saved[kGates] = empty({n, shape.saved() * h});
  saved[kHiddenBefore] = empty({n, h});
  saved[kCellBefore] = empty({in[kStartCell].size(0) > 0 ? n : 0, h});
  saved[kQueries] = empty({n, shape.query_size()});
  saved[kAttention] = empty({n, shape.keys});
  saved[kContexts] = pass.contexts;
  const Tensor packed = empty({shape.packed()}), entries = x.view({n, width});
  const Tensor weight = in[kWeightInput].narrow(1, 0, width).t();  // [E, G H]
  Jobs jobs;
  jobs.add([&] { kernels::attention_decoder_pack_forward(shape, weights_of(in), write(packed)); });
  jobs.add_blocks(n, kEntryBlock, [&](int64_t begin, int64_t count) {
    Tensor block = saved[kGates].narrow(0, begin, count).narrow(1, 0, products);
    at::mm_out(block, entries.narrow(0, begin, count), weight);
  });
  jobs.run();
  run_decoder_slices(shape, [&](int64_t slice, float* scratch) {
    const kernels::AttentionDecoderForward at{.packed = read(packed),
                                              .input_bias = read(in[kBiasInput]),
                                              .recurrent_bias = read(in[kBiasRecurrent]),
                                              .query_bias = read(in[kQueryBias]),
                                              .energy = read(in[kEnergy]),
                                              .keys = read(in[kKeys]),
                                              .values = read(in[kValues]),
                                              .start_hidden = read(in[kStartHidden]),
                                              .start_cell = read(in[kStartCell]),
                                              .gates = write(saved[kGates]),
                                              .hidden_before = write(saved[kHiddenBefore]),
                                              .cell_before = write(saved[kCellBefore]),
                                              .queries = write(saved[kQueries]),
                                              .attention = write(saved[kAttention]),
                                              .outputs = write(pass.states),
                                              .contexts = write(saved[kContexts])};
    kernels::attention_decoder_forward(shape, slice, at, scratch);
  });
  return pass;
}

tensor_list cpu_decoder_backward(at::TensorList in, at::TensorList saved,
                                 const AttentionDecoderPlan& plan, const tensor_list& arrived) {
  const AttentionDecoderShape& shape = plan.shape;
  const int64_t width = in[kX].size(2), h = shape.hidden;
  tensor_list gradients(kDecoderInputs);
  for (size_t i = 0; i < kDecoderInputs; ++i) gradients[i] = at::empty_like(in[i]);
  const auto empty = [&](at::IntArrayRef sizes) { return at::empty(sizes, in[kX].options()); };
  const Tensor packed = empty({shape.packed()}), gates = at::empty_like(saved[kGates]),
               queries = at::empty_like(saved[kQueries]),
               sums = empty({shape.slices(), shape.saved() * h}),
               energy_sums = empty({shape.slices(), shape.query_size()});
  const Tensor of_states = arrived[0].defined() ? arrived[0].contiguous() : Tensor(),
               of_contexts = arrived[1].defined() ? arrived[1].contiguous() : Tensor();
  kernels::attention_decoder_pack_backward(shape, weights_of(in), write(packed));
  run_decoder_slices(shape, [&](int64_t slice, float* scratch) {
    const kernels::AttentionDecoderBackward at{.packed = read(packed),
                                               .energy = read(in[kEnergy]),
                                               .keys = read(in[kKeys]),
                                               .values = read(in[kValues]),
                                               .gates = read(saved[kGates]),
                                               .hidden_before = read(saved[kHiddenBefore]),
                                               .cell_before = read(saved[kCellBefore]),
                                               .queries = read(saved[kQueries]),
                                               .attention = read(saved[kAttention]),
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
    kernels::attention_decoder_backward(shape, slice, at, scratch);
  });
  kernels::recurrent_bias_gradients(shape.recurrent(), read(sums), write(gradients[kBiasInput]),
                                    write(gradients[kBiasRecurrent]));
  const Tensor of_inputs = gates.narrow(1, 0, shape.gates() * h);  // [N, G H]
  const Tensor entries = in[kX].view({-1, width}), contexts = saved[kContexts].flatten(0, 1);
  const Tensor weight = in[kWeightInput].narrow(1, 0, width);  // [G H, E]
  const Tensor dx = gradients[kX].view({-1, width});
  Jobs jobs;
  jobs.add_product(gradients[kWeightInput].narrow(1, 0, width), of_inputs, entries);
  jobs.add_product(gradients[kWeightInput].narrow(1, width, shape.value_size), of_inputs, contexts);
  add_recurrent_product(shape.recurrent(), gradients[kWeightRecurrent], gates, saved[kHiddenBefore],
                        jobs);
  jobs.add_blocks(dx.size(0), kEntryBlock, [&](int64_t begin, int64_t count) {
    Tensor block = dx.narrow(0, begin, count);
    at::mm_out(block, of_inputs.narrow(0, begin, count), weight);
  });
  if (shape.additive) {
    jobs.add_product(gradients[kQuery], queries, saved[kHiddenBefore]);
    if (in[kQueryBias].size(0) > 0)
      jobs.add([&] { at::sum_out(gradients[kQueryBias], queries, 0); });
    jobs.add([&] { at::sum_out(gradients[kEnergy], energy_sums, 0); });
  }
  jobs.run();
  return gradients;
}

}  // namespace fovea

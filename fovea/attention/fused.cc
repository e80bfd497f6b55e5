#include "fovea/attention/fused.h"

#include <torch/version.h>
#include <limits>

#include "fovea/attention/products.h"
#include "fovea/base/error.h"
#include "fovea/kernels/fused_attention/fused_attention.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;

constexpr bool kHasTorchKernels = TORCH_VERSION_MAJOR >= 2;

kernels::Element element_of(const Tensor& x) {
  switch (x.scalar_type()) {
    case at::kDouble:
      return kernels::Element::Float64;
    case at::kBFloat16:
      return kernels::Element::BFloat16;
    default:
      return kernels::Element::Float32;
  }
}

/// What the kernel's sums are made of.
at::ScalarType sum_type(const Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// Everything besides queries, keys and values.
struct Settings {
  double scale = 1;
  Tensor keep_keys, keep_queries;  // uint8 [B, K], [B, Q], or undefined
  MaskBand band;
  Tensor slopes;  // double [H] or undefined
  double dropout = 0;
  uint64_t dropout_key = 0;
};

/// bool [b, 1, 1, k] or [b, 1, q, 1] as bytes [B, count], or undefined.
Tensor bytes_of(const Tensor& keep, int64_t batch, int64_t count) {
  if (!keep.defined()) return {};
  return keep.reshape({keep.size(0), -1}).expand({batch, count}).to(at::kByte).contiguous();
}

kernels::Rows rows_of(const Tensor& x) {
  return {x.data_ptr(), x.stride(0), x.stride(1), x.stride(2)};
}
kernels::MutableRows mutable_rows_of(const Tensor& x) {
  return {x.data_ptr(), x.stride(0), x.stride(1), x.stride(2)};
}

/// The kernel reads views as they are, unless the width is not contiguous.
Tensor readable(const Tensor& x) {
  return x.size(-1) <= 1 || x.stride(-1) == 1 ? x : x.contiguous();
}

kernels::FusedAttentionProblem problem_of(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const Settings& settings) {
  kernels::FusedAttentionProblem problem;
  problem.element = element_of(q);
  problem.batch = q.size(0), problem.heads = q.size(1), problem.key_heads = k.size(1);
  problem.queries = q.size(2), problem.keys = k.size(2);
  problem.head_size = q.size(3), problem.value_size = v.size(3);
  problem.q = rows_of(q), problem.k = rows_of(k), problem.v = rows_of(v);
  problem.scale = settings.scale;
  if (settings.keep_keys.defined()) problem.keep_keys = settings.keep_keys.data_ptr<uint8_t>();
  if (settings.keep_queries.defined())
    problem.keep_queries = settings.keep_queries.data_ptr<uint8_t>();
  problem.first_query = settings.band.first_query;
  problem.band_low = settings.band.low, problem.band_high = settings.band.high;
  if (settings.slopes.defined()) problem.slopes = settings.slopes.data_ptr<double>();
  problem.dropout_rate = settings.dropout;
  problem.dropout_key = settings.dropout_key;
  return problem;
}

/// Working memory of this thread, at least so large; it is kept for the next call.
void* scratch_of_thread(int64_t bytes) {
  thread_local Tensor memory;
  if (!memory.defined() || memory.numel() < bytes) memory = at::empty({bytes}, at::kByte);
  return memory.data_ptr();
}

/// [B, H, N, D] laid out as [B, N, H, D]: joining the heads again is then no copy.
Tensor empty_like_heads(const Tensor& x, int64_t width) {
  return at::empty({x.size(0), x.size(2), x.size(1), width}, x.options()).transpose(1, 2);
}

struct Forward {
  Tensor out, lse;  // [B, H, Q, Dv], [B, H, Q]
};

Forward run_forward(const Tensor& q, const Tensor& k, const Tensor& v, const Settings& settings) {
  const auto problem = problem_of(q, k, v, settings);
  Forward result{empty_like_heads(q, v.size(3)),
                 at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(sum_type(q)))};
  const auto work = kernels::fused_attention_forward_work(problem);
  run_parallel(work.slices, [&](int64_t slice) {
    kernels::fused_attention_forward(problem, slice, mutable_rows_of(result.out),
                                     result.lse.data_ptr(), scratch_of_thread(work.scratch));
  });
  return result;
}

/// softmax(scale q k^T) v with the kernel's own backward pass.
class FusedAttention : public torch::autograd::Function<FusedAttention> {
 public:
  /// Settings live in `shared`, which the graph keeps alive.
  static torch::autograd::variable_list forward(AutogradContext* context, const Tensor& q,
                                                const Tensor& k, const Tensor& v,
                                                const std::shared_ptr<Settings>& shared) {
    const Forward result = run_forward(q, k, v, *shared);
    context->save_for_backward({q, k, v, result.out, result.lse});
    context->saved_data["settings"] =
        c10::IValue::make_capsule(c10::make_intrusive<Holder>(shared));
    context->mark_non_differentiable({result.lse});
    return {result.out, result.lse};
  }

  static torch::autograd::variable_list backward(AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3], &lse = saved[4];
    const auto holder =
        c10::static_intrusive_pointer_cast<Holder>(context->saved_data["settings"].toCapsule());
    const auto problem = problem_of(q, k, v, *holder->settings);
    const Tensor out_gradient = readable(gradients[0]);
    const Tensor dq = empty_like_heads(q, q.size(3)), dk = empty_like_heads(k, k.size(3)),
                 dv = empty_like_heads(v, v.size(3));
    const kernels::FusedAttentionGradient gradient{rows_of(out),          lse.data_ptr(),
                                                   rows_of(out_gradient), mutable_rows_of(dq),
                                                   mutable_rows_of(dk),   mutable_rows_of(dv)};
    const auto work = kernels::fused_attention_backward_work(problem);
    const Tensor shared = at::empty({work.shared}, at::kByte);
    run_parallel(work.slices, [&](int64_t slice) {
      kernels::fused_attention_backward(problem, slice, gradient, shared.data_ptr(),
                                        scratch_of_thread(work.scratch));
    });
    run_parallel(work.sum_slices, [&](int64_t slice) {
      kernels::fused_attention_backward_sum(problem, slice, gradient, shared.data_ptr(),
                                            scratch_of_thread(work.scratch));
    });
    return {dq, dk, dv, Tensor()};
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<Settings> s) : settings(std::move(s)) {}
    std::shared_ptr<Settings> settings;
  };
};

/// Rows rebuilt by the kernel.
class KernelWeights : public WeightSource {
 public:
  KernelWeights(Tensor q, Tensor k, std::shared_ptr<Settings> settings)
      : q_(q.detach()), k_(k.detach()), settings_(std::move(settings)) {}

  std::array<int64_t, 4> sizes() const override {
    return {q_.size(0), q_.size(1), q_.size(2), k_.size(2)};
  }

  Tensor rows(int64_t example, int64_t head, int64_t first, int64_t count) const override {
    const auto problem = problem_of(q_, k_, k_, *settings_);
    const Tensor weights = at::empty({count, k_.size(2)}, q_.options().dtype(sum_type(q_)));
    kernels::fused_attention_weights(
        problem, {example, head, first, count}, weights.data_ptr(), k_.size(2),
        scratch_of_thread(kernels::fused_attention_weights_scratch(problem)));
    return weights;
  }

 private:
  Tensor q_, k_;  // [B, H, Q, D], [B, G, K, D]
  std::shared_ptr<Settings> settings_;
};

/// Rows computed with tensors, a few at a time: for devices without a kernel of ours.
class TensorWeights : public WeightSource {
 public:
  TensorWeights(Tensor q, Tensor k, KeepMask mask, std::shared_ptr<Settings> settings)
      : q_(q.detach()), k_(k.detach()), mask_(std::move(mask)), settings_(std::move(settings)) {}

  std::array<int64_t, 4> sizes() const override {
    return {q_.size(0), q_.size(1), q_.size(2), k_.size(2)};
  }

  Tensor rows(int64_t example, int64_t head, int64_t first, int64_t count) const override {
    torch::NoGradGuard no_gradients;
    const Tensor keys = k_[example][head / (q_.size(1) / k_.size(1))].to(at::kFloat);  // [K, D]
    const Tensor query = q_[example][head].narrow(0, first, count).to(at::kFloat);     // [n, D]
    Tensor scores = at::matmul(query * settings_->scale, keys.t());                    // [n, K]
    const auto position =
        at::arange(count, scores.options()) + double(settings_->band.first_query + first);  // [n]
    const auto distance = at::arange(k_.size(2), scores.options()) - position.unsqueeze(1);
    if (settings_->slopes.defined())
      scores = scores - settings_->slopes[head].item<double>() * distance.abs();
    Tensor keep = (distance >= double(settings_->band.low)) &
                  (distance <= double(settings_->band.high));  // [n, K]
    const auto own = [&](const Tensor& whole) {
      return whole[whole.size(0) == 1 ? 0 : example][0];
    };
    if (mask_.keys().defined()) keep = keep & own(mask_.keys());
    if (mask_.queries().defined()) keep = keep & own(mask_.queries()).narrow(0, first, count);
    return masked_softmax(scores.unsqueeze(0).unsqueeze(0), KeepMask::from_keep(keep.unsqueeze(0)))
        .squeeze(0)
        .squeeze(0);
  }

 private:
  Tensor q_, k_;
  KeepMask mask_;
  std::shared_ptr<Settings> settings_;
};

#if TORCH_VERSION_MAJOR >= 2
/// Each query sees the keys up to its own place, and nothing else is hidden.
bool is_causal(const KeepMask& mask, const Tensor& q, const Tensor& k) {
  return mask.band() && !mask.keys().defined() && !mask.queries().defined() &&
         mask.band()->high == 0 && mask.band()->low == -MaskBand::kFar &&
         mask.band()->first_query == 0 && q.size(2) == k.size(2);
}

/// LibTorch's fused kernels. -> [B, H, Q, Dv]
Tensor run_torch_kernel(const Tensor& q, const Tensor& k, const Tensor& v, const KeepMask& mask,
                        const Tensor& fully_masked, bool leave_fully_masked,
                        const Settings& settings) {
  const auto spread = [&](const Tensor& x) {
    return x.size(1) == q.size(1) ? x : x.repeat_interleave(q.size(1) / x.size(1), 1);
  };
  const bool causal = is_causal(mask, q, k) && !settings.slopes.defined();
  std::optional<Tensor> bias;
  if (!causal && (!mask.is_all() || settings.slopes.defined())) {
    Tensor scores = at::zeros({1, 1, q.size(2), k.size(2)}, q.options());
    if (settings.slopes.defined()) {
      const auto position =
          at::arange(q.size(2), q.options().dtype(at::kFloat)) + settings.band.first_query;
      const auto distance =
          position.unsqueeze(1) - at::arange(k.size(2), q.options().dtype(at::kFloat));
      scores = (-settings.slopes.to(q.device(), at::kFloat).view({1, -1, 1, 1}) * distance.abs())
                   .to(q.scalar_type());
    }
    // A row without keys would be NaN there: it looks everywhere, and is put to 0 afterwards.
    if (!mask.is_all()) {
      const Tensor keep = fully_masked.defined() ? mask.keep() | fully_masked : mask.keep();
      scores = scores.masked_fill(~keep, -std::numeric_limits<float>::infinity());
    }
    bias = scores.expand({q.size(0), q.size(1), q.size(2), k.size(2)});
  }
  if (settings.dropout > 0) seed_device(q.device(), settings.dropout_key);
  const Tensor out = at::scaled_dot_product_attention(q, spread(k), spread(v), bias,
                                                      settings.dropout, causal, settings.scale);
  return fully_masked.defined() && !leave_fully_masked ? out.masked_fill(fully_masked, 0) : out;
}
#endif

std::shared_ptr<Settings> settings_of(const AttendInput& in, const Tensor& query,
                                      const KeepMask& mask) {
  auto settings = std::make_shared<Settings>();
  settings->scale = *in.score->dot_scale(in.memory.keys.size(-1));
  const int64_t batch = query.size(0);
  if (query.is_cpu()) {
    settings->keep_keys = bytes_of(mask.keys(), batch, in.memory.size());
    settings->keep_queries = bytes_of(mask.queries(), batch, query.size(2));
  }
  if (mask.band())
    settings->band = *mask.band();
  else
    settings->band.first_query = in.first_position;
  if (in.slopes.defined()) settings->slopes = in.slopes.to(at::kCPU, at::kDouble).contiguous();
  settings->dropout = in.dropout;
  if (in.dropout > 0) settings->dropout_key = in.random->split("dropout").key();
  return settings;
}

bool fits_slopes(const AttendInput& in, const KeepMask& mask) {
  return !in.slopes.defined() || !mask.band() || mask.band()->first_query == in.first_position;
}

KeepMask mask_of(const AttendInput& in) {
  KeepMask mask = in.memory.mask & in.mask.to(in.memory.values.device());
  if (!in.alignment) return mask;
  const int64_t queries = in.query.size(-2);
  return mask &
         in.alignment->align({{}, queries, mask, in.memory.size(), in.first_position, {}}).window;
}

}  // namespace

bool can_fuse(const AttendInput& in, const Tap* tap) {
  if (ReadableOnly::is_asked_for() || in.keep_weights || !in.score) return false;
  if (tap && tap->needs_live(in.map.name)) return false;
  const Tensor& keys = in.memory.keys;
  if (!in.score->dot_scale(keys.size(-1)) || !in.normaliser.traits().is_fused) return false;
  if (in.sharpness.defined() || in.chosen.defined() || in.memory.broken.defined()) return false;
  if (in.bias.defined()) return false;
  if (in.alignment && !in.alignment->is_band()) return false;
  if (in.query.dim() != 4 || keys.size(1) != in.memory.values.size(1) ||
      in.query.size(1) % keys.size(1) != 0 || in.query.size(3) != keys.size(3))
    return false;
  const auto type = in.query.scalar_type();
  if (type != keys.scalar_type() || type != in.memory.values.scalar_type()) return false;
  if (!in.query.is_cpu() && !kHasTorchKernels) return false;
  if (in.query.is_cpu() && type != at::kFloat && type != at::kDouble && type != at::kBFloat16)
    return false;
  const KeepMask mask = mask_of(in);
  return mask.is_simple() && fits_slopes(in, mask);
}

Attended attend_fused(const AttendInput& in, Tap* tap) {
  const KeepMask mask = mask_of(in);
  const Tensor q = readable(in.query), k = readable(in.memory.keys), v = readable(in.memory.values);
  const auto settings = settings_of(in, q, mask);
  Attended attended;
  attended.mask = mask;
  const bool may_be_fully_masked = mask.keys().defined() || mask.queries().defined() || mask.band();
  if (q.is_cpu()) {
    const auto results = FusedAttention::apply(q, k, v, settings);
    attended.context = results[0];
    if (may_be_fully_masked) {
      const Tensor fully_masked =
          results[1] == -std::numeric_limits<double>::infinity();  // [B, H, Q]
      if (fully_masked.any().item<bool>()) attended.fully_masked = fully_masked.unsqueeze(-1);
    }
  } else {
#if TORCH_VERSION_MAJOR >= 2
    if (may_be_fully_masked && !is_causal(mask, q, k))
      attended.fully_masked = ~mask.seeing_queries();
    attended.context = run_torch_kernel(q, k, v, mask, attended.fully_masked,
                                        in.caller_clears_fully_masked, *settings);
#endif
  }
  if (tap) {
    const bool is_partial = attended.fully_masked.defined();
    AttentionMap map =
        labelled_map(in.map, {}, is_partial ? MapKind::Partial : MapKind::Distribution);
    if (q.is_cpu())
      map.source = std::make_shared<KernelWeights>(q, k, settings);
    else
      map.source = std::make_shared<TensorWeights>(q, k, mask, settings);
    keep_products(in, mask, {}, *tap);
    tap->report(std::move(map));
  }
  return attended;
}

}  // namespace fovea

#include "fovea/nn/ops/cross_entropy.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/kernels/cross_entropy/cross_entropy.h"
#include "fovea/tensor/device_stream.h"
#include "fovea/tensor/device_tensor.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Rows whose logits exist at the same time. Fewer make the products slower (480 x 256 x 8,000: 3 %
/// with 240 rows, 10 % with 120), more need memory only.
constexpr int64_t kRowsAtOnce = 512;

void check(int64_t rows, int64_t classes, const Tensor& targets, const CrossEntropyOptions& options,
           const Tensor& weights) {
  require(options.label_smoothing >= 0 && options.label_smoothing < 1, ErrorKind::InvalidArgument,
          "label smoothing ", options.label_smoothing, " is not in [0, 1)");
  require(targets.dim() == 1 && targets.size(0) == rows && targets.scalar_type() == at::kLong,
          ErrorKind::InvalidArgument, "a loss of ", rows, " rows needs as many int64 targets, not ",
          targets.sizes());
  require(!weights.defined() || (weights.dim() == 1 && weights.size(0) == rows),
          ErrorKind::InvalidArgument, "a loss of ", rows, " rows needs as many weights, not ",
          weights.defined() ? weights.sizes() : at::IntArrayRef());
  if (!targets.is_cpu()) return;  // looking would stall the queue; a GPU stops there by itself
  const Tensor outside =
      (targets.lt(0).logical_or(targets.ge(classes))).logical_and(targets.ne(options.padding));
  require(!outside.any().item<bool>(), ErrorKind::InvalidArgument, "a target is not among the ",
          classes, " classes");
}

/// What each row weighs in the mean; 0 for padding. [N], at least float32: counts are not rounded.
Tensor shares_of(const Tensor& targets, int64_t padding, const Tensor& weights,
                 const at::TensorOptions& like) {
  const at::TensorOptions options =
      like.dtype(like.dtype() == at::kDouble ? at::kDouble : at::kFloat);
  const Tensor counts = targets.ne(padding);
  const Tensor own = weights.defined() ? at::where(counts, weights.to(options), 0.0).to(options)
                                       : counts.to(options);
  const Tensor total = own.sum();
  return own / at::where(total.eq(0), at::ones_like(total), total);
}

/// Targets and shares, everything that does not depend on the network.
struct Rows {
  Tensor targets, shares;  // [N]; padding's target is 0 here
  double smoothing;

  Rows(const Tensor& all_targets, const CrossEntropyOptions& options, const Tensor& weights,
       const at::TensorOptions& like)
      : targets(all_targets.masked_fill(all_targets.eq(options.padding), 0)),
        shares(shares_of(all_targets, options.padding, weights, like.requires_grad(false))),
        smoothing(options.label_smoothing) {}
  Rows(Tensor targets, Tensor shares, double smoothing)
      : targets(std::move(targets)), shares(std::move(shares)), smoothing(smoothing) {}

  Rows narrow(int64_t first, int64_t count) const {
    return {targets.narrow(0, first, count), shares.narrow(0, first, count), smoothing};
  }
};

// ---- Reference ----

Tensor loss_reference(const Tensor& logits, const Rows& rows) {
  const Tensor log_p = logits.log_softmax(-1);                                     // [N, V]
  const Tensor likely = log_p.gather(-1, rows.targets.unsqueeze(-1)).squeeze(-1);  // [N]
  const Tensor each = (rows.smoothing - 1) * likely - rows.smoothing * log_p.mean(-1);
  return (each * rows.shares).masked_fill(rows.shares.eq(0), 0).sum();
}

/// The gradient of loss_reference(), which can be differentiated again: share (p - q). [N, V]
Tensor gradient_reference(const Tensor& logits, const Rows& rows) {
  const Tensor q = at::full_like(logits, rows.smoothing / double(logits.size(-1)))
                       .scatter_add(-1, rows.targets.unsqueeze(-1),
                                    at::full({rows.targets.size(0), 1}, 1 - rows.smoothing,
                                             logits.options().requires_grad(false)));
  const Tensor share = rows.shares.unsqueeze(-1);
  return ((logits.softmax(-1) - q) * share).masked_fill(share.eq(0), 0);
}

// ---- CPU ----

/// The kernel over all rows; `gradient` may be the logits, or undefined.
double kernel_loss(const Tensor& logits, const Rows& rows, const Tensor& gradient) {
  const kernels::CrossEntropyShape shape{logits.size(0), logits.size(1), rows.smoothing};
  const kernels::CrossEntropyRows at{logits.data_ptr<float>(), rows.targets.data_ptr<int64_t>(),
                                     rows.shares.data_ptr<float>(),
                                     gradient.defined() ? gradient.data_ptr<float>() : nullptr};
  std::vector<double> losses(static_cast<size_t>(shape.slices()));
  run_parallel(shape.slices(), [&](int64_t slice) {
    losses[static_cast<size_t>(slice)] = kernels::cross_entropy(shape, slice, at);
  });
  double loss = 0;
  for (const double of_slice : losses) loss += of_slice;
  return loss;
}

Tensor scalar(double loss, const Tensor& like) {
  return at::full({}, loss, like.options().requires_grad(false));
}

/// x times what arrived at the loss, which is 1 as a rule.
Tensor scaled(const Tensor& x, double arrived) {
  return arrived == 1 || !x.defined() ? x : x * arrived;
}

// ---- GPU ----

/// `logs` [N]: written forward, read backward.
kernels::device::CrossEntropy device_call(const Tensor& logits, const Rows& rows,
                                          const Tensor& logs) {
  return {number_type_of(logits),
          logits.size(0),
          logits.size(1),
          logits.data_ptr(),
          rows.targets.data_ptr<int64_t>(),
          rows.shares.data_ptr<float>(),
          static_cast<float>(rows.smoothing),
          logs.data_ptr<float>()};
}

// ---- Both, and the nodes of the graph ----

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  /// A CPU makes the gradient at once, where it is wanted.
  static Tensor forward(AutogradContext* context, const Tensor& logits, const Tensor& targets,
                        const Tensor& shares, double smoothing, bool wanted) {
    const Rows rows(targets, shares, smoothing);
    Tensor loss, saved;
    if (logits.is_cuda()) {
      const Tensor losses = at::empty_like(shares);  // [N]
      saved = at::empty_like(shares);
      kernels::device::cross_entropy_forward(device_call(logits, rows, saved),
                                             losses.data_ptr<float>(), current_device_stream());
      loss = losses.sum();
    } else {
      if (wanted) saved = at::empty_like(logits);
      loss = scalar(kernel_loss(logits, rows, saved), logits);
    }
    context->saved_data["smoothing"] = smoothing;
    if (wanted) context->save_for_backward({saved, logits, targets, shares});
    return loss;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const tensor_list saved = context->get_saved_variables();
    const Tensor& logits = saved[1];
    const Rows rows(saved[2], saved[3], context->saved_data["smoothing"].toDouble());
    if (logits.is_cuda()) {
      require(!at::GradMode::is_enabled(), ErrorKind::Unsupported,
              "a GPU's loss cannot be differentiated twice; hold a ReadableOnly while the network "
              "runs");
      const Tensor gradient = at::empty_like(logits), factor = arrived[0].to(at::kFloat);
      kernels::device::cross_entropy_backward(device_call(logits, rows, saved[0]),
                                              factor.data_ptr<float>(), gradient.data_ptr(),
                                              current_device_stream());
      return {gradient, {}, {}, {}, {}};
    }
    if (!at::GradMode::is_enabled())
      return {scaled(saved[0], arrived[0].item<double>()), {}, {}, {}, {}};
    return {gradient_reference(logits, rows) * arrived[0], {}, {}, {}, {}};
  }
};

Tensor logits_of(const Tensor& hidden, const Tensor& weight, const Tensor& bias) {
  if (hidden.is_cuda()) return linear_layer(hidden, weight, bias);
  if (!bias.defined()) return product(hidden, weight.t());
  if (hidden.scalar_type() == at::kBFloat16) return product(hidden, weight.t()).add_(bias);
  return at::addmm(bias, hidden, weight.t());
}

/// Loss and gradients of the output layer, some rows at a time.
struct Projected {
  double loss = 0;
  Tensor hidden, weight, bias;  // gradients

  Projected(const Tensor& x, const Tensor& w, const Tensor& b, const Rows& rows, bool wanted) {
    if (wanted) {
      hidden = at::empty_like(x);
      weight = x.size(0) > 0 ? at::empty_like(w) : at::zeros_like(w);
      if (b.defined()) bias = at::zeros_like(b);
    }
    const Tensor right = factor_of(w);
    for (int64_t first = 0; first < x.size(0); first += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, x.size(0) - first);
      const Tensor part = factor_of(x.narrow(0, first, count)), logits = logits_of(part, right, b);
      loss += kernel_loss(logits, rows.narrow(first, count), wanted ? logits : Tensor());
      if (!wanted) continue;
      Tensor below = hidden.narrow(0, first, count);
      const Tensor arrived = factor_of(logits);
      product_into(below, arrived, right);
      if (first == 0)
        product_into(weight, arrived.t(), part);
      else
        add_product(weight, arrived.t(), part);
      if (b.defined()) bias.add_(logits.sum(0));
    }
  }
};

class ProjectedFunction : public torch::autograd::Function<ProjectedFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& hidden, const Tensor& weight,
                        const c10::optional<Tensor>& bias, const Tensor& targets,
                        const Tensor& shares, double smoothing, bool wanted) {
    const Tensor b = bias.value_or(Tensor());
    const Projected got(hidden, weight, b, {targets, shares, smoothing}, wanted);
    context->saved_data["smoothing"] = smoothing;
    if (wanted)
      context->save_for_backward(
          {got.hidden, got.weight, got.bias, hidden, weight, b, targets, shares});
    return scalar(got.loss, hidden);
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const tensor_list saved = context->get_saved_variables();
    if (at::GradMode::is_enabled()) return differentiable(context, saved, arrived[0]);
    const double factor = arrived[0].item<double>();
    return {scaled(saved[0], factor),
            scaled(saved[1], factor),
            scaled(saved[2], factor),
            {},
            {},
            {},
            {}};
  }

 private:
  static tensor_list differentiable(AutogradContext* context, const tensor_list& saved,
                                    const Tensor& arrived) {
    const Tensor &hidden = saved[3], &weight = saved[4], &bias = saved[5];
    const Rows rows(saved[6], saved[7], context->saved_data["smoothing"].toDouble());
    const Tensor gradient = gradient_reference(logits_of(hidden, weight, bias), rows) * arrived;
    return {gradient.mm(weight),
            gradient.t().mm(hidden),
            bias.defined() ? gradient.sum(0) : bias,
            {},
            {},
            {},
            {}};
  }
};

bool any_wants_gradient(const std::vector<Tensor>& tensors) {
  return at::GradMode::is_enabled() &&
         std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& x) { return x.defined() && x.requires_grad(); });
}

/// The sum of all rows' losses, each times its share.
Tensor loss_of(const Tensor& logits, const Rows& rows) {
  const bool on_gpu = device_kernels_take({logits});
  if (!on_gpu && !kernels_take({logits})) return loss_reference(logits, rows);
  return CrossEntropyFunction::apply(logits.contiguous(), rows.targets.contiguous(),
                                     rows.shares.contiguous(), rows.smoothing,
                                     any_wants_gradient({logits}));
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options, const Tensor& weights) {
  require(logits.dim() == 2 && logits.size(1) > 0, ErrorKind::InvalidArgument,
          "a loss needs logits [rows, classes], not ", logits.sizes());
  check(logits.size(0), logits.size(1), targets, options, weights);
  return loss_of(logits, Rows(targets, options, weights, logits.options()));
}

Tensor cross_entropy(const Tensor& hidden, const OutputLayer& layer, const Tensor& targets,
                     const CrossEntropyOptions& options, const Tensor& weights) {
  const auto& [weight, bias] = layer;
  require(hidden.dim() == 2 && weight.dim() == 2 && hidden.size(1) == weight.size(1) &&
              weight.size(0) > 0,
          ErrorKind::InvalidArgument, "an output layer of shape ", weight.sizes(),
          " cannot take hidden states of shape ", hidden.sizes());
  check(hidden.size(0), weight.size(0), targets, options, weights);
  if (!kernels_take({hidden, weight, bias}))
    return loss_of(logits_of(hidden, weight, bias),
                   Rows(targets, options, weights, hidden.options()));
  if (const Tensor real = targets.ne(options.padding).nonzero().squeeze(1);
      real.size(0) < targets.size(0))  // no work on padding
    return cross_entropy(hidden.index_select(0, real), layer, targets.index_select(0, real),
                         options, weights.defined() ? weights.index_select(0, real) : weights);
  const Rows rows(targets, options, weights, hidden.options());
  return ProjectedFunction::apply(hidden.contiguous(), weight.contiguous(),
                                  bias.defined() ? c10::optional<Tensor>(bias) : c10::nullopt,
                                  rows.targets, rows.shares, rows.smoothing,
                                  any_wants_gradient({hidden, weight, bias}));
}

}  // namespace fovea

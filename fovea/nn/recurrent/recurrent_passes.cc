#include "fovea/nn/recurrent/recurrent_passes.h"

#include <algorithm>

#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::RecurrentShape;

/// Input weights of so many numbers stay in a core's second cache beside the recurrent ones: the
/// kernel multiplies with them step by step, and their products never see the memory.
constexpr int64_t kCachedWeights = 1 << 17;

const float* numbers(const Tensor& x) {
  return x.defined() ? x.data_ptr<float>() : nullptr;
}
float* room(const Tensor& x) {
  return x.defined() ? x.data_ptr<float>() : nullptr;
}

/// work(direction, slice, scratch) for all slices, the longest rows first; a slice's directions one
/// after the other, since they share the gradient of x.
void run_slices(const RecurrentPlan& plan,
                const std::function<void(int64_t, int64_t, float*)>& work) {
  const RecurrentShape shape = plan.shape(0);
  run_parallel(shape.slices(), [&](int64_t slice) {
    const Tensor scratch = at::empty({shape.scratch()}, at::kFloat);
    for (int64_t direction = 0; direction < plan.directions; ++direction)
      work(direction, slice, room(scratch));
  });
}

/// copy(place in [B, S, width], place in [N, width], count) for the numbers of every row.
template <class Copy>
void for_rows(const SequenceLayout& layout, int64_t width, Copy copy) {
  run_parallel(layout.rows, [&](int64_t row) {
    const auto i = static_cast<size_t>(row);
    copy(row * layout.steps * width, layout.first[i] * width, layout.lengths[i] * width);
  });
}

/// [N, width] -> [B, S, width], with zeros at padding.
Tensor with_padding(const Tensor& entries, const SequenceLayout& layout) {
  const int64_t width = entries.size(1), row = layout.steps * width;
  if (!layout.is_padded()) return entries.view({layout.rows, layout.steps, width});
  const Tensor x = at::empty({layout.rows, layout.steps, width}, entries.options());
  const float* from = numbers(entries);
  float* to = room(x);
  for_rows(layout, width, [=](int64_t padded, int64_t entry, int64_t count) {
    std::fill_n(std::copy_n(from + entry, count, to + padded), row - count, 0.0f);
  });
  return x;
}

/// The backward pass: first the gradients of the gates by the kernel, then the large products.
class Backward {
 public:
  Backward(const RecurrentInputs& in, const Tensor& entries,
           const std::vector<SavedForBackward>& saved)
      : plan_(in.plan),
        in_(in),
        entries_(entries),
        kept_(saved),
        shape_(plan_.shape(0)),
        gradients_(in.list.size()) {}

  std::vector<Tensor> run(const RecurrentArrived& arrived) {
    const Tensor dx = arrived.wanted(0) ? at::empty_like(entries_) : Tensor();  // [N, I]
    run_kernel(arrived.gradients, dx);
    Jobs jobs;
    for (int64_t direction = 0; direction < plan_.directions; ++direction) {
      const auto wanted = [&](RecurrentInputs::Weight which) {
        return arrived.wanted(RecurrentInputs::place(direction, which));
      };
      if (wanted(RecurrentInputs::kWeightInput)) add_input_weight(direction, jobs);
      if (wanted(RecurrentInputs::kWeightRecurrent)) add_recurrent_weight(direction, jobs);
      add_biases(direction);
    }
    if (dx.defined() && shape_.inputs == 0)
      jobs.add_blocks(entries_.size(0), kEntryBlock,
                      [&](int64_t begin, int64_t count) { fill_inputs(dx, begin, count); });
    jobs.run();
    if (dx.defined()) gradients_[0] = with_padding(dx, *plan_.layout);
    return std::move(gradients_);
  }

 private:
  void run_kernel(const std::vector<Tensor>& arrived, const Tensor& dx) {
    const int64_t d = plan_.directions, h = plan_.hidden, rows = plan_.layout->rows;
    std::vector<Tensor> from;
    for (const Tensor& x : arrived) from.push_back(x.defined() ? x.contiguous() : x);
    const Tensor packed = at::empty({d, shape_.packed()}, entries_.options());
    const Tensor starts = at::empty({d, 2, rows, h}, entries_.options());
    sums_ = at::empty({d, shape_.slices(), shape_.saved() * h}, entries_.options());
    for (const SavedForBackward& saved : kept_) gates_.push_back(at::empty_like(saved.gates));
    run_parallel(d, [&](int64_t direction) {
      kernels::recurrent_pack_backward(
          shape_, numbers(in_.weight(direction, RecurrentInputs::kWeightInput)),
          numbers(in_.weight(direction, RecurrentInputs::kWeightRecurrent)),
          room(packed) + direction * shape_.packed());
    });
    run_slices(plan_, [&](int64_t direction, int64_t slice, float* scratch) {
      const auto i = static_cast<size_t>(direction), cells = 1 + static_cast<size_t>(d);
      float* start = room(starts) + direction * 2 * rows * h;
      const kernels::RecurrentBackward at{
          .packed = numbers(packed) + direction * shape_.packed(),
          .gates = numbers(kept_[i].gates),
          .hidden_before = numbers(kept_[i].hidden_before),
          .cell_before = numbers(kept_[i].cell_before),
          .outputs = from[0].defined() ? numbers(from[0]) + direction * h : nullptr,
          .output_row = d * h,
          .last_hidden = numbers(from[1 + i]),
          .last_cell = plan_.has_cell() ? numbers(from[cells + i]) : nullptr,
          .gate_gradients = room(gates_[i]),
          .x = room(dx),
          .adds_to_x = direction > 0,
          .start_hidden = start,
          .start_cell = start + rows * h,
          .sums = room(sums_) + direction * shape_.slices() * shape_.saved() * h};
      kernels::recurrent_backward(plan_.shape(direction), slice, at, scratch);
    });
    for (int64_t direction = 0; plan_.has_start && direction < d; ++direction) {
      gradients_[in_.start_place(direction, false)] = starts[direction][0];
      if (plan_.has_cell()) gradients_[in_.start_place(direction, true)] = starts[direction][1];
    }
  }

  /// The gradient of what came from W: [N, G H].
  Tensor of_products(int64_t direction) const {
    return gates_[static_cast<size_t>(direction)].narrow(1, 0, shape_.gates() * plan_.hidden);
  }

  Tensor& gradient_like(int64_t direction, RecurrentInputs::Weight which) {
    Tensor& gradient = gradients_[RecurrentInputs::place(direction, which)];
    return gradient = at::empty_like(in_.weight(direction, which));
  }

  void add_input_weight(int64_t direction, Jobs& jobs) {
    jobs.add_product(gradient_like(direction, RecurrentInputs::kWeightInput),
                     of_products(direction), entries_);
  }

  void add_recurrent_weight(int64_t direction, Jobs& jobs) {
    const auto i = static_cast<size_t>(direction);
    add_recurrent_product(shape_, gradient_like(direction, RecurrentInputs::kWeightRecurrent),
                          gates_[i], kept_[i].hidden_before, jobs);
  }

  void add_biases(int64_t direction) {
    const Tensor& input = gradient_like(direction, RecurrentInputs::kBiasInput);
    const Tensor& recurrent = gradient_like(direction, RecurrentInputs::kBiasRecurrent);
    kernels::recurrent_bias_gradients(shape_, numbers(sums_[direction]), room(input),
                                      room(recurrent));
  }

  /// dx = d W, summed over the directions.
  void fill_inputs(const Tensor& dx, int64_t begin, int64_t count) const {
    Tensor block = dx.narrow(0, begin, count);
    for (int64_t direction = 0; direction < plan_.directions; ++direction) {
      const Tensor gates = of_products(direction).narrow(0, begin, count);
      const Tensor& weight = in_.weight(direction, RecurrentInputs::kWeightInput);
      direction == 0 ? at::mm_out(block, gates, weight) : block.addmm_(gates, weight);
    }
  }

  const RecurrentPlan& plan_;
  const RecurrentInputs& in_;
  const Tensor& entries_;
  const std::vector<SavedForBackward>& kept_;
  const RecurrentShape shape_;
  std::vector<Tensor> gates_;  // per direction: the gradients of the gates [N, K H]
  Tensor sums_;                // [D, slices, K H]
  std::vector<Tensor> gradients_;
};

}  // namespace

kernels::RecurrentCell cell_named(const std::string& name) {
  return name == "rnn"   ? kernels::RecurrentCell::Rnn
         : name == "gru" ? kernels::RecurrentCell::Gru
                         : kernels::RecurrentCell::Lstm;
}

RecurrentShape RecurrentPlan::shape(int64_t direction) const {
  RecurrentShape shape;
  shape.cell = cell_named(cell);
  shape.hidden = hidden;
  shape.inputs = shape.gates() * hidden * inputs <= kCachedWeights ? inputs : 0;
  shape.reversed = direction == 1;
  shape.rows = layout->rows, shape.steps = layout->steps;
  shape.lengths = layout->lengths.data();
  shape.first = layout->first.data();
  shape.descending = layout->descending.data();
  return shape;
}

void add_recurrent_product(const RecurrentShape& shape, const Tensor& target, const Tensor& gates,
                           const Tensor& hidden_before, Jobs& jobs) {
  const int64_t h = shape.hidden;
  for (int64_t gate = 0, end; gate < shape.gates(); gate = end) {
    const int64_t block = shape.saved_of(gate);
    end = gate + 1;
    while (end < shape.gates() && shape.saved_of(end) == block + end - gate) ++end;
    jobs.add_product(target.narrow(0, gate * h, (end - gate) * h),
                     gates.narrow(1, block * h, (end - gate) * h), hidden_before);
  }
}

RecurrentLayer RecurrentInputs::layer() const {
  return {plan.cell, list.slice(1, 4 * static_cast<size_t>(plan.directions)).vec()};
}

RecurrentState RecurrentInputs::start() const {
  if (!plan.has_start) return {};
  const auto d = static_cast<size_t>(plan.directions), first = start_place(0, false);
  return {list.slice(first, d).vec(),
          plan.has_cell() ? list.slice(first + d, d).vec() : std::vector<Tensor>()};
}

Tensor without_padding(const Tensor& x, const SequenceLayout& layout) {
  const int64_t width = x.size(2);
  const Tensor whole = x.contiguous();
  if (!layout.is_padded()) return whole.view({layout.entries, width});
  const Tensor entries = at::empty({layout.entries, width}, x.options());
  const float* from = numbers(whole);
  float* to = room(entries);
  for_rows(layout, width, [=](int64_t padded, int64_t entry, int64_t count) {
    std::copy_n(from + padded, count, to + entry);
  });
  return entries;
}

RecurrentPass recurrent_forward_pass(const RecurrentInputs& in, const Tensor& entries, bool keep) {
  const RecurrentPlan& plan = in.plan;
  const RecurrentShape shape = plan.shape(0);
  const int64_t d = plan.directions, h = plan.hidden, rows = shape.rows, n = entries.size(0);
  const auto empty = [&](at::IntArrayRef sizes) { return at::empty(sizes, entries.options()); };
  const Tensor packed = empty({d, shape.packed()});
  RecurrentPass pass{{empty({rows, shape.steps, d * h})}, {}};
  for (int64_t i = 0; i < (plan.has_cell() ? 2 : 1) * d; ++i)
    pass.results.push_back(empty({rows, h}));
  Jobs jobs;
  for (int64_t direction = 0; direction < d; ++direction) {
    const bool multiplies = shape.inputs == 0;  // here, not in the kernel
    SavedForBackward saved{empty({keep || multiplies ? n : 0, shape.saved() * h}), {}, {}};
    if (keep) saved.hidden_before = empty({n, h});
    if (keep && plan.has_cell()) saved.cell_before = empty({n, h});
    jobs.add([&, direction] {
      kernels::recurrent_pack_forward(
          shape, numbers(in.weight(direction, RecurrentInputs::kWeightInput)),
          numbers(in.weight(direction, RecurrentInputs::kWeightRecurrent)),
          room(packed) + direction * shape.packed());
    });
    const Tensor products = saved.gates.narrow(1, 0, shape.gates() * h);  // [N, G H]
    const Tensor weight = in.weight(direction, RecurrentInputs::kWeightInput);
    jobs.add_blocks(multiplies ? n : 0, kEntryBlock,
                    [&, products, weight](int64_t begin, int64_t count) {
                      Tensor block = products.narrow(0, begin, count);
                      at::mm_out(block, entries.narrow(0, begin, count), weight.t());
                    });
    pass.saved.push_back(std::move(saved));
  }
  jobs.run();
  run_slices(plan, [&](int64_t direction, int64_t slice, float* scratch) {
    const SavedForBackward& saved = pass.saved[static_cast<size_t>(direction)];
    const auto start = [&](bool cell) {
      return plan.has_start && (!cell || plan.has_cell())
                 ? numbers(in.list[in.start_place(direction, cell)])
                 : nullptr;
    };
    const kernels::RecurrentForward at{
        .packed = numbers(packed) + direction * shape.packed(),
        .input_bias = numbers(in.weight(direction, RecurrentInputs::kBiasInput)),
        .recurrent_bias = numbers(in.weight(direction, RecurrentInputs::kBiasRecurrent)),
        .start_hidden = start(false),
        .start_cell = start(true),
        .x = numbers(entries),
        .gates = room(saved.gates),
        .hidden_before = room(saved.hidden_before),
        .cell_before = room(saved.cell_before),
        .outputs = room(pass.results[0]) + direction * h,
        .output_row = d * h,
        .last_hidden = room(pass.results[static_cast<size_t>(1 + direction)]),
        .last_cell =
            plan.has_cell() ? room(pass.results[static_cast<size_t>(1 + d + direction)]) : nullptr};
    kernels::recurrent_forward(plan.shape(direction), slice, at, scratch);
  });
  return pass;
}

std::vector<Tensor> recurrent_backward_pass(const RecurrentInputs& in, const Tensor& entries,
                                            const std::vector<SavedForBackward>& saved,
                                            const RecurrentArrived& arrived) {
  return Backward(in, entries, saved).run(arrived);
}

}  // namespace fovea

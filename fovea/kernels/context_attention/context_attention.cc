// Rows of A are walked in steps of as many numbers as they hold, and the optimiser takes the same
// steps: what it has just written is then read again in the same pieces, which a processor can
// forward before it reaches the cache.
#include "fovea/kernels/context_attention/context_attention.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/optimiser/optimiser-inl.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

constexpr int64_t kAhead = 16;  // rows: a row takes a fraction of the time of a cache miss

inline void prefetch_row(const ContextShape& shape, const ContextRows& batch, int64_t at) {
  const int64_t row = batch.rows[at];
  prefetch(batch.inputs + row * shape.positions);
  prefetch(batch.inputs + (row + 1) * shape.positions - 1);
  prefetch(batch.contexts + row);
  prefetch(batch.targets + row);
}

/// Adds scale times the gradient of half the squared error of one row, which it returns.
template <int64_t kStep>
inline double add_row(const ContextShape& shape, const float* parameters, const ContextRows& batch,
                      int64_t row, float scale, float* gradient) {
  const int64_t P = shape.positions, context = batch.contexts[row];
  const float *x = batch.inputs + row * P, *a = parameters + context * P,
              *w = parameters + shape.contexts * P;
  float *da = gradient + context * P, *dw = gradient + shape.contexts * P;
  const float y = sum_row<kStep>(
      P, [](auto weight, auto input, auto attention) { return weight * (input * attention); }, w, x,
      a);
  const float error = y + w[P] - batch.targets[row], d = scale * error;
  map_row<kStep>(
      P, da, [&](auto before, auto weight, auto input) { return before + d * weight * input; }, da,
      w, x);
  map_row<kStep>(
      P, dw,
      [&](auto before, auto input, auto attention) { return before + d * (input * attention); }, dw,
      x, a);
  dw[P] += d;
  return double(error) * error;
}

/// Calls work(Width<kStep>{}) with the step that fits the positions.
template <int64_t kStep>
struct Width {};
template <class Work>
inline double with_width(const ContextShape& shape, Work work) {
  const int64_t step = vector_for(shape.positions);
  if constexpr (kLanes >= 16)
    if (step == 16) return work(Width<16>{});
  if constexpr (kLanes >= 8)
    if (step == 8) return work(Width<8>{});
  return step == 4 ? work(Width<4>{}) : work(Width<1>{});
}

double gradient(const ContextShape& shape, const float* parameters, const ContextRows& batch,
                float* gradient) {
  fill_row(gradient, shape.parameters(), 0);
  const float scale = 2.0f / static_cast<float>(batch.count);
  return with_width(shape, [&]<int64_t kStep>(Width<kStep>) {
    double total = 0;
    for (int64_t i = 0; i < batch.count; ++i)
      total += add_row<kStep>(shape, parameters, batch, batch.rows[i], scale, gradient);
    return total;
  });
}

double train(const ContextShape& shape, const ContextRows& rows, int64_t batch_size,
             const OptimiserSteps& steps) {
  const auto train = [&]<int64_t kStep, OptimiserKind kind>(Width<kStep>, Kind<kind>) {
    double total = 0;
    for (int64_t begin = 0, step = 0; begin < rows.count; begin += batch_size, ++step) {
      const int64_t end = min(begin + batch_size, rows.count);
      const float scale = 2.0f / static_cast<float>(end - begin);
      fill_row(steps.gradient, steps.count, 0);
      for (int64_t i = begin; i < end; ++i) {
        if (i + kAhead < rows.count) prefetch_row(shape, rows, i + kAhead);
        total += add_row<kStep>(shape, steps.parameters, rows, rows.rows[i], scale, steps.gradient);
      }
      take_step<kind, kStep == 1 ? 4 : kStep>(steps, step);
    }
    return total;
  };
  return with_width(shape, [&](auto width) {
    return with_kind(steps.settings.kind, [&](auto kind) { return train(width, kind); });
  });
}

}  // namespace

struct ContextAttentionTable {
  decltype(&context_gradient) gradient;
  decltype(&context_train) train;
};
FOVEA_TABLE(ContextAttentionTable, gradient, train)

#ifdef FOVEA_ENTRY_POINTS

double context_gradient(const ContextShape& shape, const float* parameters,
                        const ContextRows& batch, float* gradient) {
  return table().gradient(shape, parameters, batch, gradient);
}

double context_train(const ContextShape& shape, const ContextRows& rows, int64_t batch_size,
                     const OptimiserSteps& steps) {
  return table().train(shape, rows, batch_size, steps);
}

#endif

}  // namespace fovea::kernels

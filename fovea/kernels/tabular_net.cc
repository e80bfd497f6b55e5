#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/tabular_net-inl.h"

#include <algorithm>

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
double tabular_gradient(const TabularPlan&, const float*, const TabularChunk&, float*, float*);
void tabular_forward(const TabularPlan&, const float*, const TabularChunk&, float*, float*, float*);
}  // namespace avx2
namespace avx512 {
double tabular_gradient(const TabularPlan&, const float*, const TabularChunk&, float*, float*);
void tabular_forward(const TabularPlan&, const float*, const TabularChunk&, float*, float*, float*);
}  // namespace avx512
#endif

namespace {

TabularPlan plan_of(const TabularShape& shape) {
  return {shape.inputs,
          shape.columns,
          static_cast<int64_t>(shape.hidden.size()),
          shape.outputs,
          shape.column_of_input.data(),
          shape.hidden.data(),
          shape.loss};
}

/// Calls `work` for each chunk of the batch.
template <class Work>
void for_each_chunk(const TabularRows& batch, Work work) {
  for (int64_t begin = 0; begin < batch.count; begin += kTabularChunk)
    work(TabularChunk{batch.inputs, batch.targets, batch.classes, batch.rows + begin,
                      std::min(kTabularChunk, batch.count - begin),
                      1.0f / static_cast<float>(batch.count)},
         begin);
}

}  // namespace

int64_t TabularShape::parameters() const {
  int64_t total = columns * (inputs + 1), in = inputs;
  for (int64_t width : hidden) total += width * (in + 1), in = width;
  return total + outputs * (in + 1);
}

int64_t TabularShape::workspace(int64_t rows) const {
  int64_t units = 2 * inputs + 2 * columns + outputs + 2, widest = std::max(inputs, outputs);
  for (int64_t width : hidden) units += width, widest = std::max(widest, width);
  return (units + 2 * widest) * padded_rows(std::min(rows, kTabularChunk));
}

double tabular_gradient(const TabularShape& shape, const float* parameters,
                        const TabularRows& batch, float* gradient, float* scratch) {
  const auto compute = FOVEA_PICK(tabular_gradient);
  const TabularPlan plan = plan_of(shape);
  std::fill_n(gradient, shape.parameters(), 0.0f);
  double total = 0;
  for_each_chunk(batch, [&](const TabularChunk& chunk, int64_t) {
    total += compute(plan, parameters, chunk, gradient, scratch);
  });
  return total;
}

void tabular_forward(const TabularShape& shape, const float* parameters, const TabularRows& batch,
                     float* outputs, float* attention, float* scratch) {
  const auto compute = FOVEA_PICK(tabular_forward);
  const TabularPlan plan = plan_of(shape);
  for_each_chunk(batch, [&](const TabularChunk& chunk, int64_t begin) {
    compute(plan, parameters, chunk, outputs + begin * shape.outputs,
            attention ? attention + begin * shape.columns : nullptr, scratch);
  });
}

}  // namespace fovea::kernels

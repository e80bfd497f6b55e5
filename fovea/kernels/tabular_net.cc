#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/tabular_net-inl.h"

#include <algorithm>

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
double tabular_gradient(const TabularPlan&, const float*, const TabularRows&, float*, float*);
double tabular_train(const TabularPlan&, const TabularRows&, int64_t, const OptimiserSteps&,
                     float*);
void tabular_forward(const TabularPlan&, const float*, const TabularRows&, float*, float*, float*);
}  // namespace avx2
namespace avx512 {
double tabular_gradient(const TabularPlan&, const float*, const TabularRows&, float*, float*);
double tabular_train(const TabularPlan&, const TabularRows&, int64_t, const OptimiserSteps&,
                     float*);
void tabular_forward(const TabularPlan&, const float*, const TabularRows&, float*, float*, float*);
}  // namespace avx512
#endif

namespace {

TabularPlan plan_of(const TabularShape& shape) {
  bool input_is_column = shape.columns == shape.inputs;
  for (int64_t i = 0; input_is_column && i < shape.inputs; ++i)
    input_is_column = shape.column_of_input[static_cast<size_t>(i)] == i;
  return {shape.inputs,
          shape.columns,
          static_cast<int64_t>(shape.hidden.size()),
          shape.outputs,
          shape.column_of_input.data(),
          shape.hidden.data(),
          shape.loss,
          input_is_column};
}

}  // namespace

int64_t TabularShape::parameters() const {
  int64_t total = columns * (inputs + 1), in = inputs;
  for (int64_t width : hidden) total += width * (in + 1), in = width;
  return total + outputs * (in + 1);
}

int64_t TabularShape::workspace(int64_t rows) const {
  int64_t units = 3 * inputs + 2 * columns + 2 * outputs + 2;
  for (int64_t width : hidden) units += 2 * width;
  return units * padded_rows(std::min(rows, kTabularChunk));
}

double tabular_gradient(const TabularShape& shape, const float* parameters,
                        const TabularRows& batch, float* gradient, float* scratch) {
  return FOVEA_PICK(tabular_gradient)(plan_of(shape), parameters, batch, gradient, scratch);
}

double tabular_train(const TabularShape& shape, const TabularRows& rows, int64_t batch_size,
                     const OptimiserSteps& steps, float* scratch) {
  return FOVEA_PICK(tabular_train)(plan_of(shape), rows, batch_size, steps, scratch);
}

void tabular_forward(const TabularShape& shape, const float* parameters, const TabularRows& batch,
                     float* outputs, float* attention, float* scratch) {
  FOVEA_PICK(tabular_forward)(plan_of(shape), parameters, batch, outputs, attention, scratch);
}

}  // namespace fovea::kernels

// Body of the tabular network, compiled once per instruction set. Every buffer is [units][R], R
// rows padded to whole vectors.
#include "fovea/kernels/tabular_net/tabular_net.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/optimiser/optimiser-inl.h"
#include "fovea/kernels/tabular_net/layers-inl.h"
#include "fovea/kernels/tabular_net/plan-inl.h"

namespace fovea::kernels {
namespace {

constexpr int64_t kMostInRegisters = kLanes == 16 ? 16 : 12;  // columns of one attention
constexpr int64_t kMostLayers = 64;  // hidden layers; more are refused by the model's options

/// Where the scratch buffers lie, and the layers one after the other. delta[l] is the derivative
/// by the values that layer l puts out, before its relu.
struct Net {
  const TabularPlan& plan;
  int64_t R;
  float *x, *attention, *z, *target, *weight;  // z == x without attention
  float *value[kMostLayers + 1], *delta[kMostLayers + 1];
  float *delta_z, *delta_attention;
  Layer attention_layer{}, layers[kMostLayers + 1];

  Net(const TabularPlan& shape, float* scratch, int64_t rows) : plan(shape), R(rows) {
    const auto take = [&](int64_t units) { return (scratch += units * R) - units * R; };
    x = take(plan.inputs);
    attention = take(plan.columns);
    delta_attention = take(plan.columns);
    z = plan.columns > 0 ? take(plan.inputs) : x;
    delta_z = take(plan.inputs);
    target = take(1);
    weight = take(1);
    int64_t offset = 0, in = plan.inputs;
    if (plan.columns > 0)
      attention_layer = {plan.inputs, plan.columns, 0}, offset = attention_layer.end();
    for (int64_t l = 0; l <= plan.layers; ++l) {
      const int64_t out = l < plan.layers ? plan.hidden[l] : plan.outputs;
      layers[l] = {in, out, offset};
      value[l] = take(out);
      delta[l] = take(out);
      offset = layers[l].end();
      in = out;
    }
  }
  const float* input_of(int64_t l) const { return l == 0 ? z : value[l - 1]; }
  const float* output() const { return value[plan.layers]; }
  int64_t parameters() const { return layers[plan.layers].end(); }

  /// Whether each input is a column, and all of them fit into registers.
  bool in_registers() const { return plan.input_is_column && plan.columns <= kMostInRegisters; }
};

/// Softmax over `units`, in place. `truth` [R], unless null, holds the logit of each row's true
/// class and becomes the row's loss, -log of that probability; from the logit, because the
/// probability may be too small for a float.
void softmax(float* values, int64_t units, int64_t R, float* truth = nullptr) {
  for (int64_t r = 0; r < R; r += kLanes) {
    Lanes top = load(values + r);
    for (int64_t u = 1; u < units; ++u) top = max(top, load(values + u * R + r));
    Lanes total{};
    for (int64_t u = 0; u < units; ++u) {
      const Lanes e = exp(load(values + u * R + r) - top);
      store(values + u * R + r, e);
      total += e;
    }
    if (truth) store(truth + r, log(total) - (load(truth + r) - top));
    const Lanes scale = 1.0f / total;
    for (int64_t u = 0; u < units; ++u) store(values + u * R + r, load(values + u * R + r) * scale);
  }
}

/// Row number `at` comes later: in a new order each row is a cache miss.
inline void prefetch_row(const TabularChunk& chunk, int64_t at, int64_t I) {
  const int64_t row = chunk.rows[at];
  const float* begin = chunk.inputs + row * I;
  prefetch(begin, I);
  prefetch(begin + I - 1);
  if (chunk.targets) prefetch(chunk.targets + row);
}

/// x[i][r + k] = input i of row rows[k], for one vector of rows of which the first `real` exist.
template <bool Whole>
inline void transpose_rows(const Net& net, const float* inputs, const int64_t* rows, int64_t real,
                           int64_t r) {
  const int64_t I = net.plan.inputs;
  for (int64_t first = 0; first < I; first += kLanes) {
    const int64_t count = min(kLanes, I - first);
    Lanes square[kLanes];
#pragma GCC unroll 16
    for (int64_t k = 0; k < kLanes; ++k)
      square[k] =
          Whole || k < real ? load(inputs + rows[k] * I + first, FirstLanes{count}) : Lanes{};
    transpose_stages<1, float>(square);
#pragma GCC unroll 16
    for (int64_t k = 0; k < kLanes; ++k)
      if (k < count) store(net.x + (first + k) * net.R + r, square[k]);
  }
}

/// Copies the picked rows into x [I][R]; padding rows are zero and weigh nothing.
void gather(const Net& net, const TabularChunk& chunk) {
  for (int64_t r = 0; r < net.R; r += kLanes) {
    const int64_t *picked = chunk.rows + r, real = chunk.count - r;  // rows; may be below 0
    Lanes target{};
    if (real >= kLanes) {
      transpose_rows<true>(net, chunk.inputs, picked, kLanes, r);
      if (chunk.targets)
#pragma GCC unroll 16
        for (int64_t k = 0; k < kLanes; ++k) target[k] = chunk.targets[picked[k]];
      store(net.weight + r, broadcast(chunk.scale));
    } else {
      transpose_rows<false>(net, chunk.inputs, picked, real, r);
      for (int64_t k = 0; chunk.targets && k < real; ++k) target[k] = chunk.targets[picked[k]];
      for (int64_t k = 0; k < kLanes; ++k) net.weight[r + k] = k < real ? chunk.scale : 0;
    }
    store(net.target + r, target);
    for (int64_t at = chunk.count + r; at < chunk.count + r + kLanes && at < chunk.end; ++at)
      prefetch_row(chunk, at, net.plan.inputs);
  }
}

/// attend() where each input is a column, with all columns in registers.
template <int64_t C>
void attend_in_registers(const Net& net, const float* parameters) {
  const int64_t R = net.R;
  const Layer& layer = net.attention_layer;
  for (int64_t r = 0; r < R; r += kLanes) {
    Lanes a[C], total{};
    dense_rows(parameters + layer.offset, parameters + layer.bias(), C, net.x + r, R, a);
    Lanes top = a[0];
#pragma GCC unroll 16
    for (int64_t c = 1; c < C; ++c) top = max(top, a[c]);
#pragma GCC unroll 16
    for (int64_t c = 0; c < C; ++c) total += a[c] = exp(a[c] - top);
    const Lanes scale = 1.0f / total;
#pragma GCC unroll 16
    for (int64_t c = 0; c < C; ++c) {
      a[c] *= scale;
      store(net.attention + c * R + r, a[c]);
      store(net.z + c * R + r, load(net.x + c * R + r) * a[c]);
    }
  }
}

/// a = softmax(W x + b), z = a x.
void attend(const Net& net, const float* parameters) {
  const int64_t R = net.R, C = net.plan.columns;
  if (net.in_registers())
    return with_size<kMostInRegisters>(
        C, [&]<int64_t Count>(Size<Count>) { attend_in_registers<Count>(net, parameters); });
  dense(parameters, net.attention_layer, net.x, net.attention, R);
  softmax(net.attention, C, R);
  for (int64_t i = 0; i < net.plan.inputs; ++i) {
    const float* a = net.attention + net.plan.column_of_input[i] * R;
    for (int64_t r = 0; r < R; r += kLanes)
      store(net.z + i * R + r, load(net.x + i * R + r) * load(a + r));
  }
}

void forward(const Net& net, const float* parameters) {
  if (net.plan.columns > 0) attend(net, parameters);
  for (int64_t l = 0; l <= net.plan.layers; ++l) {
    const Layer& layer = net.layers[l];
    dense(parameters, layer, net.input_of(l), net.value[l], net.R);
    if (l == net.plan.layers) break;
    for (float* value = net.value[l]; value < net.value[l] + layer.out * net.R; value += kLanes)
      store(value, max(Lanes{}, load(value)));
  }
}

/// A sum of floats in double precision.
struct WideSum {
  DoubleLanes low{}, high{};

  void add(Lanes lanes) {
    typedef float Half __attribute__((vector_size(2 * FOVEA_LANES)));
    Half halves[2];
    __builtin_memcpy(halves, &lanes, sizeof lanes);
    low += __builtin_convertvector(halves[0], DoubleLanes);
    high += __builtin_convertvector(halves[1], DoubleLanes);
  }
  double total() const {
    const DoubleLanes lanes = low + high;
    double sum = 0;
    for (int64_t i = 0; i < kLanes / 2; ++i) sum += lanes[i];
    return sum;
  }
};

/// Adds the losses of the real rows; the last delta becomes the weighted derivative by the outputs.
void loss_and_delta(const Net& net, const TabularChunk& chunk, WideSum& total) {
  const int64_t R = net.R, O = net.plan.outputs;
  float *output = net.value[net.plan.layers], *delta = net.delta[net.plan.layers];
  const bool by_class = net.plan.loss == TabularLoss::CrossEntropy;
  if (by_class) {
    for (int64_t r = 0; r < chunk.count; ++r)
      net.target[r] = output[chunk.classes[chunk.rows[r]] * R + r];
    softmax(output, O, R, net.target);
  }
  for (int64_t r = 0; r < R; r += kLanes) {
    const Lanes o = load(output + r), t = load(net.target + r), w = load(net.weight + r);
    Lanes loss;
    if (by_class) {
      for (int64_t u = 0; u < O; ++u) store(delta + u * R + r, w * load(output + u * R + r));
      loss = t;
    } else if (net.plan.loss == TabularLoss::BinaryCrossEntropy) {
      const Lanes e = exp(-max(o, -o)), inverse = 1.0f / (1.0f + e);
      const Lanes probability = o > Lanes{} ? inverse : e * inverse;
      store(delta + r, (probability - t) * w);
      loss = max(o, Lanes{}) - o * t + log(1.0f + e);
    } else {
      store(delta + r, 2.0f * (o - t) * w);
      loss = (o - t) * (o - t);
    }
    total.add(w > Lanes{} ? loss : Lanes{});
  }
  if (by_class)
    for (int64_t r = 0; r < chunk.count; ++r)
      delta[chunk.classes[chunk.rows[r]] * R + r] -= net.weight[r];
}

/// attend_back() where each input is a column, with all columns in registers.
template <int64_t C>
void attend_back_in_registers(const Net& net, const float* parameters) {
  const int64_t R = net.R;
  const Layer& layer = net.layers[0];
  for (int64_t r = 0; r < R; r += kLanes) {
    Lanes da[C], mean{};
    back_rows(parameters + layer.offset, C, layer.out, net.delta[0] + r, R, da);
#pragma GCC unroll 16
    for (int64_t c = 0; c < C; ++c) {
      da[c] *= load(net.x + c * R + r);
      mean += load(net.attention + c * R + r) * da[c];
    }
#pragma GCC unroll 16
    for (int64_t c = 0; c < C; ++c)
      store(net.delta_attention + c * R + r, load(net.attention + c * R + r) * (da[c] - mean));
  }
}

/// From the derivative by what the first layer puts out to that by the logits l of the attention:
/// dz = W^T delta, da[column] = sum dz x, dl = a (da - sum a da).
void attend_back(const Net& net, const float* parameters) {
  const int64_t R = net.R, C = net.plan.columns;
  if (net.in_registers())
    return with_size<kMostInRegisters>(
        C, [&]<int64_t Count>(Size<Count>) { attend_back_in_registers<Count>(net, parameters); });
  dense_back(parameters, net.layers[0], net.delta[0], net.delta_z, R);
  float *a = net.attention, *da = net.delta_attention;
  for (int64_t r = 0; r < R; r += kLanes) {
    for (int64_t c = 0; c < C; ++c) store(da + c * R + r, Lanes{});
    for (int64_t i = 0; i < net.plan.inputs; ++i) {
      float* column = da + net.plan.column_of_input[i] * R + r;
      store(column, load(column) + load(net.delta_z + i * R + r) * load(net.x + i * R + r));
    }
    Lanes mean{};
    for (int64_t c = 0; c < C; ++c) mean += load(a + c * R + r) * load(da + c * R + r);
    for (int64_t c = 0; c < C; ++c)
      store(da + c * R + r, load(a + c * R + r) * (load(da + c * R + r) - mean));
  }
}

void backward(const Net& net, const float* parameters) {
  for (int64_t l = net.plan.layers; l > 0; --l) {
    const Layer& layer = net.layers[l];
    dense_back(parameters, layer, net.delta[l], net.delta[l - 1], net.R);
    const float* value = net.value[l - 1];
    float* delta = net.delta[l - 1];
    for (int64_t at = 0; at < layer.in * net.R; at += kLanes)
      store(delta + at, load(value + at) > Lanes{} ? load(delta + at) : Lanes{});
  }
  if (net.plan.columns > 0) attend_back(net, parameters);
}

void add_gradient(const Net& net, float* gradient) {
  if (net.plan.columns > 0)
    dense_gradient(gradient, net.attention_layer, net.delta_attention, net.x, net.R);
  for (int64_t l = 0; l <= net.plan.layers; ++l)
    dense_gradient(gradient, net.layers[l], net.delta[l], net.input_of(l), net.R);
}

/// Calls work(net, chunk, first row) for each chunk of the batch, of which `end` rows can be read.
template <class Work>
inline void for_each_chunk(const TabularPlan& plan, const TabularRows& batch, int64_t end,
                           float* scratch, Work work) {
  using fovea::kernels::kTabularChunk;
  for (int64_t begin = 0; begin < batch.count; begin += kTabularChunk) {
    const int64_t left = batch.count - begin, count = left < kTabularChunk ? left : kTabularChunk;
    work(Net(plan, scratch, fovea::kernels::padded_rows(count)),
         TabularChunk{batch.inputs, batch.targets, batch.classes, batch.rows + begin, count,
                      end - begin, 1.0f / static_cast<float>(batch.count)},
         begin);
  }
}

/// Sum of the losses; `gradient` [count] becomes that of their mean.
double batch_gradient(const TabularPlan& plan, const float* parameters, const TabularRows& batch,
                      int64_t end, float* gradient, int64_t count, float* scratch) {
  for (int64_t i = 0; i < count; ++i) gradient[i] = 0;
  WideSum total;
  for_each_chunk(plan, batch, end, scratch,
                 [&](const Net& net, const TabularChunk& chunk, int64_t) {
                   gather(net, chunk);
                   forward(net, parameters);
                   loss_and_delta(net, chunk, total);
                   backward(net, parameters);
                   add_gradient(net, gradient);
                 });
  return total.total();
}

double gradient(const TabularPlan& plan, const float* parameters, const TabularRows& batch,
                float* gradient, float* scratch) {
  const int64_t count = Net(plan, scratch, 0).parameters();
  return batch_gradient(plan, parameters, batch, batch.count, gradient, count, scratch);
}

double train(const TabularPlan& plan, const TabularRows& rows, int64_t batch_size,
             const OptimiserSteps& steps, float* scratch) {
  return with_kind(steps.settings.kind, [&]<OptimiserKind kind>(Kind<kind>) {
    double total = 0;
    TabularRows batch = rows;
    for (int64_t begin = 0, step = 0; begin < rows.count; begin += batch_size, ++step) {
      const int64_t left = rows.count - begin;
      batch.rows = rows.rows + begin;
      batch.count = left < batch_size ? left : batch_size;
      total +=
          batch_gradient(plan, steps.parameters, batch, left, steps.gradient, steps.count, scratch);
      take_step<kind>(steps, step);
    }
    return total;
  });
}

void forward(const TabularPlan& plan, const float* parameters, const TabularRows& batch,
             float* outputs, float* attention, float* scratch) {
  for_each_chunk(plan, batch, batch.count, scratch,
                 [&](const Net& net, const TabularChunk& chunk, int64_t begin) {
                   gather(net, chunk);
                   forward(net, parameters);
                   for (int64_t r = 0; r < chunk.count; ++r) {
                     for (int64_t o = 0; o < plan.outputs; ++o)
                       outputs[(begin + r) * plan.outputs + o] = net.output()[o * net.R + r];
                     for (int64_t c = 0; attention && c < plan.columns; ++c)
                       attention[(begin + r) * plan.columns + c] = net.attention[c * net.R + r];
                   }
                 });
}

}  // namespace

struct TabularNetTable {
  double (*gradient)(const TabularPlan&, const float* parameters, const TabularRows&,
                     float* gradient, float* scratch);
  double (*train)(const TabularPlan&, const TabularRows&, int64_t batch_size, const OptimiserSteps&,
                  float* scratch);
  void (*forward)(const TabularPlan&, const float* parameters, const TabularRows&, float* outputs,
                  float* attention, float* scratch);
};
FOVEA_TABLE(TabularNetTable, gradient, train, forward)

#ifdef FOVEA_ENTRY_POINTS

static TabularPlan plan_of(const TabularShape& shape) {
  bool input_is_column = shape.columns == shape.inputs;
  for (int64_t i = 0; input_is_column && i < shape.inputs; ++i)
    input_is_column = shape.column_of_input[static_cast<uint64_t>(i)] == i;
  return {shape.inputs,
          shape.columns,
          static_cast<int64_t>(shape.hidden.size()),
          shape.outputs,
          shape.column_of_input.data(),
          shape.hidden.data(),
          shape.loss,
          input_is_column};
}

int64_t TabularShape::parameters() const {
  int64_t total = columns * (inputs + 1), in = inputs;
  for (int64_t width : hidden) total += width * (in + 1), in = width;
  return total + outputs * (in + 1);
}

int64_t TabularShape::workspace(int64_t rows) const {
  int64_t units = 3 * inputs + 2 * columns + 2 * outputs + 2;
  for (int64_t width : hidden) units += 2 * width;
  return units * padded_rows(min(rows, kTabularChunk));
}

double tabular_gradient(const TabularShape& shape, const float* parameters,
                        const TabularRows& batch, float* gradient, float* scratch) {
  return table().gradient(plan_of(shape), parameters, batch, gradient, scratch);
}

double tabular_train(const TabularShape& shape, const TabularRows& rows, int64_t batch_size,
                     const OptimiserSteps& steps, float* scratch) {
  return table().train(plan_of(shape), rows, batch_size, steps, scratch);
}

void tabular_forward(const TabularShape& shape, const float* parameters, const TabularRows& batch,
                     float* outputs, float* attention, float* scratch) {
  table().forward(plan_of(shape), parameters, batch, outputs, attention, scratch);
}

#endif

}  // namespace fovea::kernels

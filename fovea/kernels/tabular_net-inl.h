// Body of the tabular network, compiled once per instruction set. Every buffer is [units][R], R
// rows padded to whole vectors.
#include "fovea/kernels/lanes-inl.h"
#include "fovea/kernels/tabular_plan.h"

namespace {

using fovea::kernels::TabularChunk;
using fovea::kernels::TabularLoss;
using fovea::kernels::TabularPlan;

/// A dense layer's place in the parameter array; its gradient lies at the same offset.
struct Layer {
  int64_t in, out, offset;
  int64_t bias() const { return offset + in * out; }
  int64_t end() const { return offset + in * out + out; }
};

constexpr int64_t kMostLayers = 64;  // hidden layers; more are refused by the model's options

/// Where the scratch buffers lie, and the layers one after the other.
struct Net {
  const TabularPlan& plan;
  int64_t R;
  float *x, *attention, *z, *output, *target, *weight;  // z == x without attention
  float* h[kMostLayers];
  float *delta, *delta_below, *delta_attention;
  Layer attention_layer{}, layers[kMostLayers + 1];

  Net(const TabularPlan& shape, float* scratch, int64_t rows) : plan(shape), R(rows) {
    int64_t at = 0, widest = plan.outputs > plan.inputs ? plan.outputs : plan.inputs;
    const auto take = [&](int64_t units) { return scratch + (at += units * R) - units * R; };
    x = take(plan.inputs);
    attention = take(plan.columns);
    z = plan.columns > 0 ? take(plan.inputs) : x;
    output = take(plan.outputs);
    target = take(1);
    weight = take(1);
    int64_t offset = 0, in = plan.inputs;
    if (plan.columns > 0)
      attention_layer = {plan.inputs, plan.columns, 0}, offset = attention_layer.end();
    for (int64_t l = 0; l <= plan.layers; ++l) {
      const int64_t out = l < plan.layers ? plan.hidden[l] : plan.outputs;
      layers[l] = {in, out, offset};
      offset = layers[l].end();
      if (l < plan.layers) h[l] = take(out);
      if (out > widest) widest = out;
      in = out;
    }
    delta = take(widest);
    delta_below = take(widest);
    delta_attention = take(plan.columns);
  }
  const float* input_of(int64_t l) const { return l == 0 ? z : h[l - 1]; }
};

/// out[o][r] = b[o] + sum_i W[o][i] in[i][r] for `Block` outputs.
template <int64_t Block>
inline void dense_block(const float* W, const float* b, int64_t in, const float* input,
                        float* output, int64_t R) {
  for (int64_t r = 0; r < R; r += kLanes) {
    Lanes sums[Block];
    for (int64_t o = 0; o < Block; ++o) sums[o] = all(b[o]);
    for (int64_t i = 0; i < in; ++i) {
      const Lanes value = load(input + i * R + r);
      for (int64_t o = 0; o < Block; ++o) sums[o] += all(W[o * in + i]) * value;
    }
    for (int64_t o = 0; o < Block; ++o) store(output + o * R + r, sums[o]);
  }
}

void dense(const float* parameters, const Layer& layer, const float* input, float* output,
           int64_t R) {
  const float* W = parameters + layer.offset;
  const float* b = parameters + layer.bias();
  int64_t o = 0;
  for (; o + 8 <= layer.out; o += 8)
    dense_block<8>(W + o * layer.in, b + o, layer.in, input, output + o * R, R);
  for (; o + 2 <= layer.out; o += 2)
    dense_block<2>(W + o * layer.in, b + o, layer.in, input, output + o * R, R);
  for (; o < layer.out; ++o)
    dense_block<1>(W + o * layer.in, b + o, layer.in, input, output + o * R, R);
}

/// gradient[o][i] += sum_r delta[o][r] input[i][r] for a block of outputs and inputs.
template <int64_t Outs, int64_t Ins>
inline void outer_block(float* gradient, int64_t in, const float* delta, const float* input,
                        int64_t R) {
  Lanes sums[Outs][Ins] = {};
  for (int64_t r = 0; r < R; r += kLanes) {
    Lanes values[Ins];
    for (int64_t i = 0; i < Ins; ++i) values[i] = load(input + i * R + r);
    for (int64_t o = 0; o < Outs; ++o) {
      const Lanes d = load(delta + o * R + r);
      for (int64_t i = 0; i < Ins; ++i) sums[o][i] += d * values[i];
    }
  }
  for (int64_t o = 0; o < Outs; ++o)
    for (int64_t i = 0; i < Ins; ++i) gradient[o * in + i] += sum(sums[o][i]);
}

template <int64_t Outs>
void outer_rows(float* gradient, int64_t in, const float* delta, const float* input, int64_t R) {
  int64_t i = 0;
  for (; i + 4 <= in; i += 4) outer_block<Outs, 4>(gradient + i, in, delta, input + i * R, R);
  for (; i + 2 <= in; i += 2) outer_block<Outs, 2>(gradient + i, in, delta, input + i * R, R);
  for (; i < in; ++i) outer_block<Outs, 1>(gradient + i, in, delta, input + i * R, R);
}

void dense_gradient(float* gradient, const Layer& layer, const float* delta, const float* input,
                    int64_t R) {
  float* W = gradient + layer.offset;
  int64_t o = 0;
  for (; o + 4 <= layer.out; o += 4)
    outer_rows<4>(W + o * layer.in, layer.in, delta + o * R, input, R);
  for (; o + 2 <= layer.out; o += 2)
    outer_rows<2>(W + o * layer.in, layer.in, delta + o * R, input, R);
  for (; o < layer.out; ++o) outer_rows<1>(W + o * layer.in, layer.in, delta + o * R, input, R);
  for (o = 0; o < layer.out; ++o) {
    Lanes total{};
    for (int64_t r = 0; r < R; r += kLanes) total += load(delta + o * R + r);
    gradient[layer.bias() + o] += sum(total);
  }
}

/// below[i][r] = sum_o W[o][i] delta[o][r].
template <int64_t Block>
inline void back_block(const float* W, const Layer& layer, const float* delta, float* below,
                       int64_t R) {
  for (int64_t r = 0; r < R; r += kLanes) {
    Lanes sums[Block] = {};
    for (int64_t o = 0; o < layer.out; ++o) {
      const Lanes d = load(delta + o * R + r);
      for (int64_t i = 0; i < Block; ++i) sums[i] += all(W[o * layer.in + i]) * d;
    }
    for (int64_t i = 0; i < Block; ++i) store(below + i * R + r, sums[i]);
  }
}

void dense_back(const float* parameters, const Layer& layer, const float* delta, float* below,
                int64_t R) {
  const float* W = parameters + layer.offset;
  int64_t i = 0;
  for (; i + 8 <= layer.in; i += 8) back_block<8>(W + i, layer, delta, below + i * R, R);
  for (; i + 2 <= layer.in; i += 2) back_block<2>(W + i, layer, delta, below + i * R, R);
  for (; i < layer.in; ++i) back_block<1>(W + i, layer, delta, below + i * R, R);
}

/// Softmax over `units`, in place. `truth` [R], unless null, holds the logit of each row's true
/// class and becomes the row's loss, -log of that probability; from the logit, because the
/// probability may be too small for a float.
void softmax(float* values, int64_t units, int64_t R, float* truth = nullptr) {
  for (int64_t r = 0; r < R; r += kLanes) {
    Lanes top = load(values + r);
    for (int64_t u = 1; u < units; ++u) top = larger(top, load(values + u * R + r));
    Lanes total{};
    for (int64_t u = 0; u < units; ++u) {
      const Lanes e = exponential(load(values + u * R + r) - top);
      store(values + u * R + r, e);
      total += e;
    }
    if (truth) store(truth + r, logarithm(total) - (load(truth + r) - top));
    const Lanes scale = 1.0f / total;
    for (int64_t u = 0; u < units; ++u) store(values + u * R + r, load(values + u * R + r) * scale);
  }
}

constexpr int64_t kAhead = 24;

/// Transposes the picked rows into x [I][R]; padding rows are zero and weigh nothing.
void gather(Net& net, const TabularChunk& chunk) {
  const int64_t I = net.plan.inputs, R = net.R;
  for (int64_t r = 0; r < R; ++r) {
    if (r >= chunk.count) {
      for (int64_t i = 0; i < I; ++i) net.x[i * R + r] = 0;
      net.weight[r] = net.target[r] = 0;
      continue;
    }
    if (r + kAhead < chunk.count) {  // shuffled rows are cache misses: ask for them early
      __builtin_prefetch(chunk.inputs + chunk.rows[r + kAhead] * I);
      if (chunk.targets) __builtin_prefetch(chunk.targets + chunk.rows[r + kAhead]);
    }
    const float* row = chunk.inputs + chunk.rows[r] * I;
    for (int64_t i = 0; i < I; ++i) net.x[i * R + r] = row[i];
    net.weight[r] = chunk.scale;
    if (chunk.targets) net.target[r] = chunk.targets[chunk.rows[r]];
  }
}

void forward(Net& net, const float* parameters) {
  const int64_t R = net.R;
  if (net.plan.columns > 0) {
    dense(parameters, net.attention_layer, net.x, net.attention, R);
    softmax(net.attention, net.plan.columns, R);
    for (int64_t i = 0; i < net.plan.inputs; ++i) {
      const float* a = net.attention + net.plan.column_of_input[i] * R;
      for (int64_t r = 0; r < R; r += kLanes)
        store(net.z + i * R + r, load(net.x + i * R + r) * load(a + r));
    }
  }
  for (int64_t l = 0; l <= net.plan.layers; ++l) {
    const Layer& layer = net.layers[l];
    float* output = l < net.plan.layers ? net.h[l] : net.output;
    dense(parameters, layer, net.input_of(l), output, R);
    if (l == net.plan.layers) break;
    for (int64_t at = 0; at < layer.out * R; at += kLanes)
      store(output + at, larger(Lanes{}, load(output + at)));
  }
}

/// Sum of the losses of the real rows; net.delta becomes the weighted derivative by the outputs.
double loss_and_delta(Net& net, const TabularChunk& chunk) {
  const int64_t R = net.R, O = net.plan.outputs;
  double total = 0;
  if (net.plan.loss == TabularLoss::CrossEntropy) {
    for (int64_t r = 0; r < chunk.count; ++r)
      net.target[r] = net.output[chunk.classes[chunk.rows[r]] * R + r];
    softmax(net.output, O, R, net.target);
    for (int64_t r = 0; r < R; ++r) {
      const float w = net.weight[r];
      for (int64_t o = 0; o < O; ++o) net.delta[o * R + r] = w * net.output[o * R + r];
      if (r >= chunk.count) continue;
      total += net.target[r];
      net.delta[chunk.classes[chunk.rows[r]] * R + r] -= w;
    }
    return total;
  }
  float losses[kLanes];
  for (int64_t r = 0; r < R; r += kLanes) {
    const Lanes o = load(net.output + r), t = load(net.target + r), w = load(net.weight + r);
    if (net.plan.loss == TabularLoss::BinaryCrossEntropy) {
      const Lanes e = exponential(-larger(o, -o)), inverse = 1.0f / (1.0f + e);
      const Lanes probability = o > Lanes{} ? inverse : e * inverse;
      store(net.delta + r, (probability - t) * w);
      store(losses, larger(o, Lanes{}) - o * t + logarithm(1.0f + e));
    } else {
      store(net.delta + r, 2.0f * (o - t) * w);
      store(losses, (o - t) * (o - t));
    }
    for (int64_t i = 0; i < kLanes && r + i < chunk.count; ++i) total += losses[i];
  }
  return total;
}

void attention_gradient(Net& net, float* gradient) {
  const int64_t R = net.R, C = net.plan.columns;
  float* da = net.delta_attention;
  for (int64_t at = 0; at < C * R; at += kLanes) store(da + at, Lanes{});
  for (int64_t i = 0; i < net.plan.inputs; ++i) {
    float* row = da + net.plan.column_of_input[i] * R;
    for (int64_t r = 0; r < R; r += kLanes)
      store(row + r, load(row + r) + load(net.delta + i * R + r) * load(net.x + i * R + r));
  }
  for (int64_t r = 0; r < R; r += kLanes) {  // through the softmax: dl = a (da - sum a da)
    Lanes mean{};
    for (int64_t c = 0; c < C; ++c) mean += load(net.attention + c * R + r) * load(da + c * R + r);
    for (int64_t c = 0; c < C; ++c)
      store(da + c * R + r, load(net.attention + c * R + r) * (load(da + c * R + r) - mean));
  }
  dense_gradient(gradient, net.attention_layer, da, net.x, R);
}

void backward(Net& net, const float* parameters, float* gradient) {
  const int64_t R = net.R;
  for (int64_t l = net.plan.layers; l >= 0; --l) {
    const Layer& layer = net.layers[l];
    dense_gradient(gradient, layer, net.delta, net.input_of(l), R);
    if (l == 0 && net.plan.columns == 0) return;
    dense_back(parameters, layer, net.delta, net.delta_below, R);
    float* above = net.delta;
    net.delta = net.delta_below, net.delta_below = above;
    if (l == 0) break;
    const float* h = net.h[l - 1];
    for (int64_t at = 0; at < layer.in * R; at += kLanes)
      store(net.delta + at, load(h + at) > Lanes{} ? load(net.delta + at) : Lanes{});
  }
  attention_gradient(net, gradient);
}

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

/// Adds to `gradient`, returns the sum of the losses.
double tabular_gradient(const TabularPlan& plan, const float* parameters, const TabularChunk& chunk,
                        float* gradient, float* scratch) {
  Net net(plan, scratch, padded_rows(chunk.count));
  gather(net, chunk);
  forward(net, parameters);
  const double total = loss_and_delta(net, chunk);
  backward(net, parameters, gradient);
  return total;
}

void tabular_forward(const TabularPlan& plan, const float* parameters, const TabularChunk& chunk,
                     float* outputs, float* attention, float* scratch) {
  Net net(plan, scratch, padded_rows(chunk.count));
  gather(net, chunk);
  forward(net, parameters);
  for (int64_t r = 0; r < chunk.count; ++r) {
    for (int64_t o = 0; o < plan.outputs; ++o)
      outputs[r * plan.outputs + o] = net.output[o * net.R + r];
    for (int64_t c = 0; attention && c < plan.columns; ++c)
      attention[r * plan.columns + c] = net.attention[c * net.R + r];
  }
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET

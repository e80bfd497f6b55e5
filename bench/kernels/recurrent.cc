// Times the steps of recurrent layers against the floor: the multiply-adds of U h and W x (and
// back) over what our register tiles reach on one thread in the same run. Products that the caller
// makes are not in it.
//   recurrent [REPEATS]
// Repeats of all cases are interleaved; printed are minima, on one thread.
#include "fovea/kernels/recurrent/recurrent.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <numeric>
#include <vector>

#include "bench/kernels/register_tiles.h"
#include "fovea/kernels/instruction_set.h"

namespace fovea::kernels {
namespace {

/// Processor time: what else runs on the machine counts less this way.
double seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

struct BenchCase {
  const char* name;
  RecurrentCell cell;
  int64_t inputs, hidden, rows, steps;
  bool mixed;  // lengths from 1 to `steps` instead of all the same
};

constexpr BenchCase kCases[] = {
    {"gru 200 -> 50, 576 x 17", RecurrentCell::Gru, 200, 50, 576, 17, false},
    {"gru 200 -> 50, mixed", RecurrentCell::Gru, 200, 50, 576, 33, true},
    {"gru 50 alone, 576 x 17", RecurrentCell::Gru, 0, 50, 576, 17, false},
    {"lstm 64 -> 64, 64 x 30", RecurrentCell::Lstm, 64, 64, 64, 30, false},
    {"gru 256 alone, 64 x 15", RecurrentCell::Gru, 0, 256, 64, 15, false},
    {"lstm 256 alone, 64 x 30", RecurrentCell::Lstm, 0, 256, 64, 30, false},
    {"rnn 64 -> 128, 32 x 100", RecurrentCell::Rnn, 64, 128, 32, 100, false},
    {"gru 200 -> 50, 1 x 200", RecurrentCell::Gru, 200, 50, 1, 200, false},
};

/// One direction with its buffers.
class Layer {
 public:
  explicit Layer(const BenchCase& c) {
    const auto rows = size_t(c.rows);
    for (int64_t row = 0; row < c.rows; ++row)
      lengths_.push_back(c.mixed ? 1 + row * 7 % c.steps : c.steps);
    first_.resize(rows), descending_.resize(rows);
    std::exclusive_scan(lengths_.begin(), lengths_.end(), first_.begin(), int64_t{0});
    std::iota(descending_.begin(), descending_.end(), int64_t{0});
    std::stable_sort(descending_.begin(), descending_.end(), [&](int64_t a, int64_t b) {
      return lengths_[size_t(a)] > lengths_[size_t(b)];
    });
    shape_.cell = c.cell, shape_.hidden = c.hidden, shape_.inputs = c.inputs;
    shape_.rows = c.rows, shape_.steps = c.steps;
    shape_.lengths = lengths_.data(), shape_.first = first_.data();
    shape_.descending = descending_.data();
    const int64_t h = c.hidden, n = first_.back() + lengths_.back();
    flops_ = 2.0 * double(n * shape_.gates() * h * (h + c.inputs));
    const auto drawn = [](int64_t count, float scale) {
      std::vector<float> x(static_cast<size_t>(count));
      for (size_t i = 0; i < x.size(); ++i) x[i] = scale * float(int(i * 37 % 201) - 100);
      return x;
    };
    x_ = drawn(n * c.inputs, 1e-2f), w_ = drawn(shape_.gates() * h * c.inputs, 1e-3f);
    u_ = drawn(shape_.gates() * h * h, 1e-3f), bias_ = drawn(shape_.gates() * h, 1e-3f);
    gates_ = drawn(n * shape_.saved() * h, 1e-2f), gradients_ = gates_;
    hidden_before_ = drawn(n * h, 1e-2f), cell_before_ = hidden_before_;
    outputs_ = drawn(c.rows * c.steps * h, 1e-2f);
    states_ = drawn(4 * c.rows * h, 0);
    sums_ = drawn(shape_.slices() * shape_.saved() * h, 0);
    packed_ = drawn(shape_.packed(), 0), scratch_ = drawn(shape_.scratch(), 0);
  }

  void time_once() {
    best_forward = std::min(best_forward, seconds([&] { run_forward(); }));
    best_backward = std::min(best_backward, seconds([&] { run_backward(); }));
  }

  double flops() const { return flops_; }
  double best_forward = 1e9, best_backward = 1e9;

 private:
  void run_forward() {
    recurrent_pack_forward(shape_, w_.data(), u_.data(), packed_.data());
    const RecurrentForward at{.packed = packed_.data(),
                              .input_bias = bias_.data(),
                              .recurrent_bias = bias_.data(),
                              .start_hidden = nullptr,
                              .start_cell = nullptr,
                              .x = x_.data(),
                              .gates = gates_.data(),
                              .hidden_before = hidden_before_.data(),
                              .cell_before = cell_before_.data(),
                              .outputs = outputs_.data(),
                              .output_row = shape_.hidden,
                              .last_hidden = states(0),
                              .last_cell = states(1)};
    for (int64_t slice = 0; slice < shape_.slices(); ++slice)
      recurrent_forward(shape_, slice, at, scratch_.data());
  }

  void run_backward() {
    recurrent_pack_backward(shape_, w_.data(), u_.data(), packed_.data());
    const RecurrentBackward at{.packed = packed_.data(),
                               .gates = gates_.data(),
                               .hidden_before = hidden_before_.data(),
                               .cell_before = cell_before_.data(),
                               .outputs = outputs_.data(),
                               .output_row = shape_.hidden,
                               .last_hidden = nullptr,
                               .last_cell = nullptr,
                               .gate_gradients = gradients_.data(),
                               .x = x_.data(),
                               .adds_to_x = false,
                               .start_hidden = states(2),
                               .start_cell = states(3),
                               .sums = sums_.data()};
    for (int64_t slice = 0; slice < shape_.slices(); ++slice)
      recurrent_backward(shape_, slice, at, scratch_.data());
  }

  float* states(size_t which) { return states_.data() + which * states_.size() / 4; }

  RecurrentShape shape_;
  double flops_ = 0;
  std::vector<int64_t> lengths_, first_, descending_;
  std::vector<float> x_, w_, u_, bias_, gates_, gradients_, hidden_before_, cell_before_, outputs_,
      states_, sums_, packed_, scratch_;
};

int bench(int64_t repeats) {
  double peak = 0;
  std::vector<Layer> all;
  all.reserve(std::size(kCases));  // shapes point into the layers
  for (const BenchCase& c : kCases) all.emplace_back(c);
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    for (int i = 0; i < 5; ++i) peak = std::max(peak, register_tile_speed());
    for (Layer& layer : all) layer.time_once();
  }
  std::printf("%s, 1 thread, register tiles %.0f GFLOP/s\n", name_of(instruction_set()),
              peak * 1e-9);
  std::printf("%-24s %12s %8s %12s %8s\n", "", "forward", "/ floor", "backward", "/ floor");
  for (size_t i = 0; i < all.size(); ++i) {
    const double floor = all[i].flops() / peak;
    std::printf("%-24s %9.3f ms %8.2f %9.3f ms %8.2f\n", kCases[i].name, all[i].best_forward * 1e3,
                all[i].best_forward / floor, all[i].best_backward * 1e3,
                all[i].best_backward / floor);
  }
  return 0;
}

}  // namespace
}  // namespace fovea::kernels

int main(int argc, char** argv) {
  const int64_t repeats = argc > 1 ? std::atoll(argv[1]) : 20;
  return fovea::kernels::bench(std::max<int64_t>(1, repeats));
}

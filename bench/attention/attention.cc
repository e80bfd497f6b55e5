// One call of attend(), forward and backward, 8 heads of 64; bench/peers/attention.py does the same
// in PyTorch.
//   attention LENGTH full|causal THREADS
// Prints JSON: what both must agree on (loss, gradient), seconds of forward and backward together,
// of forward alone, of the weights of 64 rows of one head, of the same matrix products at the speed
// of a large one (floor), and the bytes by which the process grew.
#include "fovea/attention/attend.h"

#include <sys/resource.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

constexpr int64_t kHeads = 8, kHeadSize = 64, kRowsAsked = 64;
constexpr double kLongEnough = 1.5;  // seconds that a measurement lasts at least

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median of as many runs as fit, three at least, after one of warm-up.
double median_seconds(const std::function<void()>& work) {
  std::vector<double> times{seconds(work)};
  const auto count = std::clamp<int64_t>(int64_t(kLongEnough / times[0]), 3, 200);
  times.clear();
  for (int64_t i = 0; i < count; ++i) times.push_back(seconds(work));
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[size_t(count / 2)];
}

/// sin(rate i), the same numbers as the peer's: [1, H, N, D].
at::Tensor wave(int64_t length, double rate) {
  const at::Tensor numbers = at::arange(kHeads * length * kHeadSize, at::kDouble) * rate;
  return at::sin(numbers).to(at::kFloat).view({1, kHeads, length, kHeadSize});
}

int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

struct Work {
  at::Tensor query, key, value, coefficients;
  std::shared_ptr<ScoreFunction> score;
  AttendInput input;

  Work(int64_t length, bool causal)
      : query(wave(length, 0.37).requires_grad_()),
        key(wave(length, 0.61).requires_grad_()),
        value(wave(length, 0.83).requires_grad_()),
        coefficients(wave(length, 0.11)) {
    ScoreOptions options;
    options.query_size = options.key_size = kHeadSize;
    score = make_score(options, Random(0));
    input.query = query;
    input.score = score.get();
    input.keep_weights = false;
    if (causal) input.mask = KeepMask::causal(length, length);
  }

  at::Tensor forward(Tap* tap = nullptr) {
    input.memory = remember(*score, key, value, KeepMask::all());
    return attend(input, tap).context;  // [1, H, N, D]
  }
  std::vector<at::Tensor> gradients() {
    return torch::autograd::grad({(forward() * coefficients).sum()}, {query, key, value});
  }
};

void bench(int64_t length, bool causal, int64_t threads) {
  set_threads(threads);
  at::set_num_threads(int(threads));
  Work work(length, causal);
  const int64_t before = peak_bytes();
  work.gradients();
  const int64_t grown = peak_bytes() - before;

  double gradient = 0;
  for (const at::Tensor& part : work.gradients()) gradient += part.abs().sum().item<double>();
  const double loss = (work.forward() * work.coefficients).sum().item<double>();
  const double both = median_seconds([&] { work.gradients(); });
  torch::NoGradGuard no_gradients;
  const double forward = median_seconds([&] { work.forward(); });
  Tap tap(Record::OnDemand);
  work.forward(&tap);
  const double weights =
      median_seconds([&] { tap.maps()[0].source->rows(0, 0, length - kRowsAsked, kRowsAsked); });

  const int64_t size = 2048;
  const at::Tensor left = at::ones({size, size}), right = at::ones({size, size});
  double product = 1e9;
  for (int i = 0; i < 7; ++i) product = std::min(product, seconds([&] { at::mm(left, right); }));
  const double pairs = double(length) * double(causal ? length + 1 : 2 * length) / 2;
  const double floor =
      7 * 2 * double(kHeads * kHeadSize) * pairs / (2.0 * size * size * size) * product;
  std::printf(
      "{\"loss\": %.9g, \"gradient\": %.9g, \"seconds\": %.9g, \"forward\": %.9g, "
      "\"weights\": %.9g, \"floor\": %.9g, \"bytes\": %lld}\n",
      loss, gradient, both, forward, weights, floor, static_cast<long long>(grown));
}

}  // namespace
}  // namespace fovea

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("attention LENGTH full|causal THREADS\n", stderr), 2;
  fovea::bench(std::atoll(argv[1]), std::string(argv[2]) == "causal", std::atoll(argv[3]));
}

// Times fused attention against the floor: its useful multiply-adds over what a large sgemm reaches
// on the same threads in the same run.
//   fused_attention [THREADS [REPEATS]]
// Repeats of all cases are interleaved; printed are minima. The peak is OpenBLAS's cblas_sgemm, or
// our own register tiles times the threads where the library is not installed.
#include "fovea/kernels/fused_attention/fused_attention.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "bench/kernels/register_tiles.h"
#include "fovea/kernels/instruction_set.h"

namespace fovea::kernels {
namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run_slices(int64_t threads, int64_t slices, const std::function<void(int64_t, int64_t)>& job) {
  std::atomic<int64_t> next = 0;
  const auto loop = [&](int64_t thread) {
    for (int64_t slice; (slice = next++) < slices;) job(slice, thread);
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) others.emplace_back(loop, t);
  loop(0);
  for (std::thread& other : others) other.join();
}

struct BenchCase {
  const char* name;
  int64_t batch, heads, length, head_size;
  bool causal;
  double dropout;
  Element element = Element::Float32;
};

constexpr BenchCase kCases[] = {
    {"8 x 64, 1,024", 1, 8, 1024, 64, false, 0},
    {"8 x 64, 4,096", 1, 8, 4096, 64, false, 0},
    {"8 x 64, 1,024 causal", 1, 8, 1024, 64, true, 0},
    {"8 x 64, 4,096 causal", 1, 8, 4096, 64, true, 0},
    {"8 x 64, 1,024 dropout", 1, 8, 1024, 64, false, 0.1},
    {"1 x 64, 4,096", 1, 1, 4096, 64, false, 0},
    {"64 batch 8 x 32, 15", 64, 8, 15, 32, false, 0},
    {"64 batch 8 x 32, 15 dropout", 64, 8, 15, 32, false, 0.1},
    {"32 batch 8 x 64, 30", 32, 8, 30, 64, false, 0},
    {"8 x 64, 1,024 bfloat16", 1, 8, 1024, 64, false, 0, Element::BFloat16},
    {"8 x 64, 1,024 float64", 1, 8, 1024, 64, false, 0, Element::Float64},
};

/// One case with its buffers, all [B, N, H * D].
class Attention {
 public:
  Attention(const BenchCase& c, int64_t threads) : c_(c), threads_(threads) {
    const int64_t size = c.element == Element::Float64 ? 8 : c.element == Element::BFloat16 ? 2 : 4;
    const int64_t count = c.batch * c.length * c.heads * c.head_size;
    const int64_t row = c.heads * c.head_size;
    for (auto& tensor : tensors_) {
      tensor.resize(size_t(count * size));
      for (int64_t i = 0; i < count; ++i) put(tensor.data(), i, double((i * 37 + 11) % 201 - 100));
    }
    const auto view = [&](int n) {
      return Rows{tensors_[n].data(), c.length * row, c.head_size, row};
    };
    const auto target = [&](int n) {
      return MutableRows{tensors_[n].data(), c.length * row, c.head_size, row};
    };
    problem_ = {.element = c.element,
                .batch = c.batch,
                .heads = c.heads,
                .key_heads = c.heads,
                .queries = c.length,
                .keys = c.length,
                .head_size = c.head_size,
                .value_size = c.head_size,
                .q = view(0),
                .k = view(1),
                .v = view(2),
                .scale = 0.125,
                .band_high = c.causal ? 0 : INT64_MAX,
                .dropout_rate = c.dropout,
                .dropout_key = 42};
    lse_.resize(size_t(c.batch * c.heads * c.length * 8));
    out_ = target(4);
    gradient_ = {view(4), lse_.data(), view(3), target(5), target(6), target(7)};
    const auto forward = fused_attention_forward_work(problem_);
    const auto backward = fused_attention_backward_work(problem_);
    const int64_t scratch =
        std::max({forward.scratch, backward.scratch, fused_attention_weights_scratch(problem_)});
    for (int64_t t = 0; t < threads; ++t) scratch_.emplace_back(size_t(scratch));
    shared_.resize(size_t(backward.shared));
  }

  void time_once() {
    const auto forward = fused_attention_forward_work(problem_);
    const auto backward = fused_attention_backward_work(problem_);
    best_forward =
        std::min(best_forward, seconds([&] {
                   run_slices(threads_, forward.slices, [&](int64_t slice, int64_t thread) {
                     fused_attention_forward(problem_, slice, out_, lse_.data(),
                                             scratch_[size_t(thread)].data());
                   });
                 }));
    best_backward =
        std::min(best_backward, seconds([&] {
                   run_slices(threads_, backward.slices, [&](int64_t slice, int64_t thread) {
                     fused_attention_backward(problem_, slice, gradient_, shared_.data(),
                                              scratch_[size_t(thread)].data());
                   });
                   run_slices(threads_, backward.sum_slices, [&](int64_t slice, int64_t thread) {
                     fused_attention_backward_sum(problem_, slice, gradient_, shared_.data(),
                                                  scratch_[size_t(thread)].data());
                   });
                 }));
    const int64_t rows = std::min<int64_t>(64, c_.length);
    weights_.resize(size_t(rows * c_.length));
    best_weights =
        std::min(best_weights, seconds([&] {
                   fused_attention_weights(problem_, {0, 0, c_.length - rows, rows},
                                           weights_.data(), c_.length, scratch_[0].data());
                 }));
  }

  /// Multiply-adds, twice, of `products` products, over visible pairs alone.
  double flops(int products) const {
    const double n = double(c_.length), pairs = c_.causal ? n * (n + 1) / 2 : n * n;
    return 2.0 * products * double(c_.batch * c_.heads * c_.head_size) * pairs;
  }

  double best_forward = 1e9, best_backward = 1e9, best_weights = 1e9;

 private:
  void put(void* data, int64_t i, double value) const {
    const float small = float(value / 60);
    if (c_.element == Element::Float64) static_cast<double*>(data)[i] = small;
    if (c_.element == Element::Float32) static_cast<float*>(data)[i] = small;
    if (c_.element == Element::BFloat16)
      static_cast<uint16_t*>(data)[i] = uint16_t(std::bit_cast<uint32_t>(small) >> 16);
  }

  BenchCase c_;
  int64_t threads_;
  FusedAttentionProblem problem_;
  FusedAttentionGradient gradient_{};
  MutableRows out_{};
  std::vector<uint8_t> tensors_[8], lse_, shared_;
  std::vector<std::vector<uint8_t>> scratch_;
  std::vector<double> weights_;
};

/// OpenBLAS's sgemm of 1,024 cubed with so many threads, or 0 flops per second without the library.
class Sgemm {
 public:
  explicit Sgemm(int64_t threads) : a_(kSize * kSize, 0.5f), b_(a_), c_(a_) {
    setenv("OMP_WAIT_POLICY", "passive", 0);  // or its threads spin on while ours are timed
    void* library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == nullptr) return;
    sgemm_ = reinterpret_cast<Function>(dlsym(library, "cblas_sgemm"));
    if (const auto set =
            reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads")))
      set(int(threads));
  }
  void time_once() {
    if (sgemm_ == nullptr) return;
    const double took = seconds([&] {
      sgemm_(101, 111, 111, kSize, kSize, kSize, 1, a_.data(), kSize, b_.data(), kSize, 0,
             c_.data(), kSize);
    });
    best = std::max(best, 2.0 * kSize * kSize * kSize / took);
  }
  double best = 0;

 private:
  typedef void (*Function)(int, int, int, int, int, int, float, const float*, int, const float*,
                           int, float, float*, int);
  static constexpr int kSize = 1024;
  Function sgemm_ = nullptr;
  std::vector<float> a_, b_, c_;
};

int bench(int64_t threads, int64_t repeats) {
  Sgemm sgemm(threads);
  double tiles = 0;
  std::vector<Attention> all;
  for (const BenchCase& c : kCases) all.emplace_back(c, threads);
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    for (int i = 0; i < 5; ++i) {
      sgemm.time_once();
      tiles = std::max(tiles, register_tile_speed() * double(threads));
    }
    for (Attention& attention : all) attention.time_once();
  }
  const double peak = sgemm.best > 0 ? sgemm.best : tiles;
  std::printf("%s, %d threads, sgemm %.0f GFLOP/s, register tiles %.0f GFLOP/s\n",
              name_of(instruction_set()), int(threads), sgemm.best * 1e-9, tiles * 1e-9);
  std::printf("%-28s %10s %8s %10s %8s %8s %10s\n", "", "forward", "/ floor", "backward", "/ floor",
              "both", "64 rows");
  for (size_t i = 0; i < all.size(); ++i) {
    const Attention& a = all[i];
    const double forward = a.flops(2) / peak, backward = a.flops(5) / peak;
    std::printf("%-28s %7.2f ms %8.2f %7.2f ms %8.2f %8.2f %7.2f ms\n", kCases[i].name,
                a.best_forward * 1e3, a.best_forward / forward, a.best_backward * 1e3,
                a.best_backward / backward,
                (a.best_forward + a.best_backward) / (forward + backward), a.best_weights * 1e3);
  }
  return 0;
}

}  // namespace
}  // namespace fovea::kernels

int main(int argc, char** argv) {
  const int64_t threads = argc > 1 ? std::atoll(argv[1]) : 2;
  const int64_t repeats = argc > 2 ? std::atoll(argv[2]) : 5;
  return fovea::kernels::bench(std::max<int64_t>(1, threads), std::max<int64_t>(1, repeats));
}

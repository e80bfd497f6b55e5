// Random numbers that depend on nothing but (seed, stream, counter): Philox4x32-10 (Salmon et al.
// 2011). The same call gives the same bits on any machine and at any thread count, and a resumed
// training needs no generator state. Normal deviates use Wichura's AS 241 with our own logarithm,
// so that no platform's libm can change them.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea {

/// A family of independent streams. Copying is free; split() gives an unrelated child.
class Random {
 public:
  explicit Random(uint64_t seed = 0) : key_(seed) {}

  /// The child stream called `name` (or numbered `index`): unrelated to this one and to its
  /// siblings.
  Random split(std::string_view name) const;
  Random split(uint64_t index) const;

  /// Four 32-bit words at `counter`.
  std::array<uint32_t, 4> words(uint64_t counter) const;

  double uniform(uint64_t counter) const;                  // in [0, 1), 53 bits
  double normal(uint64_t counter) const;                   // N(0, 1)
  uint64_t below(uint64_t counter, uint64_t bound) const;  // in [0, bound), unbiased to 2^-64

  /// A permutation of 0 … count-1.
  std::vector<int64_t> permutation(int64_t count) const;

  // Tensors filled element by element from counters 0, 1, 2, …; made on the CPU and moved, so that
  // devices agree.
  at::Tensor uniform_tensor(at::IntArrayRef shape, double low, double high,
                            const at::TensorOptions& options) const;
  at::Tensor normal_tensor(at::IntArrayRef shape, double mean, double deviation,
                           const at::TensorOptions& options) const;
  /// 1 with probability `keep`, else 0.
  at::Tensor bernoulli_tensor(at::IntArrayRef shape, double keep,
                              const at::TensorOptions& options) const;

  uint64_t key() const { return key_; }

 private:
  uint64_t key_;
};

/// x with each element zeroed with probability `rate`, whatever it was, and the rest scaled by
/// 1/(1-rate). Which are zeroed depends on the stream and the element's place in [rows, columns]
/// (columns: the last dimension) alone, by the rule of kernels/dropout.h; no mask is stored.
/// A GPU has bits of its own, which depend on the stream and the shape.
at::Tensor dropout(const at::Tensor& x, double rate, const Random& random);
/// The same from the stream's own stream of this name; without a stream (no training) x.
at::Tensor dropout(const at::Tensor& x, double rate, const Random* random, const char* name);

/// LibTorch's next draws on that device are a function of `key`.
void seed_device(const at::Device& device, uint64_t key);

/// While one lives in this thread, the draws of a GPU follow one another from the key that was set
/// here instead of each from its own stream's: a recorded step can only go on, not begin anew.
class SeededOnce {
 public:
  SeededOnce(const at::Device& device, uint64_t key);
  ~SeededOnce();
  SeededOnce(const SeededOnce&) = delete;
  SeededOnce& operator=(const SeededOnce&) = delete;
};

}  // namespace fovea

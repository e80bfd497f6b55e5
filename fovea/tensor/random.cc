#include "fovea/tensor/random.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "fovea/base/error.h"
#include "fovea/kernels/dropout/dropout.h"
#include "fovea/kernels/permutation/permutation.h"
#include "fovea/kernels/philox.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using kernels::philox;

/// The first 64 bits of a block.
uint64_t first_word(const kernels::PhiloxBlock& block) {
  return uint64_t{block.words[0]} << 32 | block.words[1];
}

/// log(x) for x > 0 by exact operations only: x = m 2^e, log m = 2 artanh((m-1)/(m+1)).
double portable_log(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) mantissa *= 2, --exponent;
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double series = 0;
  for (int odd = 23; odd >= 1; odd -= 2) series = series * square + 1.0 / odd;
  return 2 * s * series + exponent * 0.69314718055994531;
}

template <size_t N>
double polynomial(const double (&coefficients)[N], double x) {
  double sum = 0;
  for (double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

/// The inverse of the normal distribution function, Wichura 1988, AS 241 (PPND16), accurate to
/// about 1e-16.
double normal_quantile(double p) {
  static constexpr double kA[] = {
      2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
      13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
  static constexpr double kB[] = {
      5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
  static constexpr double kC[] = {7.7454501427834140764e-4, .0227238449892691845833,
                                  .24178072517745061177,    1.27045825245236838258,
                                  3.64784832476320460504,   5.7694972214606914055,
                                  4.6303378461565452959,    1.42343711074968357734};
  static constexpr double kD[] = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                                  .0151986665636164571966,   .14810397642748007459,
                                  .68976733498510000455,     1.6763848301838038494,
                                  2.05319162663775882187,    1.0};
  static constexpr double kE[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                  .0012426609473880784386,   .026532189526576123093,
                                  .29656057182850489123,     1.7848265399172913358,
                                  5.4637849111641143699,     6.6579046435011037772};
  static constexpr double kF[] = {2.04426310338993978564e-15, 1.4215117583164458887e-7,
                                  1.8463183175100546818e-5,   7.868691311456132591e-4,
                                  .0148753612908506148525,    .13692988092273580531,
                                  .59983220655588793769,      1.0};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  const double magnitude = r <= 5 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                                  : polynomial(kE, r - 5) / polynomial(kF, r - 5);
  return q < 0 ? -magnitude : magnitude;
}

/// Fills a CPU tensor element by element; the element's index is its counter, so any partition
/// gives the same numbers.
template <class Draw>
at::Tensor filled(at::IntArrayRef shape, const at::TensorOptions& options, Draw draw) {
  at::Tensor tensor = torch::empty(shape, torch::TensorOptions().dtype(torch::kFloat64));
  double* values = tensor.data_ptr<double>();
  at::parallel_for(0, tensor.numel(), 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] = draw(static_cast<uint64_t>(i));
  });
  return tensor.to(options.device(), c10::typeMetaToScalarType(options.dtype()));
}

}  // namespace

Random Random::split(std::string_view name) const {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char byte : name) hash = (hash ^ byte) * 0x100000001b3ull;
  return Random(first_word(philox(hash, 0x6e616d65, key_)));
}

Random Random::split(uint64_t index) const {
  return Random(first_word(philox(index, 0x696e6478, key_)));
}

std::array<uint32_t, 4> Random::words(uint64_t counter) const {
  return std::to_array(philox(counter, 0, key_).words);
}

double Random::uniform(uint64_t counter) const {
  const auto block = words(counter);
  return double((uint64_t{block[0]} << 32 | block[1]) >> 11) * 0x1p-53;
}

double Random::normal(uint64_t counter) const {
  const auto block = words(counter);
  // Half a step away from 0 and 1, where the quantile is infinite.
  return normal_quantile((double((uint64_t{block[0]} << 32 | block[1]) >> 12) + 0.5) * 0x1p-52);
}

uint64_t Random::below(uint64_t counter, uint64_t bound) const {
  const auto block = words(counter);
  const auto word = static_cast<unsigned __int128>(uint64_t{block[0]} << 32 | block[1]);
  return static_cast<uint64_t>(word * bound >> 64);
}

std::vector<int64_t> Random::permutation(int64_t count) const {
  std::vector<int64_t> order(static_cast<size_t>(count));
  kernels::random_permutation(key_, count, order.data());
  return order;
}

at::Tensor Random::uniform_tensor(at::IntArrayRef shape, double low, double high,
                                  const at::TensorOptions& options) const {
  return filled(shape, options, [&](uint64_t i) { return low + (high - low) * uniform(i); });
}

at::Tensor Random::normal_tensor(at::IntArrayRef shape, double mean, double deviation,
                                 const at::TensorOptions& options) const {
  return filled(shape, options, [&](uint64_t i) { return mean + deviation * normal(i); });
}

at::Tensor Random::bernoulli_tensor(at::IntArrayRef shape, double keep,
                                    const at::TensorOptions& options) const {
  return filled(shape, options, [&](uint64_t i) { return uniform(i) < keep ? 1.0 : 0.0; });
}

namespace {

/// Elements of one slice of a dropout, about.
constexpr int64_t kDropoutSlice = 1 << 16;

/// The kernel over a CPU tensor of float32; the last dimension is the columns.
at::Tensor dropped(const kernels::Dropout& how, const at::Tensor& x) {
  const at::Tensor from = x.contiguous(), to = at::empty_like(from);
  const int64_t columns = x.dim() > 0 ? x.size(-1) : 1;
  const int64_t rows = columns > 0 ? x.numel() / columns : 0;
  const int64_t rows_of_slice = std::max<int64_t>(1, kDropoutSlice / std::max<int64_t>(1, columns));
  run_parallel((rows + rows_of_slice - 1) / rows_of_slice, [&](int64_t slice) {
    const int64_t first = slice * rows_of_slice;
    kernels::dropout(how, from.data_ptr<float>() + first * columns, first,
                     std::min(rows_of_slice, rows - first), columns,
                     to.data_ptr<float>() + first * columns);
  });
  return to;
}

/// Other numbers than float32 on a CPU: the same mask.
at::Tensor dropped_by_mask(double rate, uint64_t key, const at::Tensor& x) {
  kernels::Dropout keep(rate, key);
  keep.scale = 1;
  const at::Tensor kept = dropped(keep, at::ones(x.sizes(), at::kFloat));
  return (x * (1 / (1 - rate))).masked_fill(kept.eq(0), 0);
}

/// A GPU draws from its own generator, set to the stream first: masks of a CPU would have to be
/// moved there, which takes longer than the rest of a step.
at::Tensor dropped_elsewhere(double rate, uint64_t key, const at::Tensor& x) {
  seed_device(x.device(), key);
  return std::get<0>(at::native_dropout(x, rate, /*train=*/true));
}

class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            double rate, int64_t key) {
    context->saved_data["rate"] = rate;
    context->saved_data["key"] = key;
    return dropped(kernels::Dropout(rate, static_cast<uint64_t>(key)), x);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const double rate = context->saved_data["rate"].toDouble();
    const int64_t key = context->saved_data["key"].toInt();
    return {DropoutFunction::apply(gradients[0], rate, key), {}, {}};
  }
};

}  // namespace

namespace {

thread_local bool seeded_once = false;

}  // namespace

SeededOnce::SeededOnce(const at::Device& device, uint64_t key) {
  seed_device(device, key);
  seeded_once = true;
}

SeededOnce::~SeededOnce() {
  seeded_once = false;
}

void seed_device(const at::Device& device, uint64_t key) {
  if (seeded_once) return;
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(key);
}

at::Tensor dropout(const at::Tensor& x, double rate, const Random& random) {
  require(rate >= 0 && rate < 1, ErrorKind::InvalidArgument, "dropout rate ", rate,
          " is not in [0, 1)");
  if (rate == 0) return x;
  if (!x.is_cpu()) return dropped_elsewhere(rate, random.key(), x);
  if (x.scalar_type() != at::kFloat) return dropped_by_mask(rate, random.key(), x);
  return DropoutFunction::apply(x, rate, static_cast<int64_t>(random.key()));
}

at::Tensor dropout(const at::Tensor& x, double rate, const Random* random, const char* name) {
  return random ? dropout(x, rate, random->split(name)) : x;
}

}  // namespace fovea

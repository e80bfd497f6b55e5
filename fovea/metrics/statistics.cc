#include "fovea/metrics/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

/// The regularised incomplete beta function I_x(a, b) by its continued fraction, evaluated from the
/// front (Lentz 1976). Converges fast for x < (a + 1) / (a + b + 2); the caller uses the symmetry
/// I_x(a, b) = 1 - I_{1-x}(b, a) otherwise.
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostSteps = 10000;
  auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double numerator = 1;
  double denominator = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = denominator;
  for (int step = 1; step < kMostSteps; ++step) {
    const double m = step;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double coefficient : {even, odd}) {
      denominator = 1 / away_from_zero(1 + coefficient * denominator);
      numerator = away_from_zero(1 + coefficient / numerator);
      factor = denominator * numerator;
      value *= factor;
    }
    if (std::abs(factor - 1) < 1e-15) break;
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return front * value / a;
}

/// P(T > t) for t >= 0.
double student_t_tail(double t, double degrees) {
  const double x = degrees / (degrees + t * t);
  const double a = degrees / 2, b = 0.5;
  if (x >= 1) return 0.5;
  const double both_tails =
      x < (a + 1) / (a + b + 2) ? beta_fraction(x, a, b) : 1 - beta_fraction(1 - x, b, a);
  return both_tails / 2;
}

}  // namespace

double sorted_quantile(std::span<const double> sorted, double share) {
  const double place = share * double(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
}

double student_t_quantile(double probability, double degrees_of_freedom) {
  require(probability > 0 && probability < 1, ErrorKind::InvalidArgument,
          "a quantile needs a probability between 0 and 1, found ", probability);
  require(degrees_of_freedom > 0, ErrorKind::InvalidArgument,
          "Student's t needs degrees of freedom above 0, found ", degrees_of_freedom);
  if (probability < 0.5) return -student_t_quantile(1 - probability, degrees_of_freedom);
  const double tail = 1 - probability;
  double high = 1;
  while (student_t_tail(high, degrees_of_freedom) > tail && high < 1e12) high *= 2;
  double low = 0;
  for (int step = 0; step < 200 && high - low > 1e-14 * high; ++step) {
    const double middle = (low + high) / 2;
    (student_t_tail(middle, degrees_of_freedom) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

Summary summarize(std::span<const double> values) {
  require(!values.empty(), ErrorKind::InvalidArgument,
          "a summary needs at least one value, found none");
  RunningStatistics moments;
  for (const double value : values) {
    require(std::isfinite(value), ErrorKind::InvalidArgument, "value ", moments.count(),
            " of a summary is ", value, ", expected finite numbers");
    moments.add(value);
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const size_t count = sorted.size();

  Summary summary;
  summary.count = moments.count();
  summary.mean = moments.mean();
  summary.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
  summary.minimum = sorted.front();
  summary.maximum = sorted.back();
  if (count >= 2) {
    const double n = double(count);
    summary.deviation = moments.deviation();
    summary.interval = student_t_quantile(0.975, n - 1) * *summary.deviation / std::sqrt(n);
  }
  return summary;
}

double RunningStatistics::deviation() const {
  return count_ < 2 ? 0 : std::sqrt(squares_ / double(count_ - 1));
}

}  // namespace fovea

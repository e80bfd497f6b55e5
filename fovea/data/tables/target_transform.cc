#include "fovea/data/tables/target_transform.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr double kVerySkewed = 3;  // skewness, from which on auto takes the logarithm
constexpr size_t kMostKnots = 512;
constexpr double kBeyondRange = 1;  // deviations

double mean_of_numbers(std::span<const double> numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / double(numbers.size());
}

/// The mean of ((y - mean) / deviation)^power.
double standard_moment(std::span<const double> numbers, int power) {
  const double mean = mean_of_numbers(numbers);
  double squares = 0, sum = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  const double deviation = std::sqrt(squares / double(numbers.size()));
  for (const double number : numbers) sum += std::pow((number - mean) / deviation, power);
  return sum / double(numbers.size());
}

std::vector<double> logarithms(std::span<const double> numbers, double shift) {
  std::vector<double> logs;
  for (const double number : numbers) logs.push_back(std::log(number + shift));
  return logs;
}

/// 0 where every number has a logarithm; 1 for counts, which can be 0.
double shift_for(std::span<const double> numbers) {
  return *std::ranges::min_element(numbers) > 0 ? 0 : 1;
}

std::string choose_transform(std::span<const double> numbers) {
  if (*std::ranges::min_element(numbers) < 0) return "none";
  const double skewness = standard_moment(numbers, 3);
  if (!(skewness > kVerySkewed)) return "none";
  const double rest = std::abs(standard_moment(logarithms(numbers, shift_for(numbers)), 3));
  return rest < kVerySkewed / 2 ? "log" : "none";
}

/// `at` of a line through points whose `x` ascends; beyond them as between the outermost two.
double interpolate(const std::vector<double>& x, const std::vector<double>& y, double at) {
  const auto above = std::clamp<std::ptrdiff_t>(
      std::upper_bound(x.begin(), x.end(), at) - x.begin(), 1, std::ptrdiff_t(x.size()) - 1);
  const auto i = size_t(above);
  return y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
}

}  // namespace

double TargetTransform::transform(double value) const {
  if (name_ == "log") return std::log(value + shift_);
  return name_ == "quantile" ? interpolate(knots_, scores_, value) : value;
}

TargetTransform TargetTransform::fit(const std::string& name, std::span<const double> numbers,
                                     const std::string& subject) {
  TargetTransform own;
  own.name_ = name == "auto" ? choose_transform(numbers) : name;
  if (own.name_ == "log") {
    own.shift_ = shift_for(numbers);
    require(*std::ranges::min_element(numbers) >= 0, ErrorKind::BadData, subject,
            " has numbers below 0, which have no logarithm; data.target_transform=quantile takes "
            "any");
  }
  if (own.name_ == "quantile") {
    std::vector<double> sorted(numbers.begin(), numbers.end());
    std::ranges::sort(sorted);
    const auto count = double(sorted.size());
    double last = -1;  // rank of the last knot
    for (size_t i = 0; i < sorted.size();) {
      size_t end = i;  // of equal numbers
      while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
      const double rank = double(i + end) / 2;
      if (last < 0 || end == sorted.size() || rank - last >= count / double(kMostKnots)) {
        const double share = rank / count;
        own.knots_.push_back(sorted[i]);
        own.scores_.push_back(
            std::sqrt(2.0) *
            torch::erfinv(torch::tensor(2 * share - 1, torch::kFloat64)).item<double>());
        last = rank;
      }
      i = end;
    }
  }
  std::vector<double> transformed;
  for (const double number : numbers) transformed.push_back(own.transform(number));
  own.mean_ = mean_of_numbers(transformed);
  double squares = 0;
  for (const double number : transformed) squares += (number - own.mean_) * (number - own.mean_);
  own.deviation_ = std::sqrt(squares / double(transformed.size()));
  require(own.deviation_ > 0, ErrorKind::BadData, subject, " varies too little to be learnt");
  const auto [low, high] = std::ranges::minmax(transformed);
  own.low_ = (low - own.mean_) / own.deviation_;
  own.high_ = (high - own.mean_) / own.deviation_;
  return own;
}

double TargetTransform::encode(double value) const {
  return (transform(value) - mean_) / deviation_;
}

at::Tensor TargetTransform::decode(const at::Tensor& encoded) const {
  at::Tensor value = encoded.to(torch::kCPU, torch::kFloat64) * deviation_ + mean_;
  if (name_ == "log") return value.exp() - shift_;
  if (name_ != "quantile") return value;
  value = value.clone().contiguous();
  double* numbers = value.data_ptr<double>();
  for (int64_t i = 0; i < value.numel(); ++i) numbers[i] = interpolate(scores_, knots_, numbers[i]);
  return value;
}

at::Tensor TargetTransform::decode_prediction(const at::Tensor& encoded) const {
  return decode(is_none() ? encoded : encoded.clamp(low_ - kBeyondRange, high_ + kBeyondRange));
}

Json TargetTransform::to_json() const {
  Json json{
      {"name", name_}, {"mean", mean_}, {"deviation", deviation_}, {"low", low_}, {"high", high_}};
  if (name_ == "log") json["shift"] = shift_;
  if (name_ == "quantile") json["knots"] = knots_, json["scores"] = scores_;
  return json;
}

TargetTransform TargetTransform::from_json(const Field& field) {
  TargetTransform own;
  own.name_ = field.at("name").text();
  field.at("name").expect(own.name_ == "none" || own.name_ == "log" || own.name_ == "quantile",
                          "none, log or quantile");
  own.mean_ = field.at("mean").finite();
  own.deviation_ = field.at("deviation").deviation();
  own.low_ = field.at("low").finite();
  own.high_ = field.at("high").finite();
  if (own.name_ == "log") own.shift_ = field.at("shift").finite();
  if (own.name_ != "quantile") return own;
  own.knots_ = field.at("knots").finites();
  own.scores_ = field.at("scores").finites();
  const auto ascends = [](const std::vector<double>& numbers) {
    return std::ranges::adjacent_find(numbers, std::greater_equal<>()) == numbers.end();
  };
  field.expect(own.knots_.size() >= 2 && own.knots_.size() == own.scores_.size() &&
                   ascends(own.knots_) && ascends(own.scores_),
               "at least two knots and as many scores, both ascending");
  return own;
}

}  // namespace fovea

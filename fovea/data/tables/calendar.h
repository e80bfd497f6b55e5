// A date or time as inputs of one column: days since the first training date, year, month, weekday
// and hour, each as a number (number.h) where the training rows differ in it; month, weekday and
// hour also as sine and cosine, so that December is next to January.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/formats/date_format.h"
#include "fovea/data/tables/number.h"

namespace fovea {

class CalendarEncoding {
 public:
  /// From the training times in days since 1970-01-01; NaN stands for a missing one, and at least
  /// one is there.
  static CalendarEncoding fit(std::span<const double> times, const DateFormat& format,
                              const NumberFit& fit);

  Json to_json() const;
  static CalendarEncoding from_json(const Field& field);

  const DateFormat& format() const { return format_; }
  bool is_constant() const { return parts_.empty(); }
  double low() const { return low_; }  // of the training times
  double high() const { return high_; }
  int64_t inputs() const { return int64_t(input_means().size()); }
  std::vector<std::string> part_names() const;  // "days", "hour"
  std::vector<std::string> input_names(const std::string& name) const;
  std::vector<double> input_means() const;
  std::vector<bool> pieces() const;  // of each input, whether it is a piece

  void encode(double time, float* inputs) const;
  double decode(const float* inputs) const;

 private:
  struct Part {
    size_t kind = 0;  // a row of the table in calendar.cc
    NumberEncoding number;
    double sine_mean = 0, cosine_mean = 0;
  };
  DateFormat format_;
  double low_ = 0, high_ = 0;
  std::vector<Part> parts_;
};

}  // namespace fovea

#include "fovea/data/tables/calendar.h"

#include <array>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"

namespace fovea {

namespace {

/// What a time says. `period`: it begins anew after as many; 0: never.
struct PartKind {
  const char* name;
  double period;
  double (*of)(double time, const CalendarParts& parts, double first);
};

constexpr std::array<PartKind, 5> kPartKinds{{
    {"days", 0, [](double time, const CalendarParts&, double first) { return time - first; }},
    {"year", 0, [](double, const CalendarParts& parts, double) { return parts.year; }},
    {"month", 12, [](double, const CalendarParts& parts, double) { return parts.month; }},
    {"weekday", 7, [](double, const CalendarParts& parts, double) { return parts.weekday; }},
    {"hour", 24, [](double, const CalendarParts& parts, double) { return parts.hour; }},
}};

double angle(const PartKind& kind, double value) {
  return 2 * std::numbers::pi * value / kind.period;
}

}  // namespace

CalendarEncoding CalendarEncoding::fit(std::span<const double> times, const DateFormat& format,
                                       const NumberFit& fit) {
  CalendarEncoding encoding;
  encoding.format_ = format;
  encoding.low_ = INFINITY, encoding.high_ = -INFINITY;
  for (const double time : times)
    if (!std::isnan(time)) {
      encoding.low_ = std::min(encoding.low_, time);
      encoding.high_ = std::max(encoding.high_, time);
    }
  require(encoding.low_ <= encoding.high_, ErrorKind::Internal, "a column of dates has no values");
  NumberFit standardised = fit;
  standardised.standardise = true;
  std::vector<double> values(times.size());
  for (size_t kind = 0; kind < kPartKinds.size(); ++kind) {
    const bool of_day = std::string_view(kPartKinds[kind].name) == "hour";
    if (of_day ? !format.has_time() : !format.has_date()) continue;
    Part part{kind, {}, 0, 0};
    double count = 0;
    for (size_t row = 0; row < times.size(); ++row) {
      values[row] = NAN;
      if (std::isnan(times[row])) continue;
      values[row] = kPartKinds[kind].of(times[row], calendar_parts(times[row]), encoding.low_);
      count += 1;
      if (kPartKinds[kind].period == 0) continue;
      part.sine_mean += std::sin(angle(kPartKinds[kind], values[row]));
      part.cosine_mean += std::cos(angle(kPartKinds[kind], values[row]));
    }
    part.sine_mean /= count, part.cosine_mean /= count;
    part.number = NumberEncoding::fit(values, standardised);
    if (!part.number.is_constant()) encoding.parts_.push_back(std::move(part));
  }
  return encoding;
}

std::vector<std::string> CalendarEncoding::part_names() const {
  std::vector<std::string> names;
  for (const Part& part : parts_) names.push_back(kPartKinds[part.kind].name);
  return names;
}

std::vector<std::string> CalendarEncoding::input_names(const std::string& name) const {
  std::vector<std::string> names;
  for (const Part& part : parts_) {
    const std::string own = concat(name, ".", kPartKinds[part.kind].name);
    for (const std::string& input : part.number.input_names(own)) names.push_back(input);
    if (kPartKinds[part.kind].period > 0)
      names.push_back(own + ".sin"), names.push_back(own + ".cos");
  }
  if (names.empty()) names.push_back(name);
  return names;
}

std::vector<double> CalendarEncoding::input_means() const {
  std::vector<double> means;
  for (const Part& part : parts_) {
    means.insert(means.end(), part.number.input_means().begin(), part.number.input_means().end());
    if (kPartKinds[part.kind].period > 0)
      means.push_back(part.sine_mean), means.push_back(part.cosine_mean);
  }
  if (means.empty()) means.push_back(0);
  return means;
}

std::vector<bool> CalendarEncoding::pieces() const {
  std::vector<bool> pieces;
  for (const Part& part : parts_) {
    pieces.push_back(false);
    pieces.insert(pieces.end(), size_t(part.number.pieces()), true);
    if (kPartKinds[part.kind].period > 0) pieces.insert(pieces.end(), 2, false);
  }
  if (pieces.empty()) pieces.push_back(false);
  return pieces;
}

void CalendarEncoding::encode(double time, float* inputs) const {
  const CalendarParts calendar = calendar_parts(time);
  for (const Part& part : parts_) {
    const PartKind& kind = kPartKinds[part.kind];
    const double value = kind.of(time, calendar, low_);
    part.number.encode(value, inputs);
    inputs += part.number.inputs();
    if (kind.period == 0) continue;
    *inputs++ = float(std::sin(angle(kind, value)));
    *inputs++ = float(std::cos(angle(kind, value)));
  }
}

double CalendarEncoding::decode(const float* inputs) const {
  if (parts_.empty()) return low_;
  const double first = parts_.front().number.decode(inputs);
  return format_.has_date() ? low_ + first : first / 24;
}

Json CalendarEncoding::to_json() const {
  Json parts = Json::array();
  for (const Part& part : parts_)
    parts.push_back({{"kind", kPartKinds[part.kind].name},
                     {"number", part.number.to_json()},
                     {"sine_mean", part.sine_mean},
                     {"cosine_mean", part.cosine_mean}});
  return {{"format", format_.to_json()}, {"low", low_}, {"high", high_}, {"parts", parts}};
}

CalendarEncoding CalendarEncoding::from_json(const Field& field) {
  CalendarEncoding encoding;
  encoding.format_ = DateFormat::from_json(field.at("format"));
  encoding.low_ = field.at("low").finite();
  encoding.high_ = field.at("high").finite();
  field.at("parts").each({}, [&](const Field& part) {
    const std::string name = part.at("kind").text();
    size_t kind = 0;
    while (kind < kPartKinds.size() && name != kPartKinds[kind].name) ++kind;
    part.at("kind").expect(kind < kPartKinds.size(), "days, year, month, weekday or hour");
    encoding.parts_.push_back({kind, NumberEncoding::from_json(part.at("number")),
                               part.at("sine_mean").finite(), part.at("cosine_mean").finite()});
  });
  field.at("parts").expect(encoding.parts_.size() <= kPartKinds.size(), "at most one of each kind");
  return encoding;
}

}  // namespace fovea

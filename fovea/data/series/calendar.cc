#include "fovea/data/series/calendar.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

namespace {

using std::chrono::year_month_day;

constexpr double kSecondsOfDay = 86400;
constexpr double kShortestMonth = 28;
constexpr double kClearPeak = 0.3;          // of an autocorrelation
constexpr int64_t kLongestSeason = 1000;    // that is looked for
constexpr int64_t kStepsForSeason = 20000;  // the last ones are enough

year_month_day date_of(double days) {
  return year_month_day(std::chrono::sys_days(std::chrono::days(int64_t(std::floor(days)))));
}

/// Months since year 0, where the time is midnight.
int64_t month_number(double days) {
  const year_month_day date = date_of(days);
  return int64_t(int(date.year())) * 12 + int64_t(unsigned(date.month())) - 1;
}

bool is_last_of_month(double days) {
  return date_of(days).month() != date_of(days + 1).month();
}

/// The first of a month, or the last day of it where `last`.
double day_in_month(int64_t month, int64_t day) {
  const std::chrono::year_month first(std::chrono::year(int(month / 12)),
                                      std::chrono::month(unsigned(month % 12 + 1)));
  const year_month_day last(first / std::chrono::last);
  const auto chosen = std::min<unsigned>(unsigned(day), unsigned(last.day()));
  return double(std::chrono::sys_days(first / std::chrono::day(chosen)).time_since_epoch().count());
}

/// The same day of every month, or the last one of each.
bool are_months(std::span<const std::vector<double>> blocks) {
  bool same = true, last = true;
  std::optional<unsigned> day;
  for (const std::vector<double>& times : blocks)
    for (const double time : times) {
      if (time != std::floor(time)) return false;
      const unsigned own = unsigned(date_of(time).day());
      if (!day) day = own;
      same = same && own == *day;
      last = last && is_last_of_month(time);
    }
  return day && (same || last);
}

double rounded_seconds(double days) {
  return std::round(days * kSecondsOfDay) / kSecondsOfDay;
}

bool is_digits(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether the dates are a whole number of one interval apart, with few missing.
bool is_even(const DateFormat& format, std::span<const std::string_view> cells) {
  std::vector<std::vector<double>> times(1);
  for (const std::string_view cell : cells)
    if (const auto time = format.parse(cell)) times[0].push_back(time->in_days());
  std::ranges::sort(times[0]);
  times[0].erase(std::unique(times[0].begin(), times[0].end()), times[0].end());
  const StepInterval interval = find_interval(times, true);
  if (!interval.known()) return false;
  const auto steps = interval.steps_between(times[0].front(), times[0].back());
  return steps && *steps < 2 * int64_t(times[0].size());
}

}  // namespace

StepTimes parse_step_times(std::span<const std::string> labels) {
  StepTimes times;
  bool numbers = true;
  double low = INFINITY, high = -INFINITY;
  for (const std::string& label : labels) {
    const std::optional<double> time = parse_time(label);
    if (!time) return {};
    double number = 0;
    const bool is_number = parse_number(label, number);
    if (!times.values.empty() && is_number != numbers) return {};
    numbers = is_number;
    times.values.push_back(*time);
    low = std::min(low, *time), high = std::max(high, *time);
  }
  if (labels.empty()) return times;
  times.dates = !numbers;
  // Seconds since 1970 from 1973 to 2096, and milliseconds likewise: no other counter starts there.
  const double unit = low > 1e8 && high < 4e9     ? kSecondsOfDay
                      : low > 1e11 && high < 4e12 ? kSecondsOfDay * 1000
                                                  : 0;
  if (numbers && unit > 0) {
    for (double& time : times.values) time /= unit;
    times.dates = true;
  }
  return times;
}

std::optional<DateFormat> find_date_format(std::span<const std::string> labels) {
  const StepTimes plain = parse_step_times(labels);
  const bool compact = std::ranges::all_of(  // 20110131 is no number
      labels, [](const std::string& label) { return label.size() == 8 && is_digits(label); });
  if (!plain.values.empty() && !(compact && !plain.dates)) return {};
  const std::vector<std::string_view> cells(labels.begin(), labels.end());
  if (std::ranges::any_of(cells, is_missing_number)) return {};
  std::optional<DateFormat> format = DateFormat::infer(cells);
  if (!format || !format->has_date()) return {};
  if (!format->is_guess()) return format;
  Json swapped = format->to_json();
  swapped["day_first"] = !format->day_first();
  const DateFormat other = DateFormat::from_json(Field::root(swapped, "date format"));
  return is_even(other, cells) && !is_even(*format, cells) ? other : format;
}

std::string format_step_time(double time, bool dates, const std::string& like) {
  double number = 0;
  if (!dates || parse_number(like, number)) {
    const double unit = !dates ? 1 : number > 4e9 ? kSecondsOfDay * 1000 : kSecondsOfDay;
    return format_number(std::round(time * unit * 1e6) / 1e6, 15);
  }
  const double day = std::floor(rounded_seconds(time) + 1e-9);
  const auto second = int64_t(std::llround((time - day) * kSecondsOfDay));
  const year_month_day date = date_of(day);
  const auto two = [](int64_t value) { return concat(value < 10 ? "0" : "", value); };
  std::string text = concat(int(date.year()), "-", two(unsigned(date.month())), "-",
                            two(unsigned(date.day())), like.size() > 10 ? like[10] : ' ',
                            two(second / 3600), ":", two(second / 60 % 60), ":", two(second % 60));
  return text.substr(0, std::clamp<size_t>(like.size(), 10, 19));
}

std::optional<int64_t> StepInterval::steps_between(double from, double to) const {
  if (months > 0) {
    const int64_t distance = month_number(to) - month_number(from);
    return distance % months == 0 ? std::optional<int64_t>(distance / months) : std::nullopt;
  }
  const double steps = (to - from) / length;
  if (!(length > 0) ||
      std::abs(steps - std::round(steps)) > 1e-3 * std::max(1.0, std::abs(steps)) ||
      std::abs(steps) > 1e15)
    return {};
  return int64_t(std::llround(steps));
}

double StepInterval::after(double time, int64_t steps) const {
  if (months == 0) return time + length * double(steps);
  const int64_t day = is_last_of_month(time) ? 31 : int64_t(unsigned(date_of(time).day()));
  return day_in_month(month_number(time) + months * steps, day);
}

double StepInterval::days() const {
  if (!dates) return 0;
  return months > 0 ? double(months) * 365.25 / 12 : length;
}

std::string StepInterval::text() const {
  const auto in = [](double count, const char* unit) {
    return concat(format_number(count), " ", unit, count == 1 ? "" : "s");
  };
  if (!known()) return "unknown";
  if (months > 0)
    return months % 12 == 0 ? in(double(months / 12), "year") : in(double(months), "month");
  if (!dates) return format_number(length);
  const double seconds = std::round(length * kSecondsOfDay);
  if (seconds >= kSecondsOfDay) return in(length, "day");
  if (seconds >= 3600) return in(seconds / 3600, "hour");
  return seconds >= 60 ? in(seconds / 60, "minute") : in(length * kSecondsOfDay, "second");
}

StepInterval find_interval(std::span<const std::vector<double>> blocks, bool dates) {
  std::map<double, int64_t> counts;
  for (const std::vector<double>& times : blocks)
    for (size_t i = 1; i < times.size(); ++i)
      ++counts[dates ? rounded_seconds(times[i] - times[i - 1]) : times[i] - times[i - 1]];
  if (counts.empty()) return {};
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  StepInterval interval{most->first, 0, dates};
  if (dates && counts.begin()->first >= kShortestMonth && are_months(blocks)) {
    int64_t months = INT64_MAX;
    for (const std::vector<double>& times : blocks)
      for (size_t i = 1; i < times.size(); ++i)
        months = std::min(months, month_number(times[i]) - month_number(times[i - 1]));
    interval = {0, months, dates};
  }
  if (!interval.known()) return {};
  for (const std::vector<double>& times : blocks)
    for (size_t i = 1; i < times.size(); ++i) {
      const auto steps = interval.steps_between(times[i - 1], times[i]);
      if (!steps || *steps < 1) return {};
    }
  return interval;
}

int64_t calendar_season(const StepInterval& interval) {
  if (interval.months > 0)
    return interval.months <= 6 && 12 % interval.months == 0 ? 12 / interval.months : 1;
  const double days = interval.days();
  if (days <= 0) return 1;
  if (days < 0.75) return std::max<int64_t>(1, std::llround(1 / days));
  if (std::abs(days - 1) < 1e-6) return 7;
  return std::abs(days - 7) < 1e-6 ? 52 : 1;
}

int64_t find_season(std::span<const double> all) {
  const auto values = all.subspan(all.size() - std::min<size_t>(all.size(), kStepsForSeason));
  const auto count = int64_t(values.size());
  const int64_t longest = std::min(kLongestSeason, count / 4);
  if (longest < 3) return 1;
  // Without its straight line: a trend is alike at every lag.
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (int64_t i = 0; i < count; ++i)
    if (const double value = values[size_t(i)]; !std::isnan(value)) {
      n += 1, x += double(i), y += value, xx += double(i) * double(i), xy += double(i) * value;
    }
  if (n < 6) return 1;
  const double slope = (n * xy - x * y) / std::max(1e-300, n * xx - x * x);
  const double start = (y - slope * x) / n;
  std::vector<double> rest(values.size(), 0);
  double power = 0;
  for (int64_t i = 0; i < count; ++i)
    if (const double value = values[size_t(i)]; !std::isnan(value)) {
      rest[size_t(i)] = value - start - slope * double(i);
      power += rest[size_t(i)] * rest[size_t(i)];
    }
  if (!(power > 0)) return 1;
  std::vector<double> correlation(2 * size_t(longest) + 2, 0);
  for (int64_t lag = 1; lag <= 2 * longest + 1; ++lag) {
    double sum = 0;
    for (int64_t i = lag; i < count; ++i) sum += rest[size_t(i)] * rest[size_t(i - lag)];
    correlation[size_t(lag)] = sum / power * double(count) / double(count - lag);
  }
  int64_t best = 1;
  double height = std::max(kClearPeak, 3 / std::sqrt(n));
  for (int64_t lag = 2; lag <= longest; ++lag) {
    const double here = correlation[size_t(lag)];
    const bool peak = here > correlation[size_t(lag - 1)] && here >= correlation[size_t(lag + 1)];
    if (!peak) continue;
    // What wanders comes back by chance, but not twice.
    const auto again = correlation.begin() + 2 * lag;
    const double second = *std::max_element(
        again - lag / 20 - 1, again + std::min<int64_t>(lag / 20 + 2, correlation.end() - again));
    if (second < here / 2) continue;
    // A multiple of a season repeats as well as the season itself: only what is clearly higher
    // wins.
    if (here > height * (best > 1 ? 1.05 : 1)) best = lag, height = here;
  }
  return best;
}

std::vector<std::string> calendar_cycles(const StepInterval& interval, int64_t steps) {
  const double days = interval.days(), covered = days * double(steps);
  std::vector<std::string> cycles;
  if (days <= 0) return cycles;
  if (days < 0.75 && covered >= 2) cycles.push_back("hour");
  if (days < 1.5 && covered >= 14) cycles.push_back("weekday");
  if (days < 1.5 && covered >= 62) cycles.push_back("day");
  if (days < 100 && covered >= 730) cycles.push_back("month");
  return cycles;
}

bool is_calendar_cycle(const std::string& name) {
  return name == "hour" || name == "weekday" || name == "day" || name == "month";
}

std::vector<float> calendar_features(const std::vector<std::string>& cycles, double days) {
  std::vector<float> features;
  const double day = std::floor(days);
  const year_month_day date = date_of(days);
  for (const std::string& cycle : cycles) {
    double share = days - day;  // hour
    if (cycle == "weekday")
      share = std::fmod(std::fmod(day + 3, 7) + 7, 7) / 7;  // 1970-01-01 was a Thursday
    if (cycle == "day") share = (double(unsigned(date.day())) - 1) / 31;
    if (cycle == "month")
      share = (double(unsigned(date.month())) - 1 + (double(unsigned(date.day())) - 1) / 31) / 12;
    const double angle = 2 * std::numbers::pi * share;
    features.push_back(float(std::sin(angle)));
    features.push_back(float(std::cos(angle)));
  }
  return features;
}

}  // namespace fovea

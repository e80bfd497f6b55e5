// When steps are: how far apart, which are missing, what the calendar says of each, and after how
// many steps a series comes around again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/formats/date_format.h"

namespace fovea {

/// Times of steps as numbers that ascend. Dates, and seconds or milliseconds since 1970, are days
/// since 1970-01-01; other numbers stay what they are and have no calendar.
struct StepTimes {
  std::vector<double> values;  // empty: the texts cannot be read
  bool dates = false;
};
StepTimes parse_step_times(std::span<const std::string> labels);

/// How to read labels that are dates as people write them (31.01.2011, 1/31/2011, Jan 2011,
/// 20110131); nothing where parse_step_times() can, or nobody. Where day and month could be either,
/// the reading that is equally spaced wins.
std::optional<DateFormat> find_date_format(std::span<const std::string> labels);

/// The text of a time, in the form of `like`, another time of the same column.
std::string format_step_time(double time, bool dates, const std::string& like);

/// From one step to the next.
struct StepInterval {
  double length = 0;   // in days, or in the unit of times that are no dates; 0: not known
  int64_t months = 0;  // above 0: so many calendar months instead, which differ in length
  bool dates = false;

  bool known() const { return length > 0 || months > 0; }
  /// How many steps lie between two times; nothing when it is no whole number of them.
  std::optional<int64_t> steps_between(double from, double to) const;
  double after(double time, int64_t steps) const;
  double days() const;       // 0 where it is not known in days
  std::string text() const;  // "15 minutes", "1 hour", "1 month"
};

/// The interval that most neighbours keep, in any of the `blocks` of ascending times; unknown
/// unless all distances are whole numbers of it.
StepInterval find_interval(std::span<const std::vector<double>> blocks, bool dates);

/// Steps after which the calendar comes around: a day for hours, a week for days, a year for weeks
/// and months. 1 where the interval says nothing.
int64_t calendar_season(const StepInterval& interval);

/// The lag above 1 at which the values repeat themselves best: the highest peak of their
/// autocorrelation, where it is clear. 1: there is none. NaN where a value is missing.
int64_t find_season(std::span<const double> values);

/// Cycles of the calendar, each as sine and cosine: "hour", "weekday", "day" of the month, "month".
/// Those that the interval can tell apart and `steps` steps hold at least twice.
std::vector<std::string> calendar_cycles(const StepInterval& interval, int64_t steps);
bool is_calendar_cycle(const std::string& name);
/// The two numbers of each cycle at that time: [2 cycles].
std::vector<float> calendar_features(const std::vector<std::string>& cycles, double days);

}  // namespace fovea

// Dates and times as people write them: 2011-01-31, 2011-01-31 05:00:00, 2011-01-31T05:00:00Z,
// 20110131, 01/31/2011, 31.01.2011, 31 Jan 2011, January 31, 2011, Jan-2011, 5:30 pm. Whether the
// day or the month comes first is decided for a whole column, by its cells where they tell.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fovea/base/json_field.h"

namespace fovea {

/// A point in time as it was written; time zones are not applied.
struct WrittenTime {
  int64_t days = 0;    // since 1970-01-01; 0 where only a time is written
  double seconds = 0;  // since midnight
  bool has_date = false, has_time = false;
  double in_days() const { return double(days) + seconds / 86400; }
};

class DateFormat {
 public:
  /// The format in which every cell that is not missing is a date, or every one a time; none where
  /// there is none.
  static std::optional<DateFormat> infer(std::span<const std::string_view> trimmed_cells);

  Json to_json() const;
  static DateFormat from_json(const Field& field);

  std::optional<WrittenTime> parse(std::string_view trimmed) const;
  /// Whether it is a date or a time in some format.
  static bool is_date(std::string_view trimmed);
  bool has_date() const { return has_date_; }
  bool has_time() const { return has_time_; }
  /// Whether day and month could have been the other way round.
  bool is_guess() const { return guess_; }
  bool day_first() const { return day_first_; }
  /// "2011-01-31", "2011-01-31 05:00:00" or "05:00:00".
  std::string format(double in_days) const;

 private:
  bool day_first_ = true;  // 01.02.2003 is in February
  bool has_date_ = true, has_time_ = false, guess_ = false;
};

/// What calendars say of a time in days since 1970-01-01.
struct CalendarParts {
  double year = 0, month = 0, weekday = 0, hour = 0;  // month 1 … 12, Monday is 0, hour 0 … 24
};
CalendarParts calendar_parts(double in_days);

}  // namespace fovea

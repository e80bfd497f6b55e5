#include "fovea/data/formats/date_format.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

namespace {

constexpr std::array kMonthNames = {"jan", "feb", "mar", "apr", "may", "jun",
                                    "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array kWeekdayNames = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::array kLongMonths = {"january",   "february", "march",    "april",
                                    "may",       "june",     "july",     "august",
                                    "september", "october",  "november", "december"};

/// A run of digits or of letters.
struct DateToken {
  bool digits = false;
  std::string text;  // letters in lower case
  size_t begin = 0;
  char before = 0;  // the character before it, or 0
  int64_t number() const { return digits ? std::stoll(text) : -1; }
};

/// Empty for what no date has.
std::vector<DateToken> date_tokens(std::string_view text) {
  std::vector<DateToken> tokens;
  for (size_t at = 0; at < text.size();) {
    const auto is_digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
    const auto is_letter = [&](size_t i) {
      return (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    };
    const bool digits = is_digit(at);
    if (!digits && !is_letter(at)) {
      if (std::string_view(" -/.,:+").find(text[at]) == std::string_view::npos) return {};
      ++at;
      continue;
    }
    DateToken token{digits, "", at, at > 0 ? text[at - 1] : char(0)};
    for (; at < text.size() && (digits ? is_digit(at) : is_letter(at)); ++at)
      token.text += char(digits ? text[at] : text[at] | 0x20);
    if (token.text.size() > 9) return {};
    tokens.push_back(token);
  }
  return tokens;
}

/// 1 … 12 for the name of a month, else 0.
int month_named(const std::string& word) {
  for (size_t i = 0; i < kMonthNames.size(); ++i)
    if (word == kMonthNames[i] || word == kLongMonths[i] || (i == 8 && word == "sept"))
      return int(i) + 1;
  return 0;
}

bool is_weekday_name(const std::string& word) {
  return word.size() >= 3 && word.ends_with("day")
             ? std::any_of(kWeekdayNames.begin(), kWeekdayNames.end(),
                           [&](const char* name) { return word.starts_with(name); })
             : std::find(kWeekdayNames.begin(), kWeekdayNames.end(), word) != kWeekdayNames.end();
}

/// Takes "05:00:00.25 pm" or "T050000" out of the tokens. False for a time that cannot be.
bool take_time(std::vector<DateToken>& tokens, WrittenTime& time) {
  size_t at = 0;
  while (at < tokens.size() && !(tokens[at].digits && at + 1 < tokens.size() &&
                                 tokens[at + 1].digits && tokens[at + 1].before == ':'))
    ++at;
  std::array<double, 3> parts{};
  size_t end = at;
  if (at < tokens.size()) {
    while (end < tokens.size() && end - at < 3 && tokens[end].digits &&
           (end == at || tokens[end].before == ':')) {
      if (tokens[end].text.size() > 2) return false;
      parts[end - at] = double(tokens[end].number());
      ++end;
    }
    if (end < tokens.size() && end - at == 3 && tokens[end].digits && tokens[end].before == '.') {
      parts[2] += std::stod("0." + tokens[end].text);
      ++end;
    }
  } else if (tokens.size() == 3 && tokens[0].digits && tokens[0].text.size() == 8 &&
             tokens[1].text == "t" && tokens[2].digits &&
             (tokens[2].text.size() == 6 || tokens[2].text.size() == 4)) {
    at = 1, end = 3;
    for (size_t i = 0; i + 1 < tokens[2].text.size(); i += 2)
      parts[i / 2] = double(std::stoi(tokens[2].text.substr(i, 2)));
  } else {
    return true;
  }
  if (at > 0 && tokens[at - 1].text == "t") --at;
  if (end < tokens.size() && (tokens[end].text == "am" || tokens[end].text == "pm")) {
    if (parts[0] < 1 || parts[0] > 12) return false;
    parts[0] = std::fmod(parts[0], 12) + (tokens[end].text == "pm" ? 12 : 0);
    ++end;
  }
  if (end < tokens.size() &&
      (tokens[end].text == "z" || tokens[end].text == "utc" || tokens[end].text == "gmt"))
    ++end;
  if (end < tokens.size() && tokens[end].digits &&  // +01:00, -0500
      (tokens[end].before == '+' || tokens[end].before == '-')) {
    ++end;
    if (end < tokens.size() && tokens[end].before == ':') ++end;
  }
  if (parts[0] > 24 || parts[1] > 59 || parts[2] >= 61) return false;
  time.seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
  time.has_time = true;
  tokens.erase(tokens.begin() + int64_t(at), tokens.begin() + int64_t(end));
  return true;
}

bool set_date(WrittenTime& time, int64_t year, int64_t month, int64_t day) {
  if (year < 100) year += year < 69 ? 2000 : 1900;
  if (year < 1000 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  const std::chrono::year_month_day date{std::chrono::year(int(year)),
                                         std::chrono::month(unsigned(month)),
                                         std::chrono::day(unsigned(day))};
  if (!date.ok()) return false;
  time.days = std::chrono::sys_days(date).time_since_epoch().count();
  return time.has_date = true;
}

/// What is left when the time is taken out.
bool read_date(std::vector<DateToken> tokens, bool day_first, WrittenTime& time) {
  std::erase_if(tokens, [](const DateToken& token) {
    return !token.digits && (is_weekday_name(token.text) || token.text == "of");
  });
  if (tokens.empty()) return time.has_time;
  int month = 0;
  std::vector<DateToken> numbers;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const DateToken& token = tokens[i];
    if (token.digits) {
      numbers.push_back(token);
      continue;
    }
    const bool ordinal =
        i > 0 && tokens[i - 1].digits &&
        (token.text == "st" || token.text == "nd" || token.text == "rd" || token.text == "th");
    if (ordinal) continue;
    if (month != 0 || month_named(token.text) == 0) return false;
    month = month_named(token.text);
  }
  const auto is_year = [](const DateToken& token) { return token.text.size() == 4; };
  const auto short_number = [](const DateToken& token) { return token.text.size() <= 2; };
  const auto short_year = [](const DateToken& token) { return token.text.size() == 2; };
  if (month != 0 && numbers.size() == 1)  // Jan-2011
    return is_year(numbers[0]) && set_date(time, numbers[0].number(), month, 1);
  if (month != 0 && numbers.size() == 2) {
    const bool year_first = is_year(numbers[0]);
    const DateToken &year = numbers[year_first ? 0 : 1], &day = numbers[year_first ? 1 : 0];
    return short_number(day) && (is_year(year) || short_year(year)) &&
           set_date(time, year.number(), month, day.number());
  }
  if (month != 0) return false;
  if (numbers.size() == 1 && numbers[0].text.size() == 8) {
    const int64_t number = numbers[0].number();
    return set_date(time, number / 10000, number / 100 % 100, number % 100);
  }
  if (numbers.size() == 2)  // 2011-01
    return is_year(numbers[0]) && short_number(numbers[1]) && numbers[1].before != '.' &&
           set_date(time, numbers[0].number(), numbers[1].number(), 1);
  if (numbers.size() != 3 || !short_number(numbers[1])) return false;
  if (is_year(numbers[0]))
    return short_number(numbers[2]) &&
           set_date(time, numbers[0].number(), numbers[1].number(), numbers[2].number());
  if (!short_number(numbers[0]) || (!is_year(numbers[2]) && !short_year(numbers[2]))) return false;
  const DateToken &day = numbers[day_first ? 0 : 1], &other = numbers[day_first ? 1 : 0];
  return set_date(time, numbers[2].number(), other.number(), day.number());
}

std::optional<WrittenTime> parse_written_time(std::string_view text, bool day_first) {
  constexpr size_t kLongest = 48;
  if (text.size() < 4 || text.size() > kLongest) return {};
  std::vector<DateToken> tokens = date_tokens(text);
  WrittenTime time;
  if (tokens.empty() || !take_time(tokens, time) || !read_date(std::move(tokens), day_first, time))
    return {};
  return time;
}

}  // namespace

std::optional<DateFormat> DateFormat::infer(std::span<const std::string_view> trimmed_cells) {
  bool day_first = true, month_first = true, any = false, differ = false;
  char separator = 0;
  DateFormat format;
  for (const std::string_view cell : trimmed_cells) {
    if (is_missing_number(cell)) continue;
    const std::optional<WrittenTime> days = parse_written_time(cell, true),
                                     months = parse_written_time(cell, false);
    day_first &= days.has_value();
    month_first &= months.has_value();
    if (!day_first && !month_first) return {};
    const WrittenTime& time = days ? *days : *months;
    if (any && time.has_date != format.has_date_) return {};
    format.has_date_ = time.has_date;
    format.has_time_ |= time.has_time;
    if (days && months && days->days != months->days) {
      differ = true;
      separator = cell[std::min(cell.find_first_of("./- "), cell.size() - 1)];
    }
    any = true;
  }
  if (!any) return {};
  format.guess_ = differ && day_first && month_first;
  format.day_first_ = format.guess_ ? separator != '/' : day_first;
  return format;
}

std::optional<WrittenTime> DateFormat::parse(std::string_view trimmed) const {
  const std::optional<WrittenTime> time = parse_written_time(trimmed, day_first_);
  if (!time || time->has_date != has_date_) return {};
  return time;
}

bool DateFormat::is_date(std::string_view trimmed) {
  return parse_written_time(trimmed, true) || parse_written_time(trimmed, false);
}

std::string DateFormat::format(double in_days) const {
  const double whole = has_time_ ? std::floor(in_days + 0.5 / 86400) : std::round(in_days);
  const auto seconds = int64_t(std::clamp(std::round((in_days - whole) * 86400), 0.0, 86399.0));
  char date[32] = "", time[32] = "";
  if (has_date_) {
    const std::chrono::year_month_day day{
        std::chrono::sys_days(std::chrono::days(int64_t(std::clamp(whole, -3e5, 2.9e6))))};
    std::snprintf(date, sizeof date, "%04d-%02u-%02u", int(day.year()), unsigned(day.month()),
                  unsigned(day.day()));
  }
  if (has_time_ || !has_date_)
    std::snprintf(time, sizeof time, "%02d:%02d:%02d", int(seconds / 3600), int(seconds / 60 % 60),
                  int(seconds % 60));
  return concat(date, date[0] != 0 && time[0] != 0 ? " " : "", time);
}

Json DateFormat::to_json() const {
  return {{"day_first", day_first_}, {"has_date", has_date_}, {"has_time", has_time_}};
}

DateFormat DateFormat::from_json(const Field& field) {
  DateFormat format;
  format.day_first_ = field.at("day_first").mark();
  format.has_date_ = field.at("has_date").mark();
  format.has_time_ = field.at("has_time").mark();
  return format;
}

CalendarParts calendar_parts(double in_days) {
  const double whole = std::floor(in_days);
  const std::chrono::sys_days day{std::chrono::days(int64_t(std::clamp(whole, -3e5, 2.9e6)))};
  const std::chrono::year_month_day date{day};
  return {double(int(date.year())), double(unsigned(date.month())),
          double(std::chrono::weekday(day).iso_encoding() - 1), (in_days - whole) * 24};
}

}  // namespace fovea

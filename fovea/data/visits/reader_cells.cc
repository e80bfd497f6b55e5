// What a cell of a file of visits says: a time, codes.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/data/visits/reader.h"

namespace fovea {

namespace {

/// Year, month, day, hour, minute, second; nothing where the text has another form.
std::optional<std::array<int, 6>> parse_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddsdd:dd:dd";  // d a digit, s a blank or T
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) return {};
  std::array<int, 6> parts{};
  for (size_t i = 0, part = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd'   ? !is_digit
        : kForm[i] == 's' ? text[i] != ' ' && text[i] != 'T'
                          : text[i] != kForm[i])
      return {};
    if (is_digit)
      parts[part] = 10 * parts[part] + (text[i] - '0');
    else
      ++part;
  }
  return parts;
}

}  // namespace

std::optional<double> parse_visit_time(std::string_view text) {
  text = trim(text);
  double number = 0;
  if (parse_number(text, number))
    return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
  const auto parts = parse_date(text);
  if (!parts) return {};
  const auto [year, month, day, hour, minute, second] = *parts;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(unsigned(month)),
                                         std::chrono::day(unsigned(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  const double days = double(std::chrono::sys_days(date).time_since_epoch().count());
  return days + (hour * 3600 + minute * 60 + second) / 86400.0;
}

std::vector<std::string> distinct_codes(const std::vector<std::string>& codes) {
  std::unordered_set<std::string> seen;
  std::vector<std::string> distinct;
  for (const std::string& code : codes)
    if (std::string name(trim(code)); !name.empty() && seen.insert(name).second)
      distinct.push_back(std::move(name));
  return distinct;
}

std::vector<std::string> parse_codes(std::string_view cell, const std::string& separator) {
  require(separator.size() == 1, ErrorKind::InvalidArgument, "data.separator is '", separator,
          "'; expected one character");
  std::string text(cell);
  if (separator == " ")
    for (const char blank : {'\t', '\r', '\n'}) std::replace(text.begin(), text.end(), blank, ' ');
  return distinct_codes(split(text, separator[0]));
}

}  // namespace fovea

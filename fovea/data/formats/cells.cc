#include "fovea/data/formats/cells.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <chrono>
#include <cmath>

#include "fovea/base/error.h"

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

std::string_view trim_cell(std::string_view cell) {
  const auto dark = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  return cell.empty() || (dark(cell.front()) && dark(cell.back())) ? cell : trim(cell);
}

bool is_missing(std::string_view trimmed) {
  switch (trimmed.size()) {
    case 0:
      return true;
    case 1:
      return trimmed == "?";
    case 2:
      return trimmed == "NA";
    case 3:
      return trimmed == "N/A" || trimmed == "n/a" || trimmed == "NaN" || trimmed == "nan" ||
             trimmed == "NaT";
    case 4:
      return trimmed == "null" || trimmed == "NULL" || trimmed == "None" || trimmed == "#N/A" ||
             trimmed == "<NA>";
    default:
      return false;
  }
}

bool parse_cell(std::string_view trimmed, double& value) {
  const char* begin = trimmed.data();
  const char* end = begin + trimmed.size();
  if (trimmed.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end && begin != end && std::abs(value) <= FLT_MAX;
}

std::optional<double> parse_time(std::string_view text) {
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

double time_in_cell(std::string_view cell, const std::string& place) {
  const std::optional<double> time = parse_time(cell);
  require(time.has_value(), ErrorKind::BadData, place, ": the time '", cell,
          "' is neither a number nor a date such as 2014-05-03 or 2014-05-03 17:20:05");
  return *time;
}

void sort_naturally(std::vector<std::string>& texts) {
  const auto number = [](const std::string& text) {
    double value = 0;
    return parse_cell(text, value) ? value : NAN;
  };
  const bool numeric = std::none_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return std::isnan(number(text));
  });
  std::sort(texts.begin(), texts.end(), [&](const std::string& a, const std::string& b) {
    if (!numeric) return a < b;
    const double left = number(a), right = number(b);
    return left != right ? left < right : a < b;
  });
}

namespace {

constexpr std::array kCurrencies = {"$",   "€",   "£",   "¥",   "₹",   "₩",   "₽", "₺",
                                    "₪",   "฿",   "₫",   "US$", "A$",  "C$",  "R$",  "CHF",
                                    "USD", "EUR", "GBP", "JPY", "CNY", "INR", "RUB", "BRL",
                                    "AUD", "CAD", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF",
                                    "TRY", "ZAR", "kr",  "zł",  "Kč",  "Fr.", "Rs",  "Rs."};

bool is_digit_character(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/// Blanks, apostrophes and minus signs of Unicode as those of ASCII.
std::string with_plain_signs(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 6> kSigns{{{"\xC2\xA0", ' '},
                                                                            {"\xE2\x80\xAF", ' '},
                                                                            {"\xE2\x80\x89", ' '},
                                                                            {"\xE2\x80\x99", '\''},
                                                                            {"\xE2\x88\x92", '-'},
                                                                            {"\xE2\x80\x93", '-'}}};
  std::string plain;
  while (!text.empty()) {
    const auto sign = std::find_if(kSigns.begin(), kSigns.end(),
                                   [&](const auto& one) { return text.starts_with(one.first); });
    plain += sign == kSigns.end() ? text.front() : sign->second;
    text.remove_prefix(sign == kSigns.end() ? 1 : sign->first.size());
  }
  return plain;
}

/// A cell in its parts: "-$ 1,200" is negative, "$" and "1,200".
struct WrittenNumber {
  bool negative = false;
  std::string unit;
  std::string digits;   // with separators and exponent
  bool letter = false;  // a single one at its end: 1.75m, but also 3A
};

bool is_currency(const std::string& text) {
  return std::find(kCurrencies.begin(), kCurrencies.end(), text) != kCurrencies.end();
}

/// ½ … ⅞ and raised digits, which change the number that they stand behind.
bool begins_with_numeral(std::string_view text) {
  for (const char* sign : {"¼", "½", "¾", "¹", "²", "³"})
    if (text.starts_with(sign)) return true;
  return text.starts_with("\xE2\x85") || text.starts_with("\xE2\x81");
}

/// "%", a currency, or a word behind the number.
bool is_unit(const std::string& before, const std::string& after) {
  if (before.empty() && after.empty()) return true;
  if (!before.empty()) return after.empty() && is_currency(before);
  if (after == "%" || is_currency(after)) return true;
  return !begins_with_numeral(after) && std::all_of(after.begin(), after.end(), [](char c) {
    return is_letter_byte(c) || c == '/';
  });
}

std::optional<WrittenNumber> take_apart(std::string_view cell) {
  std::string text = with_plain_signs(cell);
  WrittenNumber written;
  if (text.size() > 2 && text.front() == '(' && text.back() == ')') {
    written.negative = true;
    text = text.substr(1, text.size() - 2);
  }
  size_t begin = 0, end = text.size();
  while (begin < end && !is_digit_character(text[begin])) ++begin;
  while (end > begin && !is_digit_character(text[end - 1])) --end;
  if (begin == end) return {};
  if (begin > 0 && (text[begin - 1] == '.' || text[begin - 1] == ',')) --begin;  // ".5"
  std::string before = text.substr(0, begin);
  std::string behind = text.substr(end);
  if (behind == ".") behind.clear();  // "5."
  for (const char sign : {'-', '+'})
    if (const size_t at = before.find(sign); at != std::string::npos) {
      if (sign == '-' && written.negative) return {};
      written.negative |= sign == '-';
      before.erase(at, 1);
    }
  const std::string after(trim(behind));
  before = std::string(trim(before));
  if (!is_unit(before, after)) return {};
  written.unit = before.empty() ? after : before;
  written.letter = written.unit.size() == 1 && written.unit == behind && is_letter_byte(behind[0]);
  written.digits = text.substr(begin, end - begin);
  return written;
}

/// The digits with thousands in groups of three (or, as in India, of two before the last three),
/// without the group signs; "" where they do not fit.
std::string without_groups(std::string_view whole, char group) {
  std::string digits;
  if (group == 0 || whole.find(group) == std::string_view::npos) {
    digits = whole;
  } else {
    const std::vector<std::string> groups = split(whole, group);
    if (groups.front().empty() || groups.front().size() > 3 || groups.back().size() != 3) return "";
    for (size_t i = 0; i < groups.size(); ++i) {
      const bool middle = i > 0 && i + 1 < groups.size();
      if (middle && groups[i].size() != 3 && !(group == ',' && groups[i].size() == 2)) return "";
      digits += groups[i];
    }
  }
  return std::all_of(digits.begin(), digits.end(), is_digit_character) ? digits : "";
}

/// "1.234.567,8e3" in a format as a number.
bool parse_digits(std::string_view text, char decimal, char group, double& value) {
  const size_t exponent = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, exponent);
  const size_t point = std::min(mantissa.find(decimal), mantissa.size());
  const std::string_view whole = mantissa.substr(0, point);
  const std::string_view rest = mantissa.substr(std::min(point + 1, mantissa.size()));
  if (!std::all_of(rest.begin(), rest.end(), is_digit_character)) return false;
  const std::string digits = without_groups(whole, group);
  if (digits.empty() && (!whole.empty() || rest.empty())) return false;
  return parse_cell(
      concat(digits.empty() ? "0" : digits, ".", rest.empty() ? "0" : rest, text.substr(exponent)),
      value);
}

/// 1234 without a group sign, or 0,123: not how someone writes who separates thousands by commas.
bool speaks_against_groups(const WrittenNumber& written, char group) {
  const std::string_view digits = written.digits;
  const size_t at = digits.find(group);
  if (at == std::string_view::npos) {
    size_t whole = 0;
    while (whole < digits.size() && is_digit_character(digits[whole])) ++whole;
    return whole > 3;
  }
  return digits.front() == '0';
}

}  // namespace

bool is_missing_number(std::string_view trimmed) {
  if (is_missing(trimmed)) return true;
  if (trimmed.starts_with('#'))  // a formula of a spreadsheet that failed
    for (const char* mark : {"#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"})
      if (trimmed == mark) return true;
  if (trimmed.size() > 5) return false;
  for (const char* mark : {"-", "--", "–", "—", ".", "na", "Na", "n.a.", "N.A.", "n.a", "none"})
    if (trimmed == mark) return true;
  return false;
}

std::optional<NumberFormat> NumberFormat::infer(std::span<const std::string_view> trimmed_cells,
                                                char delimiter) {
  static constexpr std::array<std::pair<char, char>, 6> kForms{
      {{'.', ','}, {',', '.'}, {'.', ' '}, {',', ' '}, {'.', '\''}, {',', '\''}}};
  std::array<bool, kForms.size()> fits;
  fits.fill(true);
  bool any = false, bare = false, commas = false, against_groups = false;
  bool letters = false, fractions = false;
  NumberFormat format;
  for (const std::string_view cell : trimmed_cells) {
    if (is_missing_number(cell)) continue;
    const std::optional<WrittenNumber> written = take_apart(cell);
    if (!written) return {};
    double value = 0;
    bool one = false;
    for (size_t i = 0; i < kForms.size(); ++i) {
      fits[i] = fits[i] && parse_digits(written->digits, kForms[i].first, kForms[i].second, value);
      one |= fits[i];
    }
    const bool other_unit =
        !written->unit.empty() && !format.unit_.empty() && format.unit_ != written->unit;
    if (!one || other_unit) return {};
    if (!written->unit.empty()) format.unit_ = written->unit;
    any = true;
    bare |= written->unit.empty() && value != 0;
    commas |= written->digits.find(',') != std::string::npos;
    against_groups |= speaks_against_groups(*written, ',');
    letters |= written->letter;
    fractions |= value != std::floor(value);
  }
  // A letter behind whole numbers is more likely part of a code.
  if (letters && !fractions) return {};
  // Of money some cells may lack the sign; what only some cells have is otherwise no unit.
  if (!any || (bare && !format.unit_.empty() && !is_currency(format.unit_))) return {};
  size_t chosen = size_t(std::find(fits.begin(), fits.end(), true) - fits.begin());
  if (commas && fits[0] && fits[1]) {  // every comma has three digits behind it
    format.guess_ = !against_groups;
    chosen = against_groups || delimiter == ';' ? 1 : 0;
  }
  format.decimal_ = kForms[chosen].first;
  format.group_ = kForms[chosen].second;
  return format;
}

std::optional<NumberFormat> NumberFormat::infer_thousands(
    std::span<const std::string_view> trimmed_cells) {
  NumberFormat format;
  format.decimal_ = ',';
  format.group_ = '.';
  bool any = false;
  for (const std::string_view cell : trimmed_cells) {
    if (is_missing_number(cell)) continue;
    double value = 0;
    const bool grouped = cell.find('.') != std::string_view::npos;
    if (!format.parse(cell, value) || (grouped && cell.find_first_of("123456789") > cell.find('.')))
      return {};
    any |= grouped;
  }
  if (!any) return {};
  return format;
}

bool NumberFormat::parse(std::string_view trimmed, double& value) const {
  if (is_plain()) return parse_cell(trimmed, value);
  const std::optional<WrittenNumber> written = take_apart(trimmed);
  if (!written || (!written->unit.empty() && written->unit != unit_)) return false;
  if (!parse_digits(written->digits, decimal_, group_, value)) return false;
  if (written->negative) value = -value;
  return std::abs(value) <= FLT_MAX;
}

std::string NumberFormat::written(std::string plain_number) const {
  std::replace(plain_number.begin(), plain_number.end(), '.', decimal_);
  return plain_number;
}

std::string NumberFormat::sentence(std::string_view example) const {
  double value = 0;
  parse(example, value);
  return concat("'", example, "' is read as ", format_exact(value));
}

Json NumberFormat::to_json() const {
  return {{"decimal", std::string(1, decimal_)},
          {"group", group_ == 0 ? std::string() : std::string(1, group_)},
          {"unit", unit_}};
}

NumberFormat NumberFormat::from_json(const Field& field) {
  NumberFormat format;
  const std::string decimal = field.at("decimal").text(), group = field.at("group").text();
  field.at("decimal").expect(decimal == "." || decimal == ",", "a point or a comma");
  field.at("group").expect(group.empty() || (group.size() == 1 && group != decimal &&
                                             std::string(",.' ").find(group) != std::string::npos),
                           "one of , . ' and blank, or nothing");
  format.decimal_ = decimal[0];
  format.group_ = group.empty() ? char(0) : group[0];
  format.unit_ = field.at("unit").text();
  return format;
}

}  // namespace fovea

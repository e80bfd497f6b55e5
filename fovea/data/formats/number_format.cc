#include "fovea/data/formats/number_format.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

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
  std::string digits;  // with separators and exponent
};

bool is_currency(const std::string& text) {
  return std::find(kCurrencies.begin(), kCurrencies.end(), text) != kCurrencies.end();
}

/// "%", a currency, or a word of two letters at least behind the number. A single letter is more
/// likely part of a code: "3A".
bool is_unit(const std::string& before, const std::string& after, bool apart) {
  if (before.empty() && after.empty()) return true;
  if (!before.empty()) return after.empty() && is_currency(before);
  if (after == "%" || is_currency(after)) return true;
  const bool word =
      std::all_of(after.begin(), after.end(), [](char c) { return is_letter_byte(c) || c == '/'; });
  return word && (apart || after.size() > 1);
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
  if (!is_unit(before, after, behind.starts_with(' '))) return {};
  written.unit = before.empty() ? after : before;
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
  }
  // Of money some cells may lack the sign; what only some cells have is otherwise no unit.
  if (!any || (bare && !format.unit_.empty() && !is_currency(format.unit_))) return {};
  size_t chosen = size_t(std::find(fits.begin(), fits.end(), true) - fits.begin());
  if (commas && fits[0] && fits[1]) {  // every comma has three digits behind it
    format.guess_ = true;
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

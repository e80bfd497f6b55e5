// Templates of written dates. A pattern with the letters of Unicode's date formats (UTS #35),
// "EEEE, d. MMMM y", is compiled into fields: a literal, a number, or a word out of a list. Writing
// a day and reading a text go through the same fields, so the bytes of each part are known exactly
// and a text is only read as a day for which that very text can be written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/pairs/synthetic_dates.h"

namespace fovea {

using Words = std::vector<std::string>;

/// Lists of words, each kept once and known by its number, so that fields compare by numbers.
class WordLists {
 public:
  int32_t add(const Words& words);
  const Words& operator[](int32_t number) const { return *lists_[size_t(number)]; }

 private:
  std::map<Words, int32_t> numbers_;
  std::vector<const Words*> lists_;  // a map's keys never move
};

enum class FieldKind {
  Literal,
  Year,          // all digits of it
  TwoDigitYear,  // its last two
  Month,
  Day,
  MonthName,
  DayName,      // "3rd", "third"
  Article,      // a word before the day that depends on it: "il 3", "l'8"
  WeekdayName,  // from Sunday on
};

struct DateField {
  FieldKind kind = FieldKind::Literal;
  int32_t least_digits = 0;  // of a number; filled up with zeros
  int32_t words = 0;         // list of one literal, ten digits, or the names
  auto operator<=>(const DateField&) const = default;
};

using DateTemplate = std::vector<DateField>;

/// What the letters of a pattern stand for in one locale; weekdays from Sunday on. The last three
/// are ours, for spoken forms; where a list is empty, its letter is unknown.
struct DateSymbols {
  Words digits;                                                        // numbers: y M L d
  Words months, short_months, lone_months, short_lone_months;          // MMMM MMM LLLL LLL
  Words weekdays, short_weekdays, lone_weekdays, short_lone_weekdays;  // EEEE EEE cccc ccc
  Words days, other_days;                                              // o oo: days as words
  Words articles;                                                      // t, with its blank
  auto operator<=>(const DateSymbols&) const = default;
};

/// Nothing when the pattern has another letter or length of letters, or does not have year, month
/// and day exactly once each.
std::optional<DateTemplate> compile_pattern(std::string_view pattern, const DateSymbols& symbols,
                                            WordLists& lists);

/// True when only a window of a hundred years tells which century a text of it means.
bool has_two_digit_year(const DateTemplate& fields);

struct WrittenDate {
  struct Span {
    size_t begin = 0, end = 0;  // bytes
  };
  std::string text;
  Span year, month, day;
};

WrittenDate write_date(const DateTemplate& fields, const Day& day, const WordLists& lists);

bool is_day(const Day& day);  // in the Gregorian calendar

/// Which years a text can mean.
struct YearRange {
  int64_t first = 0, last = 0;  // both included
  int64_t two_digit_from = 0;   // 98 is the one year that ends so in this year and the 99 after it
  bool contains(int64_t year) const { return year >= first && year <= last; }
  bool in_window(int64_t year) const {
    return year >= two_digit_from && year < two_digit_from + 100;
  }
};

/// All templates as one tree of fields: templates that begin alike are tried together, so a text is
/// read in microseconds where there are tens of thousands of them.
class TemplateTree {
 public:
  TemplateTree(const std::vector<DateTemplate>& templates, const WordLists& lists);

  struct Match {
    size_t number = 0;  // of the template
    Day day;
    auto operator<=>(const Match&) const = default;
  };
  /// Every template and day for which write_date() gives that text, each once, in order.
  std::vector<Match> match(std::string_view text, const YearRange& years) const;

 private:
  struct Node {
    DateField field;
    std::vector<size_t> children;
    std::optional<size_t> number;  // of the template that ends here
  };
  struct Walk;
  void visit(const Node& parent, size_t position, Walk& walk) const;
  void visit_number(const Node& node, size_t position, Walk& walk) const;
  void visit_word(const Node& node, size_t position, Walk& walk) const;

  const std::vector<DateTemplate>& templates_;
  const WordLists& lists_;
  std::vector<Node> nodes_;  // the root first
};

}  // namespace fovea

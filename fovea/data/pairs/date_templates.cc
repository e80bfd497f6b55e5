#include "fovea/data/pairs/date_templates.h"

#include <algorithm>
#include <chrono>

namespace fovea {

namespace {

std::chrono::year_month_day calendar_day(const Day& day) {
  return std::chrono::year(int(day.year)) / int(day.month) / int(day.day);
}

size_t weekday_of(const Day& day) {
  return std::chrono::weekday(std::chrono::sys_days(calendar_day(day))).c_encoding();
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// What `count` times the same letter stands for; nothing when we do not know it.
std::optional<DateField> letter_field(char letter, size_t count, const DateSymbols& symbols,
                                      WordLists& lists) {
  const auto number = [&](FieldKind kind) {
    return DateField{kind, int32_t(count), lists.add(symbols.digits)};
  };
  const auto name = [&](FieldKind kind, const Words& words) -> std::optional<DateField> {
    if (words.empty()) return std::nullopt;
    return DateField{kind, 0, lists.add(words)};
  };
  switch (letter) {
    case 'y':
      return number(count == 2 ? FieldKind::TwoDigitYear : FieldKind::Year);
    case 'M':
    case 'L': {
      const bool lone = letter == 'L';
      if (count <= 2) return number(FieldKind::Month);
      if (count == 3)
        return name(FieldKind::MonthName, lone ? symbols.short_lone_months : symbols.short_months);
      if (count == 4)
        return name(FieldKind::MonthName, lone ? symbols.lone_months : symbols.months);
      return std::nullopt;  // MMMMM is one letter a month, which several share
    }
    case 'd':
      return count <= 2 ? std::optional(number(FieldKind::Day)) : std::nullopt;
    case 'E':
      if (count <= 3) return name(FieldKind::WeekdayName, symbols.short_weekdays);
      return count == 4 ? name(FieldKind::WeekdayName, symbols.weekdays) : std::nullopt;
    case 'c':
      if (count == 3) return name(FieldKind::WeekdayName, symbols.short_lone_weekdays);
      return count == 4 ? name(FieldKind::WeekdayName, symbols.lone_weekdays) : std::nullopt;
    case 'o':
      if (count == 1) return name(FieldKind::DayName, symbols.days);
      return count == 2 ? name(FieldKind::DayName, symbols.other_days) : std::nullopt;
    case 't':
      return count == 1 ? name(FieldKind::Article, symbols.articles) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool says_each_part_once(const DateTemplate& fields) {
  int years = 0, months = 0, days = 0;
  for (const DateField& field : fields) {
    years += field.kind == FieldKind::Year || field.kind == FieldKind::TwoDigitYear;
    months += field.kind == FieldKind::Month || field.kind == FieldKind::MonthName;
    days += field.kind == FieldKind::Day || field.kind == FieldKind::DayName;
  }
  return years == 1 && months == 1 && days == 1;
}

void append_number(std::string& text, int64_t value, int32_t least_digits, const Words& digits) {
  std::string plain = std::to_string(value);
  if (plain.size() < size_t(least_digits))
    plain.insert(0, size_t(least_digits) - plain.size(), '0');
  for (char digit : plain) text += digits[size_t(digit - '0')];
}

/// The one year of the window that ends in these two digits.
int64_t year_of_two_digits(int64_t value, int64_t from) {
  return from + ((value - from) % 100 + 100) % 100;
}

}  // namespace

int32_t WordLists::add(const Words& words) {
  const auto [entry, is_new] = numbers_.try_emplace(words, int32_t(lists_.size()));
  if (is_new) lists_.push_back(&entry->first);
  return entry->second;
}

std::optional<DateTemplate> compile_pattern(std::string_view pattern, const DateSymbols& symbols,
                                            WordLists& lists) {
  DateTemplate fields;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) fields.push_back({FieldKind::Literal, 0, lists.add({literal})});
    literal.clear();
  };
  bool quoted = false;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '\'') {
      const bool is_doubled = at + 1 < pattern.size() && pattern[at + 1] == '\'';
      if (is_doubled) {
        literal += c;
      } else {
        quoted = !quoted;
      }
      at += is_doubled ? 2 : 1;
    } else if (quoted || !is_letter(c)) {
      literal += c;
      ++at;
    } else {
      const size_t end = std::min(pattern.find_first_not_of(c, at), pattern.size());
      const auto field = letter_field(c, end - at, symbols, lists);
      if (!field) return std::nullopt;
      end_literal();
      fields.push_back(*field);
      at = end;
    }
  }
  end_literal();
  if (!says_each_part_once(fields)) return std::nullopt;
  return fields;
}

bool has_two_digit_year(const DateTemplate& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](const DateField& field) { return field.kind == FieldKind::TwoDigitYear; });
}

WrittenDate write_date(const DateTemplate& fields, const Day& day, const WordLists& lists) {
  WrittenDate written;
  std::string& text = written.text;
  for (const DateField& field : fields) {
    const Words& words = lists[field.words];
    const size_t begin = text.size();
    switch (field.kind) {
      case FieldKind::Literal:
        text += words[0];
        break;
      case FieldKind::Year:
      case FieldKind::TwoDigitYear:
        append_number(text, field.kind == FieldKind::Year ? day.year : day.year % 100,
                      field.least_digits, words);
        written.year = {begin, text.size()};
        break;
      case FieldKind::Month:
        append_number(text, day.month, field.least_digits, words);
        written.month = {begin, text.size()};
        break;
      case FieldKind::MonthName:
        text += words[size_t(day.month - 1)];
        written.month = {begin, text.size()};
        break;
      case FieldKind::Day:
        append_number(text, day.day, field.least_digits, words);
        written.day = {begin, text.size()};
        break;
      case FieldKind::DayName:
        text += words[size_t(day.day - 1)];
        written.day = {begin, text.size()};
        break;
      case FieldKind::Article:
        text += words[size_t(day.day - 1)];
        break;
      case FieldKind::WeekdayName:
        text += words[weekday_of(day)];
        break;
    }
  }
  return written;
}

bool is_day(const Day& day) {
  return day.year >= 1 && day.year <= 9999 && day.month >= 1 && day.month <= 12 && day.day >= 1 &&
         day.day <= 31 && calendar_day(day).ok();
}

/// One text on its way down the tree: what is known of the day, and what was found.
struct TemplateTree::Walk {
  std::string_view text;
  const YearRange& years;
  Day day;
  std::vector<Match> found;
};

TemplateTree::TemplateTree(const std::vector<DateTemplate>& templates, const WordLists& lists)
    : templates_(templates), lists_(lists), nodes_(1) {
  std::map<std::pair<size_t, DateField>, size_t> edges;
  for (size_t number = 0; number < templates.size(); ++number) {
    size_t at = 0;
    for (const DateField& field : templates[number]) {
      const auto [edge, is_new] = edges.try_emplace({at, field}, nodes_.size());
      if (is_new) {
        nodes_[at].children.push_back(nodes_.size());
        nodes_.push_back({field, {}, std::nullopt});
      }
      at = edge->second;
    }
    nodes_[at].number = number;
  }
}

std::vector<TemplateTree::Match> TemplateTree::match(std::string_view text,
                                                     const YearRange& years) const {
  Walk walk{text, years, {}, {}};
  visit(nodes_[0], 0, walk);
  std::sort(walk.found.begin(), walk.found.end());
  walk.found.erase(std::unique(walk.found.begin(), walk.found.end()), walk.found.end());
  return std::move(walk.found);
}

void TemplateTree::visit(const Node& parent, size_t position, Walk& walk) const {
  // Weekdays and articles were passed over as any word of their list: writing the day again shows
  // whether they fit it.
  if (parent.number && position == walk.text.size() && is_day(walk.day) &&
      walk.years.contains(walk.day.year) &&
      write_date(templates_[*parent.number], walk.day, lists_).text == walk.text)
    walk.found.push_back({*parent.number, walk.day});
  for (size_t child : parent.children) {
    const Node& node = nodes_[child];
    switch (node.field.kind) {
      case FieldKind::Year:
      case FieldKind::TwoDigitYear:
      case FieldKind::Month:
      case FieldKind::Day:
        visit_number(node, position, walk);
        break;
      default:
        visit_word(node, position, walk);
    }
  }
}

void TemplateTree::visit_number(const Node& node, size_t position, Walk& walk) const {
  const Words& digits = lists_[node.field.words];
  const FieldKind kind = node.field.kind;
  const int64_t largest = kind == FieldKind::Year           ? walk.years.last
                          : kind == FieldKind::TwoDigitYear ? 99
                          : kind == FieldKind::Month        ? 12
                                                            : 31;
  int64_t& part = kind == FieldKind::Month ? walk.day.month
                  : kind == FieldKind::Day ? walk.day.day
                                           : walk.day.year;
  int64_t value = 0;
  for (int32_t count = 1; position < walk.text.size(); ++count) {
    const auto digit = std::find_if(digits.begin(), digits.end(), [&](const std::string& word) {
      return walk.text.substr(position).starts_with(word);
    });
    if (digit == digits.end()) return;
    value = 10 * value + (digit - digits.begin());
    if (value > largest) return;
    position += digit->size();
    if (count < node.field.least_digits) continue;
    part = kind == FieldKind::TwoDigitYear ? year_of_two_digits(value, walk.years.two_digit_from)
                                           : value;
    visit(node, position, walk);
  }
}

void TemplateTree::visit_word(const Node& node, size_t position, Walk& walk) const {
  const Words& words = lists_[node.field.words];
  const FieldKind kind = node.field.kind;
  const std::string_view rest = walk.text.substr(position);
  for (size_t index = 0; index < words.size(); ++index) {
    const std::string& word = words[index];
    if (!rest.starts_with(word)) continue;
    if (kind == FieldKind::MonthName) {
      walk.day.month = int64_t(index) + 1;
    } else if (kind == FieldKind::DayName) {
      walk.day.day = int64_t(index) + 1;
    } else if (std::find(words.begin(), words.begin() + int64_t(index), word) !=
               words.begin() + int64_t(index)) {
      continue;  // that word was tried already
    }
    visit(node, position + word.size(), walk);
  }
}

}  // namespace fovea

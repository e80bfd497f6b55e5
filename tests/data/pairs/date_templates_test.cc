#include "fovea/data/pairs/date_templates.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace fovea::date_templates_test {
namespace {

const Day kSaturday{2001, 3, 3};

DateSymbols symbols() {
  DateSymbols symbols;
  symbols.digits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  symbols.months = {"January", "February", "March",     "April",   "May",      "June",
                    "July",    "August",   "September", "October", "November", "December"};
  symbols.short_months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  symbols.weekdays = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  for (int day = 1; day <= 31; ++day) symbols.days.push_back("(" + std::to_string(day) + ")");
  symbols.articles.assign(31, "il ");
  symbols.articles[7] = symbols.articles[10] = "l'";
  return symbols;
}

std::string written(const std::string& pattern, const Day& day, const DateSymbols& by = symbols()) {
  WordLists lists;
  const auto fields = compile_pattern(pattern, by, lists);
  return fields ? write_date(*fields, day, lists).text : "none";
}

TEST(DateTemplates, Letters) {
  EXPECT_EQ(written("y M d", kSaturday), "2001 3 3");
  EXPECT_EQ(written("yy/MM/dd", kSaturday), "01/03/03");
  EXPECT_EQ(written("yyyyy-L-d", kSaturday), "02001-3-3");
  EXPECT_EQ(written("EEEE, d MMM y", kSaturday), "Saturday, 3 Mar 2001");
  EXPECT_EQ(written("EEEE, MMMM d, y", {1776, 7, 4}), "Thursday, July 4, 1776");
  EXPECT_EQ(written("to MMMM y", kSaturday), "il (3) March 2001");
  EXPECT_EQ(written("to MMMM y", {2001, 3, 8}), "l'(8) March 2001");
}

TEST(DateTemplates, Quotes) {
  EXPECT_EQ(written("d 'de' MMMM 'd''y' y", kSaturday), "3 de March d'y 2001");
  EXPECT_EQ(written("d''M''y", kSaturday), "3'3'2001");
  EXPECT_EQ(written("y年M月d日", kSaturday), "2001年3月3日");
}

TEST(DateTemplates, WhatIsRefused) {
  EXPECT_EQ(written("G y M d", kSaturday), "none");    // another letter
  EXPECT_EQ(written("y MMMMM d", kSaturday), "none");  // one letter a month
  EXPECT_EQ(written("y M d EEEEEE", kSaturday), "none");
  EXPECT_EQ(written("y M", kSaturday), "none");      // no day
  EXPECT_EQ(written("y M d d", kSaturday), "none");  // two days
  EXPECT_EQ(written("y LLL d", kSaturday), "none");  // no such names here
}

TEST(DateTemplates, SpansAreBytes) {
  DateSymbols arabic = symbols();
  arabic.digits = {"٠", "١", "٢", "٣", "٤", "٥", "٦", "٧", "٨", "٩"};
  arabic.months[2] = "مارس";
  WordLists lists;
  const WrittenDate date =
      write_date(*compile_pattern("EEEE، d MMMM yy", arabic, lists), {2001, 3, 23}, lists);
  EXPECT_EQ(date.text, "Friday، ٢٣ مارس ٠١");
  const auto part = [&](const WrittenDate::Span& span) {
    return date.text.substr(span.begin, span.end - span.begin);
  };
  EXPECT_EQ(part(date.day), "٢٣");
  EXPECT_EQ(part(date.month), "مارس");
  EXPECT_EQ(part(date.year), "٠١");
}

TEST(DateTemplates, EqualListsAreKeptOnce) {
  WordLists lists;
  const auto a = compile_pattern("d/M/y", symbols(), lists),
             b = compile_pattern("d'/'M/y", symbols(), lists),
             c = compile_pattern("d-M/y", symbols(), lists);
  EXPECT_EQ(*a, *b);
  EXPECT_NE(*a, *c);
}

TEST(DateTemplates, DaysOfTheCalendar) {
  EXPECT_TRUE(is_day({2000, 2, 29}));
  EXPECT_FALSE(is_day({1900, 2, 29}));
  EXPECT_FALSE(is_day({2001, 4, 31}));
  EXPECT_FALSE(is_day({2001, 13, 1}));
  EXPECT_FALSE(is_day({2001, 1, 0}));
}

/// Everything that can be written is written, and each text must be read as exactly those days.
TEST(TemplateTree, ReadsWhatIsWrittenAndNothingElse) {
  DateSymbols by = symbols();
  by.short_months[6] = by.short_months[5];  // two months of one name
  by.weekdays[1] = "Sun";                   // the beginning of another
  WordLists lists;
  std::vector<DateTemplate> templates;
  for (const char* pattern :
       {"dMy", "Mdy", "yMd", "d/M/yy", "MM/dd/yy", "M/d/y", "d MMM y", "d MMMM y", "EEEEd MMM y",
        "to MMM y", "o/M/y", "dd.MM.yy", "yy-MM-dd", "EEEE, MM/dd/yy"})
    templates.push_back(*compile_pattern(pattern, by, lists));
  const TemplateTree tree(templates, lists);
  const YearRange years{1990, 2011, 1998};

  std::map<std::string, std::vector<TemplateTree::Match>> expected;
  for (size_t number = 0; number < templates.size(); ++number)
    for (int64_t year = years.first; year <= years.last; ++year)
      for (int64_t month = 1; month <= 12; ++month)
        for (int64_t day = 1; day <= 31; ++day) {
          const Day date{year, month, day};
          if (!is_day(date)) continue;
          if (has_two_digit_year(templates[number]) && !years.in_window(year)) continue;
          expected[write_date(templates[number], date, lists).text].push_back({number, date});
        }
  size_t ambiguous = 0;
  for (const auto& [text, matches] : expected) {
    EXPECT_EQ(tree.match(text, years), matches) << text;
    std::set<Day> days;
    for (const auto& match : matches) days.insert(match.day);
    ambiguous += days.size() > 1;
  }
  EXPECT_GT(ambiguous, 1000u);
}

TEST(TemplateTree, NothingFits) {
  WordLists lists;
  const std::vector<DateTemplate> templates = {*compile_pattern("EEEE d/M/y", symbols(), lists),
                                               *compile_pattern("d/MM/y", symbols(), lists)};
  const TemplateTree tree(templates, lists);
  const YearRange years{1990, 2010, 1950};
  EXPECT_EQ(tree.match("Saturday 3/3/2001", years).size(), 1u);
  for (const char* text : {"", "Sunday 3/3/2001", "Saturday 3/3/20011", "Saturday 03/3/2001",
                           " 3/03/2001", "3/3/2001", "3/03/2001 ", "31/04/2001", "29/02/2001",
                           "3/03/2011", "3/13/2001", "0/03/2001", "3/03/", "3/00/2001"})
    EXPECT_TRUE(tree.match(text, years).empty()) << text;
}

}  // namespace
}  // namespace fovea::date_templates_test

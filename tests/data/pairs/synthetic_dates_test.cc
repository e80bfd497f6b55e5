#include "fovea/data/pairs/synthetic_dates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "tests/support/expect_error.h"

namespace fovea::synthetic_dates_test {
namespace {

using testing::expect_error;
using Locales = std::vector<std::string>;

DatesOptions options(const Locales& locales = {"en"}) {
  DatesOptions options;
  options.locales = locales;
  return options;
}

#ifdef FOVEA_WITH_ICU

/// "1998-05-12 0.71, …", or "" when nothing fits.
std::string read(const DateLanguage& language, const std::string& text) {
  std::vector<std::string> found;
  for (const Reading& reading : language.readings(text))
    found.push_back(reading.probability > 0.999999
                        ? reading.day.iso()
                        : concat(reading.day.iso(), " ", format_number(reading.probability, 2)));
  return join(found);
}

const DateLanguage& english() {
  static const DateLanguage language(options());
  return language;
}

const DateLanguage& all() {
  static const DateLanguage language(options({"all"}));
  return language;
}

TEST(Dates, TextsOfTheEnglishLanguage) {
  for (const auto& [text, day] :
       std::map<std::string, std::string>{{"Wednesday 9 May 2018", "2018-05-09"},
                                          {"WEDNESDAY, 9 MAY 2018", "2018-05-09"},
                                          {"10.11.19", "2019-11-10"},
                                          {"July 4 1776", "1776-07-04"},
                                          {"05/12/98", "1998-05-12"},
                                          {"5/12/98", "1998-05-12"},
                                          {"5 12 98", "1998-12-05"},
                                          {"2001-03-03", "2001-03-03"},
                                          {"the 3rd of March, 2001", "2001-03-03"},
                                          {"3rd of march 2001", "2001-03-03"},
                                          {"March 3rd, 2001", "2001-03-03"},
                                          {"THE THIRD OF MARCH 2001", "2001-03-03"},
                                          {"Sat, Mar 3, 2001", "2001-03-03"},
                                          {"Saturday 9 May 2018", ""},  // it was a Wednesday
                                          {"the 3th of March, 2001", ""},
                                          {"29 February 1900", ""},
                                          {"3 March 1699", ""},
                                          {"2 avril 1999", ""}})
    EXPECT_EQ(read(english(), text), day) << text;
}

TEST(Dates, TextsOfAllLanguages) {
  for (const auto& [text, day] :
       std::map<std::string, std::string>{{"2 avril 1999", "1999-04-02"},
                                          {"mercredi 9 mai 2018", "2018-05-09"},
                                          {"9. mai 2018", "2018-05-09"},
                                          {"le 1er mars 2001", "2001-03-01"},
                                          {"am dritten März 2001", "2001-03-03"},
                                          {"Samstag, der 3. März 2001", "2001-03-03"},
                                          {"el 3 de marzo de 2001", "2001-03-03"},
                                          {"l'8 marzo 2001", "2001-03-08"},
                                          {"il 8 marzo 2001", ""},
                                          {"3 марта 2001 года", "2001-03-03"},
                                          {"2001年3月3日", "2001-03-03"},
                                          {"3 NİSAN 2001 SALI", "2001-04-03"},
                                          {"٣ مارس ٢٠٠١", "2001-03-03"}})
    EXPECT_EQ(read(all(), text), day) << text;
}

TEST(Dates, ALocaleMeansItself) {
  const DateLanguage british(options({"en_GB"}));
  EXPECT_EQ(read(british, "05/12/98"), "1998-12-05");
  EXPECT_EQ(read(british, "10.11.19"), "2019-11-10");
  const DateLanguage both(options({"en_GB", "en"}));
  const std::vector<Reading> readings = both.readings("05/12/98");
  ASSERT_EQ(readings.size(), 2u);
  EXPECT_GT(readings[0].probability, readings[1].probability);
  EXPECT_EQ(readings[0].day.iso(), "1998-12-05");  // Britain pads its short form too
}

TEST(Dates, LinksHoldTheRightBytes) {
  const auto part = [](const TextPair& pair, size_t link) {
    const Link& at = pair.links[link];
    return pair.source.substr(size_t(at.source_begin), size_t(at.source_end - at.source_begin));
  };
  const Day day{1998, 12, 5};
  const std::set<std::string> years{"1998", "98"},
      months{"12", "Dec", "DEC", "dec", "December", "DECEMBER", "december"},
      days{"5", "05", "5th", "5TH", "fifth", "FIFTH"};
  std::set<std::string> seen;
  for (uint64_t draw = 0; draw < 3000; ++draw) {
    const TextPair pair = english().write(day, Random(draw));
    EXPECT_EQ(pair.references, Locales{"1998-12-05"});
    ASSERT_EQ(pair.links.size(), 3u);
    EXPECT_EQ(years.count(part(pair, 0)), 1u) << pair.source;
    EXPECT_EQ(months.count(part(pair, 1)), 1u) << pair.source;
    EXPECT_EQ(days.count(part(pair, 2)), 1u) << pair.source;
    for (size_t link = 0; link < 3; ++link) seen.insert(part(pair, link));
    const std::string iso = pair.references[0];
    const auto target = [&](size_t link) {
      const Link& at = pair.links[link];
      return iso.substr(size_t(at.target_begin), size_t(at.target_end - at.target_begin));
    };
    EXPECT_EQ(target(0) + " " + target(1) + " " + target(2), "1998 12 05");
  }
  EXPECT_EQ(seen.size(), years.size() + months.size() + days.size());  // each form came up
}

TEST(Dates, WhatIsWrittenIsRead) {
  const auto begin = std::chrono::steady_clock::now();
  const Random random(3);
  constexpr uint64_t kTexts = 1500;
  for (uint64_t row = 0; row < kTexts; ++row) {
    const Random stream = random.split(row);
    const Day day{1700 + int64_t(stream.below(0, 401)), 1 + int64_t(stream.below(1, 12)),
                  1 + int64_t(stream.below(2, 28))};
    const TextPair pair = all().write(day, stream.split("text"));
    double sum = 0, own = 0, last = 1;
    for (const Reading& reading : all().readings(pair.source)) {
      sum += reading.probability;
      if (reading.day == day) own = reading.probability;
      EXPECT_LE(reading.probability, last);
      last = reading.probability;
    }
    EXPECT_NEAR(sum, 1, 1e-12) << pair.source;
    EXPECT_GT(own, 0) << pair.source << " " << day.iso();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("all locales: %.0f us a text, written and read\n", 1e6 * seconds.count() / kTexts);
}

/// The posterior against counting, for days that share texts. Kyrgyz writes y-dd-MM, which is ISO
/// with day and month exchanged, so years outside the window have ambiguous texts too.
TEST(Dates, ProbabilitiesAreFrequencies) {
  DatesOptions two_years = options({"en", "en_GB", "fr", "ky"});
  two_years.first_year = 1949;  // before the window
  two_years.last_year = 1950;   // in it
  const DateLanguage language(two_years);
  const std::vector<Day> days = {{1950, 12, 5}, {1950, 5, 12}, {1949, 12, 5}, {1949, 5, 12}};
  std::map<std::string, std::map<Day, double>> counts;
  const Random random(5);
  for (uint64_t row = 0; row < 400000; ++row) {
    const Day& day = days[row % days.size()];
    counts[language.write(day, random.split(row)).source][day] += 1;
  }
  std::set<std::string> ambiguous;
  for (auto& [text, of_days] : counts) {
    double sum = 0;
    for (const auto& [day, count] : of_days) sum += count;
    const std::vector<Reading> readings = language.readings(text);
    EXPECT_GE(readings.size(), of_days.size()) << text;
    for (const auto& [day, p] : readings) {
      ASSERT_NE(std::find(days.begin(), days.end(), day), days.end()) << text << " " << day.iso();
      EXPECT_NEAR(of_days[day] / sum, p, 5 * std::sqrt(p * (1 - p) / sum) + 1e-9) << text;
    }
    if (readings.size() > 1) ambiguous.insert(text);
  }
  for (const char* text : {"05/12/50", "12/05/50", "5/12/50", "12/5/50", "1950-05-12", "1950-12-05",
                           "1949-05-12", "1949-12-05"})
    EXPECT_EQ(ambiguous.count(text), 1u) << text;
}

TEST(Dates, TwoDigitsMeanTheWindow) {
  DatesOptions from = options();
  for (const auto& [first, text, day] :
       std::vector<std::tuple<int64_t, std::string, std::string>>{{1950, "05/12/50", "1950-05-12"},
                                                                  {1950, "05/12/49", "2049-05-12"},
                                                                  {1999, "05/12/98", "2098-05-12"},
                                                                  {1700, "05/12/98", "1798-05-12"},
                                                                  {2050, "05/12/98", "2098-05-12"},
                                                                  {2010, "05/12/01", ""}}) {
    from.two_digit_from = first;  // 2101 is after the last year
    EXPECT_EQ(read(DateLanguage(from), text), day) << first;
  }
  std::set<size_t> inside, outside;  // lengths of the texts
  for (uint64_t draw = 0; draw < 1000; ++draw) {
    inside.insert(english().write({1950, 1, 1}, Random(draw)).source.size());
    outside.insert(english().write({1949, 12, 31}, Random(draw)).source.size());
  }
  EXPECT_EQ(*inside.begin(), 6u);    // 1/1/50
  EXPECT_EQ(*outside.begin(), 10u);  // 12/31/1949
}

TEST(Dates, NoDayIsInTwoSplits) {
  DatesOptions few = options();
  few.first_year = 2000;
  few.last_year = 2003;
  few.rows = 20000;
  few.validation_rows = few.test_rows = 3000;
  const DatesDraw draw = draw_dates(few);
  std::map<std::string, std::set<int>> splits;
  std::array<std::set<std::string>, 3> days;
  const Rows<TextPair>* pairs[] = {&draw.train, &draw.validation, &draw.test};
  for (int split = 0; split < 3; ++split)
    for (const TextPair& pair : *pairs[split]) {
      splits[pair.references[0]].insert(split);
      days[size_t(split)].insert(pair.references[0]);
    }
  for (const auto& [day, of] : splits) EXPECT_EQ(of.size(), 1u) << day;
  EXPECT_EQ(splits.size(), 1461u);  // with so many rows every day of the four years comes up
  EXPECT_EQ(days[1].size(), 73u);   // 5 %
  EXPECT_EQ(days[2].size(), 219u);  // 15 %
}

TEST(Dates, TheSeedDecides) {
  DatesOptions small = options({"en", "fr"});
  small.rows = 200;
  small.validation_rows = small.test_rows = 20;
  DatesOptions other = small, longer = small;
  other.seed = 2;
  longer.rows = 300;
  const auto texts = [](const std::vector<TextPair>& pairs) {
    std::vector<std::string> texts;
    for (const TextPair& pair : pairs) texts.push_back(pair.source + "=" + pair.references[0]);
    return texts;
  };
  const DatesDraw draw = draw_dates(small), again = draw_dates(small), more = draw_dates(longer);
  EXPECT_EQ(texts(draw.train), texts(again.train));
  EXPECT_EQ(texts(draw.test), texts(again.test));
  EXPECT_NE(texts(draw.train), texts(draw_dates(other).train));
  EXPECT_EQ(texts(draw.validation), texts(more.validation));
  auto head = texts(more.train);
  head.resize(200);
  EXPECT_EQ(texts(draw.train), head);
}

TEST(Dates, CeilingIsWhatTheBestReaderGets) {
  DatesOptions drawn = options();
  drawn.rows = 1;
  EXPECT_EQ(draw_dates(drawn).ceiling, 1);  // no two English templates share a text of two days
  drawn.locales = {"en", "en_GB", "ky"};
  drawn.test_rows = 20000;
  const DatesDraw draw = draw_dates(drawn);
  const DateLanguage language(drawn);
  double right = 0;
  for (const TextPair& pair : draw.test)
    right += language.readings(pair.source)[0].day.iso() == pair.references[0];
  const double share = right / double(draw.test.size()), ceiling = draw.ceiling;
  EXPECT_LT(ceiling, 1);
  EXPECT_NEAR(share, ceiling, 4 * std::sqrt(ceiling * (1 - ceiling) / double(draw.test.size())));
  std::printf("en, en_GB, ky: ceiling %.4f, the best reader got %.4f\n", ceiling, share);
}

TEST(Dates, Notes) {
  const std::string notes = join(english().notes(), "\n");
  for (const char* words : {"ICU ", ": en;", "templates", "1950 to 2049", "day first",
                            "05/12/98 is read as 1998-05-12"})
    EXPECT_NE(notes.find(words), std::string::npos) << words << " is not in: " << notes;
  EXPECT_NE(join(all().notes()).find("05/12/98 is read as 1998-12-05 9"), std::string::npos)
      << join(all().notes());
  EXPECT_NE(join(DateLanguage(options({"de"})).notes()).find("05/12/98 is not written"),
            std::string::npos);
}

TEST(Dates, ImpossibleOptions) {
  expect_error(ErrorKind::NotFound, {"'en-GB'", "did you mean 'en_GB'"},
               [] { DateLanguage(options({"en-GB"})); });
  expect_error(ErrorKind::InvalidArgument, "no locale", [] { DateLanguage(options({})); });
  DatesOptions bad = options();
  bad.first_year = 1500;
  expect_error(ErrorKind::InvalidArgument, {"1500", "1583"}, [&] { draw_dates(bad); });
  bad.first_year = 2200;
  expect_error(ErrorKind::InvalidArgument, {"2200 to 2100"}, [&] { draw_dates(bad); });
  bad = options();
  bad.rows = 0;
  expect_error(ErrorKind::InvalidArgument, "0 training", [&] { draw_dates(bad); });
  expect_error(ErrorKind::InvalidArgument, {"2001-02-30", "1700 to 2100"}, [] {
    english().write({2001, 2, 30}, Random(1));
  });
}

#else

TEST(Dates, WithoutIcu) {
  expect_error(ErrorKind::Unsupported, {"no ICU", "libicu-dev", "prepared file"},
               [] { draw_dates(options()); });
}

#endif

}  // namespace
}  // namespace fovea::synthetic_dates_test

#include "fovea/data/pairs/date_locales.h"

#include <gtest/gtest.h>

#include "fovea/data/pairs/date_spoken.h"
#include "tests/support/expect_error.h"

#ifdef FOVEA_WITH_ICU
#include <unicode/locid.h>
#include <unicode/smpdtfmt.h>
#include <unicode/timezone.h>

#include <chrono>
#endif

namespace fovea::date_locales_test {
namespace {

#ifdef FOVEA_WITH_ICU

/// Every month, every weekday, every digit, both ends of the default range.
const std::vector<Day>& some_days() {
  static const std::vector<Day> days = {{1700, 1, 1},  {1776, 7, 4},  {1800, 2, 28},  {1899, 3, 31},
                                        {1950, 4, 9},  {1969, 8, 16}, {1998, 12, 5},  {1998, 5, 12},
                                        {2000, 2, 29}, {2001, 9, 10}, {2019, 11, 10}, {2034, 6, 27},
                                        {2045, 10, 3}, {2100, 12, 31}};
  return days;
}

UDate noon(const Day& day) {
  const std::chrono::sys_days date =
      std::chrono::year(int(day.year)) / int(day.month) / int(day.day);
  return (double(date.time_since_epoch().count()) + 0.5) * 86400e3;
}

/// Ours against ICU's own, for one locale and one set of digits; how many texts were compared.
int64_t compare_with_icu(const std::string& name, const DateLocale& read, const char* numbers,
                         int64_t& skipped) {
  UErrorCode status = U_ZERO_ERROR;
  icu::Locale locale(name.c_str());
  locale.setKeywordValue("calendar", "gregorian", status);
  if (numbers != nullptr) locale.setKeywordValue("numbers", numbers, status);
  icu::SimpleDateFormat format(icu::UnicodeString(u"y"), locale, status);
  EXPECT_TRUE(U_SUCCESS(status)) << name;
  format.setTimeZone(*icu::TimeZone::getGMT());
  DateSymbols symbols = read.symbols;
  if (numbers != nullptr) symbols.digits = latin_digits();
  int64_t compared = 0;
  for (const std::string& pattern : read.patterns) {
    WordLists lists;
    const auto fields = compile_pattern(pattern, symbols, lists);
    skipped += !fields;
    if (!fields) continue;
    format.applyPattern(icu::UnicodeString::fromUTF8(pattern));
    for (const Day& day : some_days()) {
      icu::UnicodeString text;
      std::string theirs;
      format.format(noon(day), text).toUTF8String(theirs);
      EXPECT_EQ(write_date(*fields, day, lists).text, theirs) << name << " " << pattern;
      ++compared;
    }
  }
  return compared;
}

TEST(DateLocales, WritesAsIcuDoesInEveryLocaleAndPattern) {
  int64_t compared = 0, skipped = 0;
  for (const std::string& name : date_locale_names()) {
    const DateLocale read = read_date_locale(name);
    compared += compare_with_icu(name, read, nullptr, skipped);
    if (read.symbols.digits != latin_digits())
      compared += compare_with_icu(name, read, "latn", skipped);
    if (::testing::Test::HasFailure()) return;  // one locale tells enough
  }
  RecordProperty("compared", std::to_string(compared));
  EXPECT_GT(compared, 250000);
  EXPECT_LT(skipped, 50);
}

TEST(DateLocales, Digits) {
  EXPECT_EQ(read_date_locale("en").symbols.digits, latin_digits());
  EXPECT_EQ(read_date_locale("fa").symbols.digits[5], "۵");
  EXPECT_EQ(read_date_locale("th").symbols.digits, latin_digits());
}

TEST(DateLocales, LocalesThatWriteAlikeAreEqual) {
  EXPECT_EQ(read_date_locale("en"), read_date_locale("en_US"));
  EXPECT_NE(read_date_locale("en"), read_date_locale("en_GB"));
}

TEST(DateLocales, CaseIsThatOfTheLanguage) {
  EXPECT_EQ(change_case({"Nisan", "dreißig"}, LetterCase::Upper, "de"),
            (Words{"NISAN", "DREISSIG"}));
  EXPECT_EQ(change_case({"Nisan"}, LetterCase::Upper, "tr"), (Words{"NİSAN"}));
  EXPECT_EQ(change_case({"MAYIS"}, LetterCase::Lower, "tr"), (Words{"mayıs"}));
  EXPECT_EQ(change_case({"März"}, LetterCase::Written, "de"), (Words{"März"}));
}

TEST(DateLocales, SpokenDays) {
  const SpokenDates english = spoken_dates("en");
  EXPECT_EQ(english.days[0] + english.days[1] + english.days[2] + english.days[10],
            "1st2nd3rd11th");
  EXPECT_EQ(english.other_days[20], "twenty-first");
  EXPECT_EQ(spoken_dates("de").other_days[20], "einundzwanzigsten");  // without soft hyphens
  EXPECT_EQ(spoken_dates("fr").days[0] + spoken_dates("fr").days[1], "1er2");
  EXPECT_EQ(spoken_dates("it").articles[7], "l'");
  EXPECT_TRUE(spoken_dates("ja").patterns.empty());
}

TEST(DateLocales, EverySpokenPatternCompiles) {
  for (const char* name : {"en", "de", "fr", "es", "it", "pt", "ca", "nl", "sv", "da",
                           "nb", "no", "nn", "pl", "cs", "sk", "fi", "ru", "uk", "tr"}) {
    const SpokenDates spoken = spoken_dates(name);
    EXPECT_FALSE(spoken.patterns.empty()) << name;
    DateSymbols symbols = read_date_locale(name).symbols;
    symbols.days = spoken.days;
    symbols.other_days = spoken.other_days;
    symbols.articles = spoken.articles;
    WordLists lists;
    for (const std::string& pattern : spoken.patterns)
      EXPECT_TRUE(compile_pattern(pattern, symbols, lists)) << name << " " << pattern;
  }
}

#else

TEST(DateLocales, WithoutIcu) {
  testing::expect_error(ErrorKind::Unsupported, {"no ICU", "libicu-dev", "prepared file"},
                        [] { date_locale_names(); });
}

#endif

}  // namespace
}  // namespace fovea::date_locales_test

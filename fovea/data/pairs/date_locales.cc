#include "fovea/data/pairs/date_locales.h"

#include "fovea/base/error.h"

#ifdef FOVEA_WITH_ICU
#include <unicode/dtfmtsym.h>
#include <unicode/dtptngen.h>
#include <unicode/locid.h>
#include <unicode/numsys.h>
#include <unicode/smpdtfmt.h>
#include <unicode/uversion.h>

#include <memory>
#endif

namespace fovea {

const Words& latin_digits() {
  static const Words digits{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  return digits;
}

#ifdef FOVEA_WITH_ICU

namespace {

constexpr icu::DateFormat::EStyle kStyles[] = {icu::DateFormat::kShort, icu::DateFormat::kMedium,
                                               icu::DateFormat::kLong, icu::DateFormat::kFull};

/// What a locale's pattern generator is asked for.
constexpr const char* kSkeletons[] = {"yMd",        "yMMMd", "yMMMMd", "yMMMEd",
                                      "yMMMMEEEEd", "yMEd",  "yyMMdd", "yyMd"};

/// What people type in any language.
constexpr const char* kTyped[] = {"yyyy-MM-dd",    "d MMM y",       "d MMMM y",  "dd MMM y",
                                  "d MMM, y",      "d MMMM, y",     "dd, MMM y", "d MM yy",
                                  "MMMM d y",      "MMMM d, y",     "MMM d y",   "dd.MM.yy",
                                  "EEEE d MMMM y", "EEEE, d MMMM y"};

std::string utf8(const icu::UnicodeString& text) {
  std::string bytes;
  text.toUTF8String(bytes);
  return bytes;
}

void check(UErrorCode status, const char* what, const std::string& locale) {
  require(U_SUCCESS(status), ErrorKind::Unsupported, "ICU gives no ", what, " for the locale '",
          locale, "' (", u_errorName(status), "); install ICU with its full data");
}

Words words_of(const icu::UnicodeString* names, int32_t begin, int32_t end) {
  Words words;
  for (int32_t index = begin; index < end; ++index) words.push_back(utf8(names[index]));
  return words;
}

Words native_digits(const icu::Locale& locale, const std::string& name) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::NumberingSystem> system(
      icu::NumberingSystem::createInstance(locale, status));
  check(status, "digits", name);
  if (system->isAlgorithmic()) return latin_digits();
  const icu::UnicodeString description = system->getDescription();
  Words digits;
  for (int32_t at = 0; at < description.length(); at = description.moveIndex32(at, 1))
    digits.push_back(utf8(icu::UnicodeString(description.char32At(at))));
  return digits.size() == 10 ? digits : latin_digits();
}

/// A calendar always has twelve months and seven weekdays here: it is the Gregorian one.
DateSymbols read_symbols(const icu::Locale& locale, const std::string& name) {
  using Symbols = icu::DateFormatSymbols;
  UErrorCode status = U_ZERO_ERROR;
  const Symbols symbols(locale, status);
  check(status, "names of months", name);
  int32_t count = 0;
  const auto months = [&](Symbols::DtContextType context, Symbols::DtWidthType width) {
    return words_of(symbols.getMonths(count, context, width), 0, 12);
  };
  const auto weekdays = [&](Symbols::DtContextType context, Symbols::DtWidthType width) {
    return words_of(symbols.getWeekdays(count, context, width), 1, 8);
  };
  DateSymbols read;
  read.digits = native_digits(locale, name);
  read.months = months(Symbols::FORMAT, Symbols::WIDE);
  read.short_months = months(Symbols::FORMAT, Symbols::ABBREVIATED);
  read.lone_months = months(Symbols::STANDALONE, Symbols::WIDE);
  read.short_lone_months = months(Symbols::STANDALONE, Symbols::ABBREVIATED);
  read.weekdays = weekdays(Symbols::FORMAT, Symbols::WIDE);
  read.short_weekdays = weekdays(Symbols::FORMAT, Symbols::ABBREVIATED);
  read.lone_weekdays = weekdays(Symbols::STANDALONE, Symbols::WIDE);
  read.short_lone_weekdays = weekdays(Symbols::STANDALONE, Symbols::ABBREVIATED);
  return read;
}

Words read_patterns(const icu::Locale& locale, const std::string& name) {
  Words patterns;
  icu::UnicodeString pattern;
  for (const auto style : kStyles) {
    const std::unique_ptr<icu::DateFormat> format(
        icu::DateFormat::createDateInstance(style, locale));
    const auto* simple = dynamic_cast<const icu::SimpleDateFormat*>(format.get());
    check(simple == nullptr ? U_MISSING_RESOURCE_ERROR : U_ZERO_ERROR, "date formats", name);
    patterns.push_back(utf8(simple->toPattern(pattern)));
  }
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::DateTimePatternGenerator> generator(
      icu::DateTimePatternGenerator::createInstance(locale, status));
  check(status, "date patterns", name);
  for (const char* skeleton : kSkeletons) {
    patterns.push_back(utf8(generator->getBestPattern(icu::UnicodeString(skeleton), status)));
    check(status, "date patterns", name);
  }
  patterns.insert(patterns.end(), std::begin(kTyped), std::end(kTyped));
  return patterns;
}

}  // namespace

Words date_locale_names() {
  int32_t count = 0;
  const icu::Locale* locales = icu::Locale::getAvailableLocales(count);
  Words names;
  for (int32_t index = 0; index < count; ++index) names.emplace_back(locales[index].getName());
  return names;
}

DateLocale read_date_locale(const std::string& name) {
  icu::Locale locale(name.c_str());
  DateLocale read;
  read.language = locale.getLanguage();
  UErrorCode status = U_ZERO_ERROR;
  locale.setKeywordValue("calendar", "gregorian", status);
  check(status, "Gregorian calendar", name);
  read.symbols = read_symbols(locale, name);
  read.patterns = read_patterns(locale, name);
  return read;
}

Words change_case(const Words& words, LetterCase letter_case, const std::string& language) {
  const icu::Locale locale(language.c_str());
  Words changed;
  for (const std::string& word : words) {
    icu::UnicodeString text = icu::UnicodeString::fromUTF8(word);
    if (letter_case == LetterCase::Upper) text.toUpper(locale);
    if (letter_case == LetterCase::Lower) text.toLower(locale);
    changed.push_back(utf8(text));
  }
  return changed;
}

std::string icu_version() {
  UVersionInfo version;
  u_getVersion(version);
  char text[U_MAX_VERSION_STRING_LENGTH];
  u_versionToString(version, text);
  return text;
}

#else

namespace {

[[noreturn]] void fail_without_icu() {
  fail(ErrorKind::Unsupported,
       "this build has no ICU; install libicu-dev, or train on a prepared file");
}

}  // namespace

Words date_locale_names() {
  fail_without_icu();
}

DateLocale read_date_locale(const std::string&) {
  fail_without_icu();
}

Words change_case(const Words&, LetterCase, const std::string&) {
  fail_without_icu();
}

std::string icu_version() {
  fail_without_icu();
}

#endif

}  // namespace fovea

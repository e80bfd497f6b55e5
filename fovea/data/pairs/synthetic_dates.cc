#include "fovea/data/pairs/synthetic_dates.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/pairs/date_locales.h"
#include "fovea/data/pairs/date_spoken.h"
#include "fovea/data/pairs/date_templates.h"

namespace fovea {

namespace {

constexpr int64_t kFirstGregorianYear = 1583, kLastYear = 9999;
constexpr double kValidationShare = 0.05, kTestShare = 0.15;  // of the days
constexpr const char* kAmbiguousText = "05/12/98";

constexpr std::pair<LetterCase, double> kCases[] = {
    {LetterCase::Written, 0.5}, {LetterCase::Upper, 0.25}, {LetterCase::Lower, 0.25}};

void check_options(const DatesOptions& options) {
  require(options.first_year >= kFirstGregorianYear && options.last_year <= kLastYear &&
              options.first_year <= options.last_year,
          ErrorKind::InvalidArgument, "the years ", options.first_year, " to ", options.last_year,
          " cannot be drawn; take a range within ", kFirstGregorianYear, " to ", kLastYear);
  require(!options.locales.empty(), ErrorKind::InvalidArgument,
          "no locale was given; take an ICU name such as 'en' or 'de_AT', or 'all'");
  require(options.rows >= 1 && options.validation_rows >= 0 && options.test_rows >= 0,
          ErrorKind::InvalidArgument, "cannot draw ", options.rows, " training, ",
          options.validation_rows, " validation and ", options.test_rows,
          " test rows; at least 1, 0 and 0 are needed");
}

/// The chosen locales, each once.
std::set<std::string> chosen_locales(const Words& wanted) {
  Words known = date_locale_names();
  std::set<std::string> chosen;
  for (const std::string& name : wanted) {
    if (name == "all") {
      chosen.insert(known.begin(), known.end());
    } else {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        known.emplace_back("all");
        fail(ErrorKind::NotFound, "ICU ", icu_version(), " has no locale '", name, "'",
             suggestion(name, known), "; take one of its ", known.size() - 1,
             " names such as 'en' or 'de_AT', or 'all'");
      }
      chosen.insert(name);
    }
  }
  return chosen;
}

/// Turns locales into templates with weights. Templates that are equal share one entry.
class TemplateCollector {
 public:
  explicit TemplateCollector(WordLists& lists) : lists_(lists) {}

  /// `locales` of all the chosen ones write like this one.
  void add(const DateLocale& locale, int64_t locales) {
    const SpokenDates spoken = spoken_dates(locale.language);
    Words patterns = locale.patterns;
    patterns.insert(patterns.end(), spoken.patterns.begin(), spoken.patterns.end());
    DateSymbols symbols = locale.symbols;
    symbols.days = spoken.days;
    symbols.other_days = spoken.other_days;
    symbols.articles = spoken.articles;

    std::vector<std::vector<DateTemplate>> by_digits = {compile(patterns, symbols)};
    skipped_ += locales * int64_t(patterns.size() - by_digits.front().size());
    if (symbols.digits != latin_digits()) {
      symbols.digits = latin_digits();
      by_digits.push_back(compile(patterns, symbols));
    }
    ChangedLists changed;
    for (const auto& templates : by_digits)
      for (const DateTemplate& fields : templates)
        for (const auto& [letter_case, weight] : kCases)
          weights_[with_case(fields, letter_case, locale.language, changed)] +=
              double(locales) * weight / double(templates.size() * by_digits.size());
  }

  const std::map<DateTemplate, double>& weights() const { return weights_; }
  int64_t skipped() const { return skipped_; }

 private:
  using ChangedLists = std::map<std::pair<LetterCase, int32_t>, int32_t>;

  std::vector<DateTemplate> compile(const Words& patterns, const DateSymbols& symbols) {
    std::vector<DateTemplate> templates;
    for (const std::string& pattern : patterns)
      if (auto fields = compile_pattern(pattern, symbols, lists_))
        templates.push_back(std::move(*fields));
    return templates;
  }

  /// Field by field, so that the spans stay known where a letter becomes two.
  DateTemplate with_case(DateTemplate fields, LetterCase letter_case, const std::string& language,
                         ChangedLists& changed) {
    if (letter_case == LetterCase::Written) return fields;
    for (DateField& field : fields) {
      if (field.least_digits > 0) continue;  // a number
      const auto [entry, is_new] = changed.try_emplace({letter_case, field.words});
      if (is_new)
        entry->second = lists_.add(change_case(lists_[field.words], letter_case, language));
      field.words = entry->second;
    }
    return fields;
  }

  WordLists& lists_;
  std::map<DateTemplate, double> weights_;
  int64_t skipped_ = 0;
};

Day day_after(int64_t first_year, int64_t days) {
  using namespace std::chrono;
  const year_month_day date =
      sys_days(year(int(first_year)) / January / 1) + std::chrono::days(days);
  return {int(date.year()), int64_t(unsigned(date.month())), int64_t(unsigned(date.day()))};
}

int64_t days_of(const DatesOptions& options) {
  using namespace std::chrono;
  return (sys_days(year(int(options.last_year) + 1) / January / 1) -
          sys_days(year(int(options.first_year)) / January / 1))
      .count();
}

std::string percent(double share) {
  return format_number(100 * share) + " %";
}

}  // namespace

void DatesOptions::describe(OptionList& list) {
  list.add("locales", locales, "dates: ICU locales such as en, de_AT, zh_Hant, or all");
  list.add("rows", rows, "dates: training rows").at_least(1);
  list.add("validation_rows", validation_rows, "dates: validation rows").at_least(0);
  list.add("test_rows", test_rows, "dates: test rows").at_least(0);
  list.add("first_year", first_year, "dates: the first year")
      .within(kFirstGregorianYear, kLastYear);
  list.add("last_year", last_year, "dates: the last year, included")
      .within(kFirstGregorianYear, kLastYear);
  list.add("two_digit_from", two_digit_from,
           "dates: two digits mean the one year that ends so in this year and the 99 after it");
  list.add("seed", seed, "dates: seed of the rows; the training seed does not change them")
      .at_least(0);
}

std::string Day::iso() const {
  char text[64];
  std::snprintf(text, sizeof text, "%04lld-%02lld-%02lld", static_cast<long long>(year),
                static_cast<long long>(month), static_cast<long long>(day));
  return text;
}

struct DateLanguage::Impl {
  YearRange years;
  Words locale_names;
  int64_t distinct_locales = 0, skipped = 0;
  WordLists lists;
  std::vector<DateTemplate> templates;  // first those with all digits of the year
  std::vector<double> weights;          // of the templates
  std::vector<double> sums;             // of the weights up to each template, this one included
  size_t whole_years = 0;               // how many templates have all digits of the year
  std::optional<TemplateTree> tree;

  explicit Impl(const DatesOptions& options)
      : years{options.first_year, options.last_year, options.two_digit_from} {
    std::map<DateLocale, int64_t> locales;
    for (const std::string& name : chosen_locales(options.locales)) {
      locale_names.push_back(name);
      ++locales[read_date_locale(name)];
    }
    distinct_locales = int64_t(locales.size());
    TemplateCollector collector(lists);
    for (const auto& [locale, count] : locales) collector.add(locale, count);
    skipped = collector.skipped();
    for (bool two_digits : {false, true}) {
      for (const auto& [fields, weight] : collector.weights()) {
        if (has_two_digit_year(fields) != two_digits) continue;
        templates.push_back(fields);
        weights.push_back(weight);
        sums.push_back(weight + (sums.empty() ? 0 : sums.back()));
      }
      if (!two_digits) whole_years = templates.size();
    }
    tree.emplace(templates, lists);
  }

  /// Templates that can write a day of that year: the first so many.
  size_t usable(int64_t year) const {
    return years.in_window(year) ? templates.size() : whole_years;
  }
};

DateLanguage::DateLanguage(const DatesOptions& options) {
  check_options(options);
  impl_ = std::make_unique<Impl>(options);
}

DateLanguage::~DateLanguage() = default;

TextPair DateLanguage::write(const Day& day, const Random& random) const {
  const YearRange& years = impl_->years;
  require(is_day(day) && years.contains(day.year), ErrorKind::InvalidArgument, day.iso(),
          " is no day of the years ", years.first, " to ", years.last);
  const auto begin = impl_->sums.begin(), end = begin + int64_t(impl_->usable(day.year));
  const auto drawn = std::upper_bound(begin, end - 1, random.uniform(0) * *(end - 1));
  const WrittenDate written =
      write_date(impl_->templates[size_t(drawn - begin)], day, impl_->lists);
  const auto link = [](int64_t target_begin, int64_t target_end, const WrittenDate::Span& source) {
    return Link{target_begin, target_end, int64_t(source.begin), int64_t(source.end)};
  };
  return {written.text,
          {day.iso()},
          {link(0, 4, written.year), link(5, 7, written.month), link(8, 10, written.day)}};
}

std::vector<Reading> DateLanguage::readings(std::string_view text) const {
  std::map<Day, double> likelihoods;  // P(text | day)
  double total = 0;
  for (const auto& [number, day] : impl_->tree->match(text, impl_->years)) {
    const double likelihood = impl_->weights[number] / impl_->sums[impl_->usable(day.year) - 1];
    likelihoods[day] += likelihood;
    total += likelihood;
  }
  std::vector<Reading> readings;
  for (const auto& [day, likelihood] : likelihoods) readings.push_back({day, likelihood / total});
  std::stable_sort(readings.begin(), readings.end(), [](const Reading& a, const Reading& b) {
    return a.probability > b.probability;
  });
  return readings;
}

int64_t DateLanguage::templates() const {
  return int64_t(impl_->templates.size());
}

std::vector<std::string> DateLanguage::notes() const {
  const Impl& language = *impl_;
  const auto locales = int64_t(language.locale_names.size());
  std::string names =
      locales <= 8 ? join(language.locale_names) : format_count(locales) + " locales";
  if (language.distinct_locales < locales)
    names += concat(" (", language.distinct_locales, " that differ)");
  std::vector<std::string> notes = {
      concat("ICU ", icu_version(), ": ", names, "; ", format_count(templates()), " templates; ",
             format_count(language.skipped), " patterns skipped"),
      concat("two digits of a year mean ", language.years.two_digit_from, " to ",
             language.years.two_digit_from + 99, "; dd.MM.yy is day first in every locale")};
  std::vector<std::string> meanings;
  const std::vector<Reading> found = readings(kAmbiguousText);
  for (const Reading& reading : found)
    meanings.push_back(concat(reading.day.iso(), " ", percent(reading.probability)));
  if (found.empty()) {
    notes.push_back(concat(kAmbiguousText, " is not written in these locales and years"));
  } else if (found.size() == 1) {
    notes.push_back(concat(kAmbiguousText, " is read as ", found[0].day.iso()));
  } else {
    notes.push_back(concat(kAmbiguousText, " is read as ", join(meanings)));
  }
  return notes;
}

DatesDraw draw_dates(const DatesOptions& options) {
  const DateLanguage language(options);
  const Random random = Random(uint64_t(options.seed)).split("dates");
  const std::vector<int64_t> days = random.split("days").permutation(days_of(options));
  const auto validation = int64_t(kValidationShare * double(days.size()));
  const auto test = int64_t(kTestShare * double(days.size()));
  const auto train = int64_t(days.size()) - validation - test;
  const std::span<const int64_t> all(days);

  const auto draw_rows = [&](const char* name, std::span<const int64_t> own, int64_t rows) {
    std::vector<TextPair> pairs;
    for (int64_t row = 0; row < rows; ++row) {
      const Random stream = random.split(name).split(uint64_t(row));
      const int64_t day = own[stream.below(0, own.size())];
      pairs.push_back(language.write(day_after(options.first_year, day), stream.split("text")));
    }
    return pairs;
  };
  DatesDraw draw;
  draw.train = draw_rows("train", all.first(size_t(train)), options.rows);
  draw.validation = draw_rows("validation", all.subspan(size_t(train), size_t(validation)),
                              options.validation_rows);
  draw.test = draw_rows("test", all.last(size_t(test)), options.test_rows);

  double sum = 0;
  for (const TextPair& pair : draw.test) {
    const std::vector<Reading> readings = language.readings(pair.source);
    require(!readings.empty(), ErrorKind::Internal, "'", pair.source,
            "' was written but cannot be read");
    sum += readings[0].probability;
  }
  if (!draw.test.empty()) draw.ceiling = sum / double(draw.test.size());
  draw.notes = language.notes();
  draw.notes.push_back(concat(format_count(train), " days for training, ", format_count(validation),
                              " for validation, ", format_count(test), " for the test"));
  draw.notes.push_back(concat("a reader that knows every template gets ", percent(draw.ceiling),
                              " of the test texts right"));
  return draw;
}

}  // namespace fovea

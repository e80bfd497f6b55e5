// Dates as people write them, in every language of ICU, and the same day as yyyy-mm-dd. The
// language is a finite list of templates with weights: ICU's own formats of each locale (short to
// full, and further skeletons), patterns that people type anywhere, spoken forms ("the 3rd of
// March, 2001"), native digits, upper and lower case; always the Gregorian calendar.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/draw.h"
#include "fovea/data/pairs/dataset.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct DatesOptions {
  std::vector<std::string> locales = {"en"};  // ICU names, or "all"
  int64_t rows = 50000;                       // training rows
  int64_t validation_rows = 1000;
  int64_t test_rows = 4000;
  int64_t first_year = 1700, last_year = 2100;
  int64_t two_digit_from =
      1950;          // 98 is the one year that ends so in this year and the 99 after it
  int64_t seed = 1;  // of the data; the training seed does not change them
  void describe(OptionList& list);
};

struct Day {
  int64_t year = 0, month = 0, day = 0;
  std::string iso() const;  // "2001-03-03"
  auto operator<=>(const Day&) const = default;
};

/// What a text can mean and how likely that is, given that the generator wrote it.
struct Reading {
  Day day;
  double probability = 0;
};

class DateLanguage {
 public:
  /// Unsupported without ICU; NotFound for a locale that ICU does not have (names the nearest).
  explicit DateLanguage(const DatesOptions& options);
  ~DateLanguage();

  /// A text for that day, the template drawn by `random`; links say which bytes of the text the
  /// year, the month and the day of the output come from.
  TextPair write(const Day& day, const Random& random) const;

  /// Every day that the text can mean, the likeliest first; empty when no template fits.
  std::vector<Reading> readings(std::string_view text) const;

  int64_t templates() const;
  std::vector<std::string> notes() const;  // ICU version, locales, how 05/12/98 is read

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct DatesDraw : SplitRows<TextPair> {
  double ceiling = 1;  // exact match of a reader that knows the templates: the mean over the test
                       // texts of the probability of their likeliest reading
};

/// No day is in two splits.
DatesDraw draw_dates(const DatesOptions& options);

}  // namespace fovea

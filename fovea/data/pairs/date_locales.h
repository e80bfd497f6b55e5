// How dates are written in a locale, as ICU knows it: patterns, names of months and weekdays,
// digits. ICU is asked once per locale; from then on texts are written and read by our own
// templates. Every function fails with Unsupported in a build without ICU.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/pairs/date_templates.h"

namespace fovea {

/// Two locales that compare equal write every date alike.
struct DateLocale {
  std::string language;  // decides upper and lower case: "tr"
  Words patterns;        // ICU's own and those that people type anywhere; some occur twice
  DateSymbols symbols;   // without the lists of spoken forms
  auto operator<=>(const DateLocale&) const = default;
};

/// The names of all locales, in ICU's order.
Words date_locale_names();

DateLocale read_date_locale(const std::string& name);

enum class LetterCase { Written, Upper, Lower };

Words change_case(const Words& words, LetterCase letter_case, const std::string& language);

/// "72.1".
std::string icu_version();

/// The digits 0 to 9.
const Words& latin_digits();

}  // namespace fovea

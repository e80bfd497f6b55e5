#include "fovea/data/pairs/date_spoken.h"

#ifdef FOVEA_WITH_ICU
#include <unicode/rbnf.h>

#include <algorithm>

#include "fovea/base/error.h"
#endif

namespace fovea {

#ifdef FOVEA_WITH_ICU

namespace {

/// Days of the month as words, by a rule set of ICU's RuleBasedNumberFormat; plain digits without
/// one. The first of the month often has a form of its own.
struct DayWords {
  const char* rule_set = nullptr;
  const char* first = nullptr;
};

struct SpokenForms {
  Words languages;
  Words patterns;
  DayWords days = {}, other_days = {};  // o, oo
  const char* article = nullptr;        // t; with its blank
  const char* elided = nullptr;         // t before a vowel
  std::vector<size_t> elided_days = {};
};

const std::vector<SpokenForms>& spoken_forms() {
  static const std::vector<SpokenForms> table{
      {{"en"},
       {"'the' o 'of' MMMM, y", "'the' o 'of' MMMM y", "o 'of' MMMM y", "o MMMM y", "MMMM o, y",
        "MMMM o y", "EEEE, MMMM o, y", "EEEE 'the' o 'of' MMMM y", "'the' oo 'of' MMMM, y",
        "'the' oo 'of' MMMM y", "oo 'of' MMMM y", "MMMM 'the' oo, y"},
       {"%digits-ordinal"},
       {"%spellout-ordinal"}},
      {{"de"},
       {"'der' d. MMMM y", "'am' d. MMMM y", "EEEE, 'der' d. MMMM y", "'am' EEEE, 'dem' d. MMMM y",
        "'der' o MMMM y", "'am' oo MMMM y"},
       {"%spellout-ordinal"},
       {"%spellout-ordinal-n"}},
      {{"fr"},
       {"'le' o MMMM y", "o MMMM y", "'le' EEEE o MMMM y", "EEEE o MMMM y", "'le' oo MMMM y"},
       {nullptr, "1er"},
       {"%spellout-numbering", "premier"}},
      {{"es"},
       {"'el' d 'de' MMMM 'de' y", "'el' d 'de' MMMM 'del' y", "'el' EEEE d 'de' MMMM 'de' y",
        "'el' o 'de' MMMM 'de' y"},
       {"%spellout-numbering"}},
      {{"it"},
       {"to MMMM y", "o MMMM y", "EEEE o MMMM y", "too MMMM y"},
       {nullptr, "1º"},
       {"%spellout-numbering", "primo"},
       "il ",
       "l'",
       {8, 11}},
      {{"pt"},
       {"o 'de' MMMM 'de' y", "'em' o 'de' MMMM 'de' y", "EEEE, o 'de' MMMM 'de' y",
        "oo 'de' MMMM 'de' y"},
       {nullptr, "1º"},
       {"%spellout-cardinal-masculine", "primeiro"}},
      {{"ca"}, {"td MMMM 'de' y", "td MMMM 'del' y"}, {}, {}, "el ", "l'", {1, 11}},
      {{"nl"},
       {"'op' d MMMM y", "'op' EEEE d MMMM y", "'de' o MMMM y", "'de' oo MMMM y"},
       {"%digits-ordinal"},
       {"%spellout-ordinal"}},
      {{"sv"},
       {"'den' d MMMM y", "EEEE'en' 'den' d MMMM y", "'den' o MMMM y", "'den' oo MMMM y"},
       {"%digits-ordinal"},
       {"%spellout-ordinal-reale"}},
      {{"da"}, {"'den' d. MMMM y", "EEEE 'den' d. MMMM y"}},
      {{"nb", "no"},
       {"'den' d. MMMM y", "EEEE 'den' d. MMMM y", "'den' o MMMM y"},
       {"%spellout-ordinal-masculine"}},
      {{"nn"}, {"'den' d. MMMM y", "EEEE 'den' d. MMMM y"}},
      {{"pl"},
       {"d MMMM y 'r.'", "d MMMM y 'roku'", "'dnia' d MMMM y 'r.'", "'dnia' d MMMM y 'roku'",
        "EEEE, d MMMM y 'r.'"}},
      {{"cs"}, {"'dne' d. MMMM y", "d. MMMM 'roku' y"}},
      {{"sk"}, {"'dňa' d. MMMM y", "d. MMMM 'roku' y"}},
      {{"fi"}, {"d. MMMM 'vuonna' y"}},
      {{"ru"},
       {"d MMMM y 'года'", "d MMMM y 'г.'", "EEEE, d MMMM y 'года'", "o MMMM y 'года'"},
       {"%spellout-ordinal-neuter"}},
      {{"uk"}, {"d MMMM y 'року'", "d MMMM y 'р.'", "EEEE, d MMMM y 'року'"}},
      {{"tr"}, {"d MMMM y 'günü'", "d MMMM y 'tarihinde'"}},
  };
  return table;
}

Words day_words(const DayWords& form, const std::string& language) {
  Words words;
  for (int day = 1; day <= 31; ++day) words.push_back(std::to_string(day));
  if (form.rule_set != nullptr) {
    UErrorCode status = U_ZERO_ERROR;
    const bool is_digits = std::string_view(form.rule_set).starts_with("%digits");
    const icu::RuleBasedNumberFormat format(is_digits ? icu::URBNF_ORDINAL : icu::URBNF_SPELLOUT,
                                            icu::Locale(language.c_str()), status);
    for (int32_t day = 1; day <= 31 && U_SUCCESS(status); ++day) {
      icu::UnicodeString text;
      icu::FieldPosition position;
      format.format(day, icu::UnicodeString(form.rule_set), text, position, status);
      // ICU marks where a long number may be hyphenated; nobody types that.
      text.findAndReplace(icu::UnicodeString(u'\u00AD'), icu::UnicodeString());
      words[size_t(day - 1)].clear();
      text.toUTF8String(words[size_t(day - 1)]);
    }
    require(U_SUCCESS(status), ErrorKind::Unsupported, "ICU spells no numbers in the language '",
            language, "' by ", form.rule_set, " (", u_errorName(status),
            "); install ICU with its full data");
  }
  if (form.first != nullptr) words[0] = form.first;
  return words;
}

}  // namespace

SpokenDates spoken_dates(const std::string& language) {
  for (const SpokenForms& forms : spoken_forms()) {
    if (std::find(forms.languages.begin(), forms.languages.end(), language) ==
        forms.languages.end())
      continue;
    SpokenDates spoken;
    spoken.patterns = forms.patterns;
    spoken.days = day_words(forms.days, language);
    spoken.other_days = day_words(forms.other_days, language);
    if (forms.article != nullptr) {
      spoken.articles.assign(31, forms.article);
      for (size_t day : forms.elided_days) spoken.articles[day - 1] = forms.elided;
    }
    return spoken;
  }
  return {};
}

#else

SpokenDates spoken_dates(const std::string&) {
  return {};
}

#endif

}  // namespace fovea

#include "fovea/data/pairs/synthetic_phrases.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/dice.h"
#include "fovea/data/pairs/phrases_lexicon.h"

namespace fovea::phrases {

namespace {

constexpr int64_t kFewestWords = 4, kMostWords = 25;

/// Words that belong together; units of both sides with the same key are linked.
struct Unit {
  std::string text;
  int key;
};
using Units = std::vector<Unit>;

/// A piece of a sentence in both languages, each in its own order.
struct Bilingual {
  Units english, german;

  void add(const std::string& in_english, const std::string& in_german, int& next_key) {
    english.push_back({in_english, next_key});
    german.push_back({in_german, next_key++});
  }
};

void append(Units& units, const Units& more) {
  units.insert(units.end(), more.begin(), more.end());
}

class SentenceWriter {
 public:
  explicit SentenceWriter(const Random& random) : dice_(random) {}

  TextPair write(int64_t maximum_clauses) {
    Bilingual sentence = clause(nullptr);
    const auto clauses = int64_t(dice_.below(size_t(maximum_clauses)));
    for (int64_t i = 0; i < clauses; ++i) {
      const Conjunction& conjunction = dice_.pick(kConjunctions);
      if (conjunction.comma) sentence.german.back().text += ",";
      sentence.add(conjunction.english, conjunction.german, next_key_);
      const Bilingual more = clause(&conjunction);
      append(sentence.english, more.english);
      append(sentence.german, more.german);
    }
    return pair_of(sentence);
  }

 private:
  struct NounPhrase {
    Bilingual words;
    bool plural;
  };

  NounPhrase noun_phrase(int sort, Case german_case) {
    const bool plural = dice_.chance(0.3);
    const Number number = plural ? kSeveral : kSingular;
    const Determiner& determiner = dice_.pick(
        kDeterminers, [&](const Determiner& entry) { return (entry.number & number) != 0; });
    const Noun& noun =
        dice_.pick(kNouns, [&](const Noun& entry) { return (entry.sort & sort) != 0; });
    const Gender gender = plural ? kPlural : noun.gender;
    NounPhrase phrase{{}, plural};
    phrase.words.add(plural ? determiner.english_plural : determiner.english,
                     determiner.german[german_case][gender], next_key_);
    const char* ending = kEndings[determiner.declension][german_case][gender];
    const Adjective* before = nullptr;
    while (dice_.chance(before == nullptr ? 0.4 : 0.2)) {
      const Adjective& adjective = dice_.pick(kAdjectives, [&](const Adjective& entry) {
        return (entry.sort & noun.sort) != 0 && &entry != before;
      });
      phrase.words.add(adjective.english, std::string(adjective.stem) + ending, next_key_);
      if (before != nullptr) break;
      before = &adjective;
    }
    const char* singular = german_case == kNominative ? noun.german : noun.oblique;
    const char* several = german_case == kDative ? noun.plural_dative : noun.plural;
    phrase.words.add(plural ? noun.english_plural : noun.english, plural ? several : singular,
                     next_key_);
    Units& english = phrase.words.english;
    if (english[0].text == "a" &&
        std::string("aeiou").find(english[1].text[0]) != std::string::npos)
      english[0].text = "an";
    return phrase;
  }

  /// The verb of both sides. German has the finite part and, for past and future, what goes to the
  /// end of the clause.
  struct VerbParts {
    Units english, finite, last;
  };

  VerbParts conjugate(const Verb& verb, Tense tense, bool plural) {
    const int key = next_key_++;
    const auto unit = [key](const char* text) { return Units{{text, key}}; };
    if (tense == kPresent)
      return {unit(plural ? verb.base : verb.third),
              unit(plural ? verb.german_base : verb.german_third),
              {}};
    if (tense == kPast) {
      const char* have = plural ? "haben" : "hat";
      const char* be = plural ? "sind" : "ist";
      return {unit(verb.past), unit(verb.with_sein ? be : have), unit(verb.participle)};
    }
    const int will = next_key_++;
    return {{{"will", will}, {verb.base, key}},
            {{plural ? "werden" : "wird", will}},
            unit(verb.german_base)};
  }

  /// A main clause, or what follows a conjunction.
  Bilingual clause(const Conjunction* conjunction) {
    const Verb& verb = dice_.pick(kVerbs);
    const auto tense = Tense(dice_.below(kTenses));
    const NounPhrase subject = noun_phrase(kBeing, kNominative);
    const VerbParts parts = conjugate(verb, tense, subject.plural);
    const Bilingual object =
        verb.object != 0 ? noun_phrase(verb.object, verb.object_case).words : Bilingual();
    Bilingual time, place;
    // A verb alone would be shorter than a sentence should be.
    if (dice_.chance(0.4) || verb.object == 0) {
      const TimePhrase& phrase =
          dice_.pick(kTimes, [&](const TimePhrase& entry) { return entry.tense == tense; });
      time.add(phrase.english, phrase.german, next_key_);
    }
    if (dice_.chance(0.3)) {
      const Phrase& phrase = dice_.pick(kPlaces);
      place.add(phrase.english, phrase.german, next_key_);
    }
    const bool fronted = conjunction == nullptr && !time.german.empty() && dice_.chance(0.6);

    Bilingual result;
    if (fronted) append(result.english, time.english);
    append(result.english, subject.words.english);
    append(result.english, parts.english);
    append(result.english, object.english);
    append(result.english, place.english);
    if (!fronted) append(result.english, time.english);

    const bool verb_last = conjunction != nullptr && conjunction->verb_last;
    if (fronted) append(result.german, time.german);
    if (fronted) append(result.german, parts.finite);
    append(result.german, subject.words.german);
    if (!fronted && !verb_last) append(result.german, parts.finite);
    if (!fronted) append(result.german, time.german);
    append(result.german, object.german);
    append(result.german, place.german);
    append(result.german, parts.last);
    if (verb_last) append(result.german, parts.finite);
    return result;
  }

  /// One text with a capital letter in front and a full stop behind; spans of the units by key.
  struct Written {
    std::string text;
    std::vector<std::pair<int64_t, int64_t>> spans;
  };

  static Written write_units(const Units& units) {
    Written written;
    for (const Unit& unit : units) {
      if (!written.text.empty()) written.text += ' ';
      const auto begin = int64_t(written.text.size());
      written.text += unit.text;
      // A comma belongs to no word.
      written.spans.emplace_back(begin,
                                 int64_t(written.text.size()) - int64_t(unit.text.back() == ','));
    }
    // Every sentence begins with an ASCII letter: a determiner or a time.
    written.text[0] = char(written.text[0] - 'a' + 'A');
    written.text += '.';
    return written;
  }

  static TextPair pair_of(const Bilingual& sentence) {
    const Written english = write_units(sentence.english), german = write_units(sentence.german);
    TextPair pair{english.text, {german.text}, {}};
    for (size_t t = 0; t < sentence.german.size(); ++t)
      for (size_t s = 0; s < sentence.english.size(); ++s)
        if (sentence.german[t].key == sentence.english[s].key)
          pair.links.push_back({german.spans[t].first, german.spans[t].second,
                                english.spans[s].first, english.spans[s].second});
    const auto stop = [](const std::string& text) { return int64_t(text.size()) - 1; };
    pair.links.push_back(
        {stop(german.text), stop(german.text) + 1, stop(english.text), stop(english.text) + 1});
    return pair;
  }

  Dice dice_;
  int next_key_ = 0;
};

int64_t count_words(const std::string& text) {
  return std::count(text.begin(), text.end(), ' ') + 1;
}

bool has_right_length(const std::string& text) {
  return count_words(text) >= kFewestWords && count_words(text) <= kMostWords;
}

/// What must be new: both sides, where they are neither too short nor too long.
std::vector<std::string> texts_of(const TextPair& pair) {
  const std::string &source = pair.source, &target = pair.references[0];
  if (!has_right_length(source) || !has_right_length(target)) return {};
  return {source, target};
}

}  // namespace

}  // namespace fovea::phrases

namespace fovea {

void PhrasesOptions::describe(OptionList& list) {
  describe_rows(list, "sentences");
  list.add("maximum_clauses", maximum_clauses, "built-in data: most clauses of a sentence")
      .within(1, 4);
  describe_seed(list, "sentences");
}

PhrasesDraw draw_phrases(const PhrasesOptions& options) {
  options.check_rows("sentences");
  require(options.maximum_clauses >= 1, ErrorKind::InvalidArgument,
          "a sentence has at least one clause, not ", options.maximum_clauses);
  PhrasesDraw draw = draw_different(
      options, "phrases",
      concat("sentences of at most ", options.maximum_clauses,
             " clauses; draw fewer rows or raise maximum_clauses"),
      [&](const Random& random) {
        return phrases::SentenceWriter(random).write(options.maximum_clauses);
      },
      phrases::texts_of);
  draw.notes.push_back(concat("built-in synthetic sentences, English to German, seed ",
                              options.seed, ": ", options.counted("pairs")));
  return draw;
}

}  // namespace fovea

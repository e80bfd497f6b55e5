#include "fovea/data/documents/synthetic.h"

#include "fovea/base/error.h"
#include "fovea/data/dice.h"

namespace fovea {

namespace {

constexpr double kSecondVerdict = 0.3, kHearsay = 0.4;
constexpr size_t kFewestSentences = 3;

struct Opposites {
  const char* good;
  const char* bad;
};
constexpr Opposites kJudgements[] = {
    {"wonderful", "dreadful"}, {"excellent", "awful"},      {"delicious", "tasteless"},
    {"superb", "terrible"},    {"charming", "unpleasant"},  {"perfect", "hopeless"},
    {"delightful", "dismal"},  {"marvellous", "miserable"}, {"splendid", "shabby"}};

constexpr const char* kThings[] = {"soup",  "fish",    "wine", "dessert", "bread", "music",
                                   "table", "service", "room", "garden",  "menu",  "coffee"};

/// `first` is good of the first things and bad of the others; with `second` it is the other way
/// round.
struct Quality {
  const char* first;
  const char* second;
  const char* of_first[4];
  const char* of_second[4];
};
constexpr Quality kQualities[] = {
    {"cold", "warm", {"beer", "lemonade", "cider", "sorbet"}, {"soup", "bread", "plate", "room"}},
    {"large", "small", {"portion", "table", "garden", "window"}, {"bill", "crowd", "queue", "fee"}},
    {"loud", "quiet", {"band", "applause", "song", "toast"}, {"street", "kitchen", "fan", "phone"}},
    {"soft", "hard", {"chair", "butter", "bed", "cheese"}, {"crust", "biscuit", "nut", "ice"}},
    {"dry", "wet", {"towel", "floor", "coat", "napkin"}, {"cake", "steak", "rice", "chicken"}}};

constexpr const char* kOwn[] = {
    "We found the {thing} {word}{tail}",
    "To us the {thing} was {word}{tail}",
    "I must call the {thing} {word}{tail}",
    "In my eyes the {thing} was {word}{tail}",
    "Whoever told us of a {other} {thing} should know that we found it {word}{tail}",
    "After so many {other} reports the {thing} was {word} to us{tail}",
    "Let others write {other} things but I call the {thing} {word}{tail}",
    "It may have been {other} before but in my eyes the {thing} was {word}{tail}"};

constexpr const char* kHeard[] = {"The guide calls the {thing} {word}{tail}",
                                  "My brother had expected a {word} {thing}{tail}",
                                  "The poster promises a {word} {thing}{tail}",
                                  "Our neighbours spoke of a {word} {thing}{tail}",
                                  "In the papers the {thing} was said to be {word}{tail}",
                                  "Everybody else finds the {thing} {word}{tail}"};

// The same behind what decides and what does not.
constexpr const char* kTails[] = {
    "", "", " this time", " all evening", " as ever", " every year", " of late", " here"};

constexpr const char* kFacts[] = {"We came by {way} at {hour}",
                                  "The house stands beside the {place}",
                                  "Most guests arrived by {way} after {hour}",
                                  "Our table was the one near the {place}",
                                  "It rained until {hour} and then no more",
                                  "From the terrace one can see the {place}",
                                  "We had booked for {hour} a week before",
                                  "They open at {hour} and close late",
                                  "The way from the {place} takes ten minutes"};
constexpr const char* kWays[] = {"train", "bicycle", "car", "boat", "tram", "bus"};
constexpr const char* kHours[] = {"five", "six", "seven", "eight", "nine", "ten"};
constexpr const char* kPlaces[] = {"station", "river",  "church", "harbour",
                                   "market",  "school", "bridge", "library"};

/// `what` in the place of {name}, if there is one; returns where it stands then.
Span put(std::string& text, const std::string& name, const char* what) {
  const size_t at = text.find(name);
  if (at == std::string::npos) return {};
  text.replace(at, name.size(), what);
  return {int64_t(at), int64_t(at + std::string_view(what).size())};  // all of it is ASCII
}

/// A thing, a word for it that is kind, or not, one that may be either, and how it ends.
struct Remark {
  const char* thing;
  const char* word;
  const char* other;
  const char* tail;
};

Remark draw_remark(Dice& dice, bool praise, bool context) {
  if (!context) {
    const char* thing = dice.pick(kThings);
    const Opposites &words = dice.pick(kJudgements), &others = dice.pick(kJudgements);
    return {thing, praise ? words.good : words.bad, dice.chance(0.5) ? others.good : others.bad,
            dice.pick(kTails)};
  }
  const Quality& quality = dice.pick(kQualities);
  const bool is_first = dice.chance(0.5);
  const char* thing = is_first ? dice.pick(quality.of_first) : dice.pick(quality.of_second);
  return {thing, praise == is_first ? quality.first : quality.second,
          dice.chance(0.5) ? quality.first : quality.second, dice.pick(kTails)};
}

SyntheticSentence write_remark(std::string text, const Remark& remark) {
  SyntheticSentence sentence;
  put(text, "{tail}", remark.tail);
  put(text, "{other}", remark.other);  // it stands before the others, which do not move any more
  const Span thing = put(text, "{thing}", remark.thing), word = put(text, "{word}", remark.word);
  sentence.text = std::move(text);
  sentence.decisive = {thing, word};
  return sentence;
}

/// The things that decide only with a word for them do not count where the word decides alone.
SyntheticSentence own_verdict(Dice& dice, bool praise, bool context) {
  const char* text = dice.pick(kOwn);
  SyntheticSentence sentence = write_remark(text, draw_remark(dice, praise, context));
  if (!context) sentence.decisive.erase(sentence.decisive.begin());
  return sentence;
}

SyntheticSentence distraction(Dice& dice, bool context) {
  if (dice.chance(kHearsay)) {
    const char* heard = dice.pick(kHeard);
    const bool praise = dice.chance(0.5);
    return {write_remark(heard, draw_remark(dice, praise, context)).text};
  }
  std::string text = dice.pick(kFacts);
  put(text, "{way}", dice.pick(kWays));
  put(text, "{hour}", dice.pick(kHours));
  put(text, "{place}", dice.pick(kPlaces));
  return {text};
}

LabelledText write_document(const Random& random, const SyntheticDocumentsOptions& options) {
  Dice dice(random);
  const bool praise = dice.chance(0.5);
  const auto most = static_cast<size_t>(options.sentences);
  const size_t sentences = kFewestSentences + dice.below(most - kFewestSentences + 1);
  std::vector<SyntheticSentence> written{own_verdict(dice, praise, options.context)};
  if (dice.chance(kSecondVerdict)) written.push_back(own_verdict(dice, praise, options.context));
  while (written.size() < sentences)
    written.insert(written.begin() + int64_t(dice.below(written.size() + 1)),
                   distraction(dice, options.context));
  for (SyntheticSentence& sentence : written) sentence.text += '.';
  return join_sentences(written, praise);
}

}  // namespace

void SyntheticDocumentsOptions::describe(OptionList& list) {
  describe_rows(list, "reviews");
  list.add("sentences", sentences, "built-in data: most sentences of a review")
      .at_least(double(kFewestSentences))
      .at_most(100);
  list.add("context", context,
           "built-in data: the same word is praise of one thing and blame of another");
  describe_seed(list, "reviews");
}

LabelledText join_sentences(const std::vector<SyntheticSentence>& sentences, bool praise) {
  LabelledText row;
  row.label = praise ? "praise" : "blame";
  for (const SyntheticSentence& sentence : sentences) {
    if (!row.text.empty()) row.text += ' ';
    const auto begin = int64_t(row.text.size());
    for (const Span& span : sentence.decisive)
      row.decisive.push_back({begin + span.begin, begin + span.end});
    row.text += sentence.text;
  }
  return row;
}

SplitRows<LabelledText> draw_documents(const SyntheticDocumentsOptions& options) {
  options.check_rows("reviews");
  require(options.sentences >= int64_t(kFewestSentences), ErrorKind::InvalidArgument,
          "a review has at least ", kFewestSentences, " sentences, not ", options.sentences);
  SplitRows<LabelledText> draw = draw_different(
      options, "verdicts",
      concat("reviews of at most ", options.sentences,
             " sentences; draw fewer rows or allow more sentences"),
      [&](const Random& random) { return write_document(random, options); },
      [](const LabelledText& row) { return std::vector{row.text}; });
  draw.notes.push_back(
      concat("built-in synthetic reviews, seed ", options.seed, ": ", options.counted("texts"),
             options.context ? ", words that mean what their thing makes of them" : ""));
  return draw;
}

}  // namespace fovea

#include "fovea/data/documents/synthetic.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/dice.h"

namespace fovea {

namespace {

constexpr double kSecondOwn = 0.3;

struct Judgement {
  const char* good;
  const char* bad;
};
// A template's {} becomes the judgement; it stands behind "it was", "we called it", …
constexpr Judgement kJudgements[] = {
    {"wonderful", "dreadful"}, {"brilliant", "dull"},      {"moving", "cold"},
    {"funny", "tiresome"},     {"thrilling", "boring"},    {"superb", "awful"},
    {"clever", "silly"},       {"charming", "irritating"}, {"gripping", "lifeless"},
    {"delightful", "tedious"}, {"convincing", "hollow"},   {"splendid", "miserable"}};

constexpr const char* kOwn[] = {"I found it{not} {}",
                                "To me it was{not} {}",
                                "I must say the acting was{not} {}",
                                "I thought the plot was{not} {}",
                                "For my part I call it{not} {}",
                                "In my eyes the ending is{not} {}"};

constexpr const char* kOthers[] = {
    "My brother found it {}",        "The critics called it {}",
    "Our neighbours said it was {}", "The poster promises something {}",
    "A friend told me it is {}",     "The papers thought it {}"};

constexpr const char* kFacts[] = {
    "We saw it on a rainy Sunday",      "It runs for about two hours",
    "The cinema was half empty",        "It was made in the nineties",
    "The story begins in a small town", "There are three parts of it by now",
    "I had read the book before",       "The music comes from a young composer",
    "Most of it was shot in winter",    "We sat in the last row"};

/// The template with `word` in the place of {}, and what `negated` asks for in that of {not}.
SyntheticSentence fill(std::string text, const char* word, bool negated, bool decides) {
  SyntheticSentence sentence;
  const auto put = [&](const std::string& place, const std::string& what) {
    const size_t at = text.find(place);
    if (at == std::string::npos) return;
    text.replace(at, place.size(), what);
    const auto begin = int64_t(at + (what.starts_with(' ') ? 1 : 0));
    if (decides && !what.empty()) sentence.decisive.push_back({begin, int64_t(at + what.size())});
  };
  put("{not}", negated ? " not" : "");
  put("{}", word);
  sentence.text = text + ".";
  return sentence;
}

SyntheticSentence own_judgement(Dice& dice, bool praise, double negated_share) {
  const char* text = dice.pick(kOwn);
  const bool negated = dice.chance(negated_share);
  const Judgement& judgement = dice.pick(kJudgements);
  return fill(text, praise != negated ? judgement.good : judgement.bad, negated, true);
}

SyntheticSentence distraction(Dice& dice) {
  if (dice.chance(0.5)) return {std::string(dice.pick(kFacts)) + "."};
  const char* text = dice.pick(kOthers);
  const Judgement& judgement = dice.pick(kJudgements);
  return fill(text, dice.chance(0.5) ? judgement.good : judgement.bad, false, false);
}

LabelledText write_text(const Random& random, const SyntheticTextsOptions& options) {
  Dice dice(random);
  const bool praise = dice.chance(0.5);
  const size_t sentences = 1 + dice.below(size_t(options.maximum_sentences));
  std::vector<SyntheticSentence> written{own_judgement(dice, praise, options.negated)};
  if (sentences > 2 && dice.chance(kSecondOwn))
    written.push_back(own_judgement(dice, praise, options.negated));
  while (written.size() < sentences)
    written.insert(written.begin() + int64_t(dice.below(written.size() + 1)), distraction(dice));
  return join_sentences(written, praise);
}

}  // namespace

void SyntheticTextsOptions::describe(OptionList& list) {
  describe_rows(list, "reviews");
  list.add("maximum_sentences", maximum_sentences, "built-in data: most sentences of a review")
      .within(1, 20);
  list.add("negated", negated, "built-in data: share of the judgements with a \"not\" in front")
      .within(0, 1);
  describe_seed(list, "reviews");
}

void answer_otherwise(AnswerKind kind, SplitRows<LabelledText>& rows) {
  constexpr int64_t kLong = 3;
  if (kind == AnswerKind::Class) return;
  rows.transform([kind](LabelledText& row) {
    const auto sentences = std::max<int64_t>(1, std::ranges::count(row.text, '.'));
    if (kind == AnswerKind::Number) {
      row.label = format_number((row.label == "praise" ? 1 : -1) / double(sentences), 4);
      return;
    }
    std::vector<std::string> labels{row.label};
    if (sentences >= kLong) labels.push_back("long");
    put_labels(std::move(labels), row);
  });
}

SplitRows<LabelledText> draw_texts(const SyntheticTextsOptions& options) {
  options.check_rows("reviews");
  require(options.maximum_sentences >= 1, ErrorKind::InvalidArgument,
          "a review has at least one sentence, not ", options.maximum_sentences);
  SplitRows<LabelledText> draw = draw_different(
      options, "opinions",
      concat("reviews of at most ", options.maximum_sentences,
             " sentences; draw fewer rows or raise maximum_sentences"),
      [&](const Random& random) { return write_text(random, options); },
      [](const LabelledText& row) { return std::vector{row.text}; });
  draw.notes.push_back(
      concat("built-in synthetic reviews, seed ", options.seed, ": ", options.counted("texts")));
  return draw;
}

}  // namespace fovea

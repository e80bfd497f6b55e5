#include "fovea/data/questions/synthetic.h"

#include <algorithm>
#include <span>

#include "fovea/base/error.h"
#include "fovea/data/dice.h"

namespace fovea {

namespace {

constexpr const char* kPeople[] = {"Anna",  "Ben",  "Clara", "David", "Emma",  "Felix",
                                   "Greta", "Hugo", "Irene", "Jonas", "Karin", "Leo"};
constexpr const char* kCities[] = {"Paris", "Rome",  "New York", "Oslo",      "Vienna",
                                   "Lima",  "Cairo", "Prague",   "Cape Town", "Lisbon"};
constexpr const char* kJobs[] = {"baker",  "teacher", "bus driver", "doctor",  "gardener",
                                 "sailor", "judge",   "head cook",  "painter", "nurse"};
constexpr const char* kPets[] = {"black cat", "small dog", "parrot",      "grey horse", "goldfish",
                                 "tortoise",  "rabbit",    "white mouse", "canary",     "hedgehog"};

/// {} becomes the person, [] the answer.
struct SyntheticFact {
  const char *sentence, *question;
  std::span<const char* const> answers;
};
const SyntheticFact kQuestionFacts[] = {
    {"{} lives in [].", "Where does {} live?", kCities},
    {"{} works as a [].", "What does {} work as?", kJobs},
    {"At home {} keeps a [].", "Which animal does {} keep?", kPets},
    {"Last summer {} went to [].", "Where did {} go last summer?", kCities},
};

std::string put_in(std::string text, const std::string& place, const std::string& what) {
  const size_t at = text.find(place);
  return at == std::string::npos ? text : text.replace(at, place.size(), what);
}

struct Told {
  size_t person, fact;
  bool operator==(const Told&) const = default;
};

QuestionRow write_question(const Random& random, const SyntheticQuestionsOptions& options) {
  Dice dice(random);
  const size_t count = 2 + dice.below(size_t(options.sentences) - 1);
  const bool impossible = dice.chance(options.impossible);
  std::vector<Told> told;
  while (told.size() < count + (impossible ? 1 : 0)) {
    const Told one{dice.below(std::size(kPeople)), dice.below(std::size(kQuestionFacts))};
    if (std::find(told.begin(), told.end(), one) == told.end()) told.push_back(one);
  }
  const size_t asked = impossible ? count : dice.below(count);
  QuestionRow row;
  for (size_t i = 0; i < count; ++i) {
    const SyntheticFact& fact = kQuestionFacts[told[i].fact];
    const std::string answer = dice.pick(fact.answers);
    std::string sentence = put_in(fact.sentence, "{}", kPeople[told[i].person]);
    if (i > 0) row.text += ' ';
    if (i == asked) row.answers.push_back({answer, int64_t(row.text.size() + sentence.find("[]"))});
    row.text += put_in(sentence, "[]", answer);
  }
  row.question =
      put_in(kQuestionFacts[told[asked].fact].question, "{}", kPeople[told[asked].person]);
  return row;
}

}  // namespace

void SyntheticQuestionsOptions::describe(OptionList& list) {
  describe_rows(list, "questions");
  list.add("sentences", sentences, "built-in data: most sentences of a text").within(2, 20);
  list.add("impossible", impossible, "built-in data: share of the questions without an answer")
      .at_least(0)
      .at_most(1);
  describe_seed(list, "questions");
}

SplitRows<QuestionRow> draw_questions(const SyntheticQuestionsOptions& options) {
  options.check_rows("questions");
  SplitRows<QuestionRow> draw = draw_different(
      options, "questions",
      concat("questions about at most ", options.sentences,
             " sentences; draw fewer rows or raise data.sentences"),
      [&](const Random& random) { return write_question(random, options); },
      [](const QuestionRow& row) { return std::vector{row.question + "\n" + row.text}; });
  draw.notes.push_back(concat("built-in synthetic questions, seed ", options.seed, ": ",
                              options.counted("questions")));
  return draw;
}

}  // namespace fovea

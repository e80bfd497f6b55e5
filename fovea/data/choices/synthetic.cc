#include "fovea/data/choices/synthetic.h"

#include <algorithm>
#include <span>

#include "fovea/base/error.h"
#include "fovea/data/dice.h"

namespace fovea {

namespace {

constexpr const char* kWanting[] = {"Anna",  "Ben",  "Clara", "David", "Emma",  "Felix",
                                    "Greta", "Hugo", "Irene", "Jonas", "Karin", "Leo"};
constexpr const char* kLooks[] = {"old", "new", "small", "large", "green", "plain"};

constexpr const char* kFood[] = {"bread", "soup", "apple", "cheese", "carrot", "pancake"};
constexpr const char* kClothes[] = {"coat", "scarf", "hat", "shirt", "jacket", "glove"};
constexpr const char* kReading[] = {"novel", "letter", "newspaper", "poem", "magazine", "diary"};
constexpr const char* kVehicles[] = {"lorry", "tractor", "bus", "van", "taxi", "motorcycle"};
constexpr const char* kInstruments[] = {"violin", "flute", "trumpet", "piano", "drum", "guitar"};
constexpr const char* kSeats[] = {"chair", "sofa", "bench", "stool", "cushion", "armchair"};

struct Purpose {
  const char* verb;
  std::span<const char* const> things;
};
const Purpose kPurposes[] = {{"eat", kFood},       {"wear", kClothes},     {"read", kReading},
                             {"drive", kVehicles}, {"play", kInstruments}, {"sit on", kSeats}};

/// Of so many things these, in the order they were drawn.
std::vector<size_t> draw_some(Dice& dice, size_t count, size_t of) {
  std::vector<size_t> drawn;
  while (drawn.size() < count) {
    const size_t one = dice.below(of);
    if (std::find(drawn.begin(), drawn.end(), one) == drawn.end()) drawn.push_back(one);
  }
  return drawn;
}

ChoiceRow write_row(const Random& random, const SyntheticChoicesOptions& options) {
  Dice dice(random);
  const size_t people = 1 + dice.below(size_t(options.people));
  const size_t count = 2 + dice.below(size_t(options.most_choices) - 1);
  const std::vector<size_t> names = draw_some(dice, people, std::size(kWanting));
  // The first purposes are those of the people, the rest of nobody.
  const std::vector<size_t> purposes =
      draw_some(dice, std::max(people, count), std::size(kPurposes));
  const size_t asked = dice.below(people);
  ChoiceRow row;
  for (size_t i = 0; i < people; ++i) {
    const std::string name = kWanting[names[i]], verb = kPurposes[purposes[i]].verb;
    if (i > 0) row.context += ' ';
    const auto begin = int64_t(row.context.size());
    row.context += name + " wants something to " + verb + ".";
    if (i != asked) continue;
    const auto end = int64_t(row.context.size()) - 1;
    row.decisive_context = {{begin, begin + int64_t(name.size())},
                            {end - int64_t(verb.size()), end}};
  }
  row.question = concat("What does ", kWanting[names[asked]], " take?");
  std::vector<size_t> offered{purposes[asked]};
  for (size_t i = 0; offered.size() < count; ++i)
    if (i != asked) offered.push_back(purposes[i]);
  row.answer = int64_t(dice.below(count));
  std::swap(offered[0], offered[size_t(row.answer)]);
  for (size_t i = 0; i < count; ++i) {
    const std::string thing = dice.pick(kPurposes[offered[i]].things);
    row.choices.push_back(concat("the ", dice.pick(kLooks), " ", thing));
    const auto size = int64_t(row.choices.back().size());
    if (int64_t(i) == row.answer) row.decisive_choice = {{size - int64_t(thing.size()), size}};
  }
  return row;
}

}  // namespace

void SyntheticChoicesOptions::describe(OptionList& list) {
  describe_rows(list, "questions");
  list.add("people", people, "built-in data: most people of a text").within(1, 6);
  list.add("most_choices", most_choices, "built-in data: most choices of a question").within(2, 6);
  describe_seed(list, "questions");
}

SplitRows<ChoiceRow> draw_choices(const SyntheticChoicesOptions& options) {
  options.check_rows("questions");
  SplitRows<ChoiceRow> draw = draw_different(
      options, "choices", "questions; draw fewer rows, or raise data.people or data.most_choices",
      [&](const Random& random) { return write_row(random, options); },
      [](const ChoiceRow& row) {
        return std::vector{row.context + "\n" + row.question + "\n" + join(row.choices, "\n")};
      });
  draw.notes.push_back(concat("built-in synthetic questions with choices, seed ", options.seed,
                              ": ", options.counted("questions")));
  return draw;
}

}  // namespace fovea

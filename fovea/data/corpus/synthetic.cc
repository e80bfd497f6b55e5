#include "fovea/data/corpus/synthetic.h"

#include <array>
#include <map>

#include "fovea/data/dice.h"

namespace fovea {

namespace {

using Words = std::vector<std::string>;

// name, pronoun, possessive
const std::array<std::array<const char*, 3>, 16> kPeople{{{"Anna", "she", "her"},
                                                          {"Omar", "he", "his"},
                                                          {"Lucia", "she", "her"},
                                                          {"Jonas", "he", "his"},
                                                          {"Mei", "she", "her"},
                                                          {"Ravi", "he", "his"},
                                                          {"Ingrid", "she", "her"},
                                                          {"Tomas", "he", "his"},
                                                          {"Amina", "she", "her"},
                                                          {"Pedro", "he", "his"},
                                                          {"Clara", "she", "her"},
                                                          {"Yusuf", "he", "his"},
                                                          {"Elena", "she", "her"},
                                                          {"Kofi", "he", "his"},
                                                          {"Nora", "she", "her"},
                                                          {"Viktor", "he", "his"}}};
// work, place, what is needed
const std::array<std::array<const char*, 3>, 8> kWork{{{"baker", "bakery", "flour"},
                                                       {"teacher", "school", "chalk"},
                                                       {"farmer", "field", "seed"},
                                                       {"tailor", "workshop", "thread"},
                                                       {"doctor", "clinic", "medicine"},
                                                       {"sailor", "harbour", "rope"},
                                                       {"painter", "studio", "paint"},
                                                       {"miner", "mine", "lamps"}}};
const Words kTowns{"Oslo",  "Cairo",  "Lima",  "Kyoto", "Lagos",
                   "Porto", "Dublin", "Quito", "Tunis", "Turin"};
const Words kAnimals{"cat", "dog", "goat", "parrot", "horse", "rabbit", "hen", "donkey"};
const Words kMeals{"bread", "rice", "soup", "fish", "beans", "cheese", "noodles", "apples"};
const Words kWeather{"rain", "snow", "wind", "sun", "fog"};

// One sentence of each time of day is taken.
const std::vector<Words> kDay{
    {"{name} is a {work} and lives in {town} with a {animal} .",
     "In {town} there lives a {work} called {name} , who has a {animal} ."},
    {"In the morning {name} feeds the {animal} and eats some {meal} .",
     "At dawn the {animal} wakes {name} , and {they} cooks {meal} ."},
    {"Then {they} walks through the {weather} to the {place} .",
     "The {weather} is strong in {town} , so {they} runs to the {place} ."},
    {"At the {place} a {work} needs {needed} .",
     "There {they} asks for {needed} , for a {work} has no work without it ."},
    {"At noon {name} shares {their} {meal} with a friend from {town} .",
     "For lunch there is {meal} again , and {name} is glad ."},
    {"In the afternoon the {weather} ends , and the {needed} is used up .",
     "Later {they} puts the {needed} away and leaves the {place} ."},
    {"In the evening {name} comes home , where the {animal} is waiting .",
     "When it gets dark , {they} looks for the {animal} all over {town} ."},
    {"At night {name} sleeps , and the {animal} sleeps beside {their} bed .",
     "Before {they} sleeps , {name} gives the {animal} the last of the {meal} ."}};

std::string fill(const std::string& pattern, const std::map<std::string, std::string>& facts) {
  std::string text;
  for (size_t at = 0; at < pattern.size();) {
    const size_t end = pattern[at] == '{' ? pattern.find('}', at) : std::string::npos;
    if (end == std::string::npos) {
      text += pattern[at++];
      continue;
    }
    text += facts.at(pattern.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return text;
}

Document draw_story(const Random& random) {
  Dice dice(random);
  const auto& person = dice.pick(kPeople);
  const auto& work = dice.pick(kWork);
  const std::map<std::string, std::string> facts{
      {"name", person[0]},         {"they", person[1]},
      {"their", person[2]},        {"work", work[0]},
      {"place", work[1]},          {"needed", work[2]},
      {"town", dice.pick(kTowns)}, {"animal", dice.pick(kAnimals)},
      {"meal", dice.pick(kMeals)}, {"weather", dice.pick(kWeather)}};
  Document sentences;
  for (const Words& patterns : kDay) sentences.push_back(fill(dice.pick(patterns), facts));
  return sentences;
}

std::vector<Document> draw_split(int64_t count, const Random& random) {
  std::vector<Document> stories;
  for (int64_t i = 0; i < count; ++i) stories.push_back(draw_story(random.split(uint64_t(i))));
  return stories;
}

}  // namespace

void SyntheticCorpusOptions::describe(OptionList& list) {
  describe_rows(list, "stories");
  describe_seed(list, "stories");
}

SplitRows<Document> draw_corpus(const SyntheticCorpusOptions& options) {
  options.check_rows("stories");
  const Random random = Random(uint64_t(options.seed)).split("stories");
  return {draw_split(options.rows, random.split("train")),
          draw_split(options.validation_rows, random.split("validation")),
          draw_split(options.test_rows, random.split("test"))};
}

}  // namespace fovea

#include "fovea/data/ratings/synthetic.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/dice.h"
#include "fovea/tensor/random.h"

namespace fovea {

namespace {

constexpr const char* kAspects[] = {"battery", "screen", "sound", "price"};
constexpr int64_t kAspectCount = std::size(kAspects);

/// Judgements of the qualities 1 … 5.
constexpr int64_t kQualities = 5;
constexpr const char* kJudgements[kQualities][2] = {{"dreadful", "awful"},
                                                    {"poor", "weak"},
                                                    {"ordinary", "average"},
                                                    {"good", "solid"},
                                                    {"superb", "brilliant"}};

// The first {} becomes the judgement, the second the aspect.
constexpr const char* kOpinions[] = {"It has a {} {}.", "I noticed the {} {} at once.",
                                     "What matters to me: a {} {}.", "A {} {}, if you ask me."};
constexpr const char* kFacts[] = {"It came on a rainy Monday.", "I bought it for my brother.",
                                  "The box was blue.",          "This is my second one.",
                                  "We use it in the kitchen.",  "The parcel took nine days.",
                                  "I have had it since spring."};

class Market {
 public:
  Market(const SyntheticRatingsOptions& options, const Random& random) : options_(options) {
    for (int64_t user = 0; user < options.users; ++user) {
      std::vector<int64_t> aspects =
          random.split("users").split(uint64_t(user)).permutation(kAspectCount);
      aspects.resize(size_t(options.cares));
      cares_.push_back(std::move(aspects));
    }
    const Random qualities = random.split("items");
    for (int64_t item = 0; item < options.items; ++item) {
      qualities_.emplace_back();
      for (int64_t aspect = 0; aspect < kAspectCount; ++aspect)
        qualities_.back().push_back(
            int64_t(qualities.below(uint64_t(item * kAspectCount + aspect), kQualities)));
    }
  }

  const std::vector<int64_t>& cares(int64_t user) const { return cares_[size_t(user)]; }

  double rating(int64_t user, int64_t item) const {
    double sum = 0;
    for (const int64_t aspect : cares(user)) sum += 1 + double(quality(item, aspect));
    return sum / double(options_.cares);
  }

  std::string write(int64_t user, int64_t item, Dice dice) const {
    std::vector<std::string> sentences;
    sentences.push_back(dice.chance(options_.chatter) ? std::string(dice.pick(kFacts))
                                                      : opinion(user, item, dice));
    if (dice.chance(0.5)) sentences.push_back(dice.pick(kFacts));
    if (dice.chance(0.5)) std::reverse(sentences.begin(), sentences.end());
    return join(sentences, " ");
  }

 private:
  int64_t quality(int64_t item, int64_t aspect) const {
    return qualities_[size_t(item)][size_t(aspect)];
  }

  std::string opinion(int64_t user, int64_t item, Dice& dice) const {
    const int64_t aspect = dice.pick(cares(user));
    std::string text = dice.pick(kOpinions);
    text.replace(text.find("{}"), 2, dice.pick(kJudgements[quality(item, aspect)]));
    return text.replace(text.find("{}"), 2, kAspects[aspect]);
  }

  const SyntheticRatingsOptions& options_;
  std::vector<std::vector<int64_t>> cares_;      // of each user: aspects
  std::vector<std::vector<int64_t>> qualities_;  // of each item and aspect: 0 … 4
};

std::string numbered(const char* what, int64_t number) {
  return concat(what, "-", number + 1);
}

}  // namespace

void SyntheticRatingsOptions::describe(OptionList& list) {
  list.add("users", users, "built-in data: number of users").at_least(2).at_most(100000);
  list.add("items", items, "built-in data: number of items").at_least(2).at_most(100000);
  list.add("ratings_each", ratings_each,
           "built-in data: ratings of each user; the last is for the test, the one before it for "
           "validation")
      .at_least(3)
      .at_most(1000);
  list.add("cares", cares, "built-in data: aspects that a user cares about")
      .at_least(1)
      .at_most(double(kAspectCount) - 1);
  list.add("chatter", chatter, "built-in data: share of the reviews that judge nothing")
      .at_least(0)
      .at_most(1);
  list.add("seed", seed,
           "built-in data: seed of the reviews; the training seed does not change them")
      .at_least(0);
}

SyntheticRatings draw_ratings(const SyntheticRatingsOptions& options) {
  require(options.users >= 2 && options.items >= 2 && options.ratings_each >= 3,
          ErrorKind::InvalidArgument, "reviews of ", options.users, " users on ", options.items,
          " items, ", options.ratings_each, " each, cannot be drawn; at least 2, 2 and 3 can");
  require(options.ratings_each <= options.items, ErrorKind::InvalidArgument,
          "data.ratings_each=", options.ratings_each, " is more than there are items, ",
          options.items, "; nobody rates an item twice");
  require(options.cares >= 1 && options.cares < kAspectCount, ErrorKind::InvalidArgument,
          "data.cares=", options.cares, " is not in 1 … ", kAspectCount - 1);
  const Random random = Random(uint64_t(options.seed)).split("tastes");
  const Market market(options, random);
  SyntheticRatings draw;
  for (const auto& judgements : kJudgements)
    draw.truth.judgements.insert(std::begin(judgements), std::end(judgements));
  for (int64_t user = 0; user < options.users; ++user) {
    const std::string name = numbered("user", user);
    for (const int64_t aspect : market.cares(user))
      draw.truth.aspects[name].push_back(kAspects[aspect]);
    const Random own = random.split("reviews").split(uint64_t(user));
    const std::vector<int64_t> items = own.split("items").permutation(options.items);
    for (int64_t i = 0; i < options.ratings_each; ++i) {
      const int64_t item = items[size_t(i)];
      const int split = i + 1 == options.ratings_each   ? kTest
                        : i + 2 == options.ratings_each ? kValidation
                                                        : kTrain;
      draw.reviews[split].push_back({name, numbered("item", item), market.rating(user, item),
                                     market.write(user, item, Dice(own.split(uint64_t(i)))),
                                     double(i)});
    }
  }
  draw.reviews.notes.push_back(concat(
      "built-in synthetic reviews, seed ", options.seed, ": ", format_count(options.users),
      " users rate ", options.ratings_each, " of ", format_count(options.items), " items each"));
  return draw;
}

}  // namespace fovea

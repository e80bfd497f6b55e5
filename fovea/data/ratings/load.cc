#include "fovea/data/ratings/load.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/ratings/split.h"
#include "fovea/data/tokenisers/word_vectors.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

using Reviews = SplitRows<Review>;

RatingTruth rating_truth(const fs::path& source) {
  RatingTruth planted;
  with_truth(source, "ratings", [&](const Field& truth) {
    planted = RatingTruth::from_json(truth.value(), truth.place());
  });
  return planted;
}

/// Where the data does not say which review is in which split.
void split_reviews(Reviews& rows, const RatingsDataOptions& options, uint64_t seed) {
  const bool have_times = std::all_of(rows.train.begin(), rows.train.end(),
                                      [](const Review& review) { return review.time.has_value(); });
  if (options.split == "time" || (options.split == "auto" && have_times))
    split_by_time(rows);
  else
    split_at_random(rows, {options.validation_fraction, options.test_fraction}, seed);
}

Reviews read_rows(const DataSource& source, const RatingsDataOptions& options,
                  ReviewReading reading, bool needs_training, uint64_t seed) {
  const SplitOptions split{"ratings", options.validation_fraction, seed, needs_training};
  ReviewsOptions how;
  how.quotes = options.quotes;
  how.needs_text = needs_training && reading != ReviewReading::Nothing;
  how.reads_split = options.split == "auto" || source.whole;
  Reviews rows = open_reviews(source, split, how);
  if (const int64_t dropped = drop_repeated(rows); dropped > 0)
    rows.notes.push_back(concat(format_count(dropped),
                                " further reviews of the same user on the same item were left "
                                "out: the first counts"));
  if (!rows.given && !source.whole) split_reviews(rows, options, seed);
  return rows;
}

/// The scale that was asked for, or that of all ratings: it is a fact about the data, and a split
/// that happens to lack the lowest rating has the same one.
void fit_scale(const Reviews& rows, const RatingsDataOptions& options, RatingCoding& coding) {
  require(options.lowest <= options.highest, ErrorKind::InvalidArgument,
          "data.lowest=", options.lowest, " is above data.highest=", options.highest);
  coding.lowest = options.lowest;
  coding.highest = options.highest;
  if (options.lowest != 0 || options.highest != 0) return;
  coding.lowest = coding.highest = rows.train[0].rating;
  rows.for_each([&](const Review& review, Split) {
    coding.lowest = std::min(coding.lowest, review.rating);
    coding.highest = std::max(coding.highest, review.rating);
  });
}

void check_scale(const Reviews& rows, const RatingCoding& coding) {
  rows.for_each([&](const Review& review, Split) {
    require(review.rating >= coding.lowest && review.rating <= coding.highest, ErrorKind::BadData,
            review.place, ": the rating ", review.rating, " lies outside the scale ", coding.lowest,
            " to ", coding.highest,
            "; correct it, or train with other data.lowest and data.highest");
  });
}

void fit_coding(const Reviews& rows, const RatingsDataOptions& options, ReviewReading reading,
                RatingCoding& coding) {
  fit_scale(rows, options, coding);
  double sum = 0;
  for (const Review& review : rows.train) sum += review.rating;
  coding.mean = sum / double(rows.train.size());
  const HistoryLimits limits = options.limits(reading);
  const int64_t longest =
      reading == ReviewReading::Nothing ? 0 : std::min(limits.words, limits.document_words);
  auto store = std::make_shared<ReviewStore>(rows.train.kept(), longest);
  coding.vocabulary = std::make_shared<const Vocabulary>(Vocabulary::from_counts(
      store->count_words(), options.minimum_count, options.vocabulary_size));
  store->number_words(*coding.vocabulary);
  coding.store = std::move(store);
}

void note_counts(const RatingDataset& rows, const RatingsDataOptions& options,
                 ReviewReading reading, const char* split, Notes& notes) {
  const RatingCounts& counts = rows.counts();
  const auto share = [&](int64_t count) {
    return concat(format_count(count), " of ", format_count(rows.size()), " ", split, " rows");
  };
  if (counts.cut_rows > 0)
    notes.push_back(
        concat(share(counts.cut_rows), " do not see everything: ", format_count(counts.cut_reviews),
               " reviews and ", format_count(counts.cut_words), " words lie beyond ",
               reading == ReviewReading::Document
                   ? concat("data.document_words=", options.document_words)
                   : concat("data.reviews=", options.reviews, " and data.words=", options.words)));
  if (counts.unknown_users > 0)
    notes.push_back(concat(share(counts.unknown_users), " have a user without training reviews"));
  if (counts.unknown_items > 0)
    notes.push_back(concat(share(counts.unknown_items), " have an item without training reviews"));
  if (counts.without_history > 0)
    notes.push_back(concat(share(counts.without_history),
                           " have a side with nothing to read: the biases alone answer"));
}

std::string fit_note(const Reviews& rows, const RatingCoding& coding, ReviewReading reading) {
  const auto empty = std::count_if(rows.train.begin(), rows.train.end(),
                                   [](const Review& review) { return trim(review.text).empty(); });
  const bool reads = reading != ReviewReading::Nothing;
  return concat(format_count(coding.store->users()), " users, ",
                format_count(coding.store->items()), " items, ratings from ", coding.lowest, " to ",
                coding.highest, ", mean ", format_number(coding.mean, 4),
                reads ? concat(", ", format_count(coding.vocabulary->size()), " words") : "",
                reads && empty > 0
                    ? concat("; ", format_count(empty), " training reviews have no text")
                    : "");
}

}  // namespace

void RatingsDataOptions::describe(OptionList& list, ReviewReading reading) {
  generator.describe(list);
  list.add("split", split,
           "auto: as the files or a split column say, else by time where every review has one, "
           "else at random; time: each user's last review is for the test, the one before it for "
           "validation; random")
      .choices({"auto", "time", "random"});
  describe_share(list, "validation_fraction", validation_fraction,
                 "share of the reviews held out where nothing else decides");
  describe_share(list, "test_fraction", test_fraction,
                 "likewise for the test, of one file split at random");
  list.add("lowest", lowest, "lowest rating of the scale; 0 for both: as the data has it");
  list.add("highest", highest, "highest rating of the scale");
  describe_quotes(list, quotes);
  if (reading == ReviewReading::Nothing) return;
  if (reading == ReviewReading::Reviews) {
    list.add("reviews", reviews, "most reviews that are read of a user and of an item")
        .at_least(1)
        .at_most(1000);
    list.add("words", words, "most words that are read of a review").at_least(1).at_most(10000);
  } else {
    list.add("document_words", document_words,
             "most words that are read of all reviews of a user, and of an item")
        .at_least(1)
        .at_most(100000);
  }
  list.add("minimum_count", minimum_count, "words that training saw less often are unknown")
      .at_least(1);
  list.add("vocabulary_size", vocabulary_size, "most words; the rarest are unknown; 0: no limit")
      .at_least(0);
  list.add("vectors", vectors, kVectorsHelp);
}

HistoryLimits RatingsDataOptions::limits(ReviewReading reading) const {
  HistoryLimits limits;
  if (reading == ReviewReading::Nothing) limits.reviews = 0;
  if (reading == ReviewReading::Reviews) limits.reviews = reviews, limits.words = words;
  if (reading == ReviewReading::Document) limits.document_words = document_words;
  return limits;
}

Json RatingCoding::to_json() const {
  return {{"lowest", lowest},
          {"highest", highest},
          {"mean", mean},
          {"vocabulary", vocabulary->to_json()}};
}

RatingCoding RatingCoding::from_json(const Json& json, ReviewStore store,
                                     const std::string& where) {
  RatingCoding coding;
  const Field root = Field::root(json, where);
  coding.lowest = root.at("lowest").finite();
  coding.highest = root.at("highest").finite();
  coding.mean = root.at("mean").finite();
  coding.vocabulary = std::make_shared<const Vocabulary>(
      Vocabulary::from_json(root.at("vocabulary").value(), where));
  require(coding.lowest <= coding.highest, ErrorKind::BadData, where, ": the scale ", coding.lowest,
          " to ", coding.highest, " cannot be");
  store.number_words(*coding.vocabulary);
  coding.store = std::make_shared<const ReviewStore>(std::move(store));
  return coding;
}

Splits load_ratings(const DataSource& source, const RatingsDataOptions& options,
                    ReviewReading reading, RatingCoding& coding, uint64_t seed) {
  SyntheticRatings ratings;
  if (source.path.empty()) {
    check_roles(source, {});
    ratings = draw_ratings(options.generator);
    ratings.reviews.hash = hash_of_built_in("ratings", options_json(options.generator));
  } else {
    ratings = {read_rows(source, options, reading, !coding.fitted(), seed),
               rating_truth(source.path)};
  }
  const auto truth = std::make_shared<const RatingTruth>(std::move(ratings.truth));
  const auto fit = [&](const Reviews& rows, Notes& notes) {
    if (!coding.fitted()) {
      require(!rows.train.empty(), ErrorKind::BadData, source.path.string(),
              ": no review is left to learn from");
      fit_coding(rows, options, reading, coding);
      notes.push_back(fit_note(rows, coding, reading));
    }
    check_scale(rows, coding);
  };
  const auto encode = [&](const Rows<Review>& rows, Split split, Notes& notes) {
    auto data = std::make_shared<RatingDataset>(rows.kept(),
                                                coding.encoder(options.limits(reading)), truth);
    note_counts(*data, options, reading, kSplitNames[split], notes);
    return data;
  };
  return encode_splits(ratings.reviews, fit, encode);
}

void write_ratings_data(const fs::path& folder, const RatingsDataOptions& options) {
  const SyntheticRatings ratings = draw_ratings(options.generator);
  write_splits(folder, ratings.reviews, ".tsv", [](const std::vector<Review>& rows) {
    std::string content = "user\titem\trating\ttime\ttext\n";
    for (const Review& review : rows)
      content += concat(review.user, "\t", review.item, "\t", format_exact(review.rating), "\t",
                        format_exact(review.time.value_or(0)), "\t", review.text, "\n");
    return content;
  });
  write_description(folder, "ratings", options_json(options.generator),
                    {{"truth", ratings.truth.to_json()}});
}

}  // namespace fovea

// The data of the task `ratings`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/data/ratings/encoder.h"
#include "fovea/data/ratings/synthetic.h"
#include "fovea/data/source.h"

namespace fovea {

/// What a model reads of the reviews: nothing, each review for itself, or all of a side as one
/// document.
enum class ReviewReading { Nothing, Reviews, Document };

/// Everything under data. for this task.
struct RatingsDataOptions {
  SyntheticRatingsOptions generator;
  std::string split = "auto";
  double validation_fraction = 0.1;
  double test_fraction = 0.1;
  double lowest = 0, highest = 0;  // both 0: as the data has it
  std::string quotes = "auto";
  int64_t reviews = 20;
  int64_t words = 30;
  int64_t document_words = 200;
  int64_t minimum_count = 2;
  int64_t vocabulary_size = 20000;
  std::string vectors;  // file of word_vectors.h, or empty
  /// Those that a model which reads so has.
  void describe(OptionList& list, ReviewReading reading);
  HistoryLimits limits(ReviewReading reading) const;
};

/// What is learned from the data and kept in the run.
struct RatingCoding {
  double lowest = 0, highest = 0;  // the scale
  double mean = 0;                 // of the training ratings
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const ReviewStore> store;

  bool fitted() const { return store != nullptr; }
  RatingEncoder encoder(const HistoryLimits& limits) const { return {store, vocabulary, limits}; }
  Json to_json() const;  // without the reviews
  /// `store` is one whose words have no numbers yet. BadData, beginning with `where`.
  static RatingCoding from_json(const Json& json, ReviewStore store, const std::string& where);
};

/// Reads a file or folder (reader.h), or draws synthetic reviews. A first call finds
/// the scale and the vocabulary, and keeps the training reviews; inputs of all splits, and of later
/// calls, are made of these. BadData, with the line, for a rating outside the scale.
Splits load_ratings(const DataSource& source, const RatingsDataOptions& options,
                    ReviewReading reading, RatingCoding& coding, uint64_t seed);

/// Writes the synthetic data as train.tsv, val.tsv, test.tsv and dataset.json, which holds the
/// planted truth: loading the folder gives the same rows.
void write_ratings_data(const std::filesystem::path& folder, const RatingsDataOptions& options);

}  // namespace fovea

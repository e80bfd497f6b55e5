// What all models share that predict how a user rates an item:
//   rating    r = m + b_u + b_i + t     m: mean of the training ratings, biases of user and item,
//                                       t: the model's own term, 0 where user or item have nothing
//                                       to make it of
//   loss      mean over the rows of (r - rating)^2, plus `l2` times the sum of all squared weights,
//             plus `bias_l2` / n times that of all squared biases, n being the number of training
//             ratings: a bias behind which k ratings stand is k / (k + bias_l2) of what they say
//   answer    r, within the scale where `clip` asks for that
// A user or item that training never saw (number 0) has no bias and no reviews, so m is left.
// Without `biases` r is t, and m where there is no t.
#pragma once

#include <optional>
#include <string>

#include "fovea/attention/attend.h"
#include "fovea/base/options.h"
#include "fovea/models/model.h"

namespace fovea {

/// What the data decides.
struct RatingShape {
  int64_t users = 0, items = 0;  // that training knows; their numbers begin at 1
  int64_t words = 0;             // of the vocabulary; 0 is padding
  double mean = 0;               // of the training ratings
  double lowest = 0, highest = 0;
  int64_t ratings = 1;  // to learn from
};

struct RatingOptions {
  bool biases = true;
  double bias_l2 = 0;
  double bias_rate = 1;  // share of the learning rate
  double l2 = 0;
  bool clip = true;
};

/// Of models that read reviews; they add their own options.
struct ReadingOptions : RatingOptions {
  // A bias gets few steps, and wants larger ones than a network.
  ReadingOptions() : RatingOptions{.bias_l2 = 5, .bias_rate = 10} {}
  void describe(OptionList& list);
};

class RatingModel : public Model {
 public:
  RatingModel(const RatingOptions& options, const RatingShape& shape);

  Loss loss(const Batch& batch, const StepContext& context) override;
  /// values [B, 1]
  Predictions predict(const Batch& batch) const override;
  /// [B, 1], not clipped: a gradient at the end of the scale is still one.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;
  ParameterRule rule_of(const std::string& name) const override;
  /// Of a model that reads: word vectors from elsewhere take the place of its first ones where
  /// `known`. [words, embedding], bool [words].
  void take_vectors(const at::Tensor& vectors, const at::Tensor& known);

 protected:
  /// t, and in which rows both user and item have what it is made of: [B] and bool [B].
  struct OwnTerm {
    at::Tensor rating, known;
  };
  /// Nothing where the model has no term of its own.
  virtual std::optional<OwnTerm> own_term(const Batch& batch, const Random* random,
                                          Tap* tap) const = 0;
  void initialise_biases();
  /// For summary(); nothing without biases.
  void summarise_biases(std::vector<LayerSummary>& layers) const;
  const RatingShape& shape() const { return shape_; }
  bool has_biases() const { return user_bias_.defined(); }
  /// Rows of a table [N + 1, …] whose row 0, of who is not known, counts as 0: [B, …].
  static at::Tensor known_rows(const at::Tensor& table, const at::Tensor& numbers);

 private:
  at::Tensor ratings(const Batch& batch, const Random* random, Tap* tap) const;  // [B]
  at::Tensor penalty() const;

  RatingOptions options_;
  RatingShape shape_;
  at::Tensor mean_;       // [1], learned too: with biases the best constant is another one
  at::Tensor user_bias_;  // [users + 1]
  at::Tensor item_bias_;  // [items + 1]
};

/// The words of all reviews of one side, embedded.
struct SideWords {
  at::Tensor vectors;     // [B, K, E], 0 at padding
  at::Tensor keep;        // bool [B, K]
  at::Tensor known;       // bool [B]: the side has words
  bool reported = false;  // there is a tap, and something to tell it
};

/// `side` is "user" or "item", `table` [V, E] the embeddings. The vectors are the tap's leaf of the
/// axis "user words" or "item words".
SideWords embed_side(const Batch& batch, const std::string& side, const at::Tensor& table,
                     Tap* tap);

/// The weights to go on with: where the words were reported, what the tap makes of weights
/// [B, H, 1, N] of the map called `map`.
at::Tensor report_weights(const SideWords& words, const at::Tensor& weights, const MapLabel& map,
                          MapKind kind, Tap* tap);

}  // namespace fovea

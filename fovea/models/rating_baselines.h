// Ratings without reading, against which every model that reads has to be held:
//   mean     r = m
//   biases   r = m + b_u + b_i                         Koren et al. 2009, equation 3
//   mf       r = m + b_u + b_i + p_u . q_i             matrix factorisation, equation 4 there
// Factors are held back like biases: by l2 / n times their squares.
#pragma once

#include "fovea/models/rating_model.h"

namespace fovea {

struct RatingBaselineOptions {
  std::string name = "mf";
  int64_t factors = 8;
  double l2 = 5;
  bool clip = true;
  void describe(OptionList& list);
};

class RatingBaseline : public RatingModel {
 public:
  RatingBaseline(RatingBaselineOptions options, const RatingShape& shape);

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;

 protected:
  /// p_u . q_i
  std::optional<OwnTerm> own_term(const Batch& batch, const Random* random,
                                  Tap* tap) const override;

 private:
  RatingBaselineOptions options_;
  at::Tensor user_factors_;  // [users + 1, F]
  at::Tensor item_factors_;  // [items + 1, F]
};

}  // namespace fovea

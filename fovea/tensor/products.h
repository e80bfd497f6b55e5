// What the weights of attention are made of, where scores are dot products of a query and a key.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

/// A number that is added to the scores of a row besides the dot product: T5's relative positions,
/// ALiBi's penalty.
struct ScoreTerm {
  std::string name;
  at::Tensor values;  // [K]
};

/// How dot products made one row of weights:
///   scores = scale keys query + terms, weights = normalise(scores where keep) times the factor
struct ProductRow {
  at::Tensor query;  // [D], turned by its position where the network does that
  at::Tensor keys;   // [K, D], as the score function prepared them, turned likewise
  double scale = 1;
  std::vector<ScoreTerm> terms = {};
  at::Tensor keep;             // bool [K]: may be looked at
  at::Tensor factor = {};      // [K], local-p's Gaussian; may be undefined
  std::string normaliser;      // "softmax"
  at::Tensor scores, weights;  // double [K]
};

/// The queries and keys behind a map whose scores are dot products, kept for a tap that wants them
/// (Tap::want_products).
class ProductSource {
 public:
  virtual ~ProductSource() = default;
  virtual ProductRow row(int64_t example, int64_t head, int64_t query) const = 0;
};

/// A row over `count` keys that has the row's keys `kept` (int64 [k]) at `columns` (int64 [k]); the
/// others are hidden.
ProductRow spread_keys(ProductRow row, const at::Tensor& kept, const at::Tensor& columns,
                       int64_t count);

}  // namespace fovea

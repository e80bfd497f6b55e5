// How one weight came about, where scores are dot products of a query and a key:
//   score = scale sum_d query_d key_d + terms (relative positions, distance)
//   weight = softmax of the row's scores, or another normaliser of them
// by dimension, and what each dimension does over the whole row:
//   lift_d = scale query_d (sum_j a_j key_jd - mean_j key_jd), j over the keys that may be seen:
//   by how much d raises the score of what is looked at over that of a key as it comes. Lifts sum
//   to the same difference of the scores without their terms.
#pragma once

#include "fovea/explain/record/explanation.h"

namespace fovea {

/// Which weight: of a map, a layer of it (0: there is only one), a head (from 1; 0: likewise).
struct WeightPlace {
  std::string map;  // empty: the only one that has queries and keys
  int64_t layer = 0, head = 0;
  int64_t query = 0, key = 0;  // units, from 0
};

struct QueryKey {
  WeightPlace place;  // complete
  std::string title;  // of the map
  std::string query_label, key_label;
  std::vector<double> query, key, product;  // by dimension, without the scale
  double scale = 1, dot = 0;                // dot: the sum of the products
  std::vector<std::pair<std::string, double>> terms;
  bool visible = true;                  // a mask may hide the key
  std::string normaliser;               // "softmax"
  double score = 0, weight = 0;         // as in the map
  double factor = 1;                    // local-p's Gaussian on the normalised weight
  std::vector<double> scores, weights;  // of the whole row, by key; a hidden key's score is NaN
  std::vector<double> lift;             // by dimension
};

/// Whether there are queries and keys behind a view of that map: of one head.
bool has_products(const Tap& tap, const AttentionMap& map, int64_t head);

/// Replays the prediction and takes the row. Errors say what there is: NotFound for a map or layer,
/// InvalidArgument for a head, query or key, Unsupported where weights are not made of dot
/// products.
QueryKey explain_weight(const Predictor& predictor, const Example& example,
                        const Prediction& prediction, const WeightPlace& place,
                        const ExplainOptions& options = {});

Json query_key_to_json(const QueryKey& made);

/// The products as bars, a dimension each, for pictures; the `most` largest and the sum of the
/// rest.
MapView products_view(const QueryKey& made, size_t most);

/// Dimensions in the order of their magnitude.
std::vector<size_t> largest_first(const std::vector<double>& numbers);

}  // namespace fovea

// How an encoder that was trained before goes on learning: parts of it stay as they are, and lower
// layers change less than higher ones (Howard and Ruder 2018). Depth counts from below: 0 the
// embeddings, k the k-th layer, one more than there are layers for all that stands above.
//   rate = 0                                where depth < freeze
//          layer_decay ^ (layers + 1 - depth)    elsewhere
// Biases and norms are not decayed.
#pragma once

#include <string>

#include "fovea/base/options.h"
#include "fovea/models/model.h"

namespace fovea {

struct FineTuningOptions {
  int64_t freeze = 0;
  double layer_decay = 1;
  void describe(OptionList& list);

  /// InvalidArgument when there is less to freeze.
  void check(int64_t layers) const;
  /// For the parameter called `name` of a model that keeps a BertEncoder of so many layers under
  /// `encoder` ("encoder.").
  ParameterRule rule_of(const std::string& name, const std::string& encoder, int64_t layers) const;
};

}  // namespace fovea

// Synthetic sentences for the task `tag`: names of persons, places, organisations and products.
// Some names say themselves what they are ("Nurse Okafor", "Lake Tarn"); others can be anything,
// and a single word beside them decides: in "the harbour of Jordan" a place, in "the battery of
// Jordan" a product. Everything else in a clause is the same for all four types, so the word that
// decides is known, and a model that looks at it reaches 100 %, one that only knows the names
// cannot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/draw.h"
#include "fovea/data/tags/reader.h"

namespace fovea {

struct SyntheticTagsOptions : DrawOptions {
  SyntheticTagsOptions() : DrawOptions{4000, 500, 500} {}
  int64_t maximum_clauses = 3;
  double ambiguous = 0.7;  // share of the names that only their clause explains
  void describe(OptionList& list);
};

/// Decisive is, of a word of an ambiguous name, the word that tells its type. All sentences are
/// different, so none is in two splits. InvalidArgument when there are not as many.
SplitRows<TaggedSentence> draw_tags(const SyntheticTagsOptions& options);

}  // namespace fovea

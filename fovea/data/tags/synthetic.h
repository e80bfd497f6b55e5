// Built-in sentences for the task `tag`: names of persons, places, organisations and products. Some
// names say themselves what they are ("Nurse Okafor", "Lake Tarn"); others can be anything, and a
// single word beside them decides: in "the harbour of Jordan" a place, in "the battery of Jordan" a
// product. Everything else in a clause is the same for all four types, so the word that decides is
// known, and a model that looks at it reaches 100 %, one that only knows the names cannot.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/draw.h"
#include "fovea/data/tags/reader.h"

namespace fovea {

struct TagsOptions : DrawOptions {
  TagsOptions() : DrawOptions{4000, 500, 500} {}
  int64_t maximum_clauses = 3;
  double ambiguous = 0.7;  // share of the names that only their clause explains
  void describe(OptionList& list);
};

struct TagsRow {
  TaggedSentence sentence;                            // tags in IOB2
  std::vector<std::pair<int64_t, int64_t>> decisive;  // a word of an ambiguous name, and the word
                                                      // that decides its type
};

using TagsDraw = SplitRows<TagsRow>;

/// All sentences are different, so none is in two splits. InvalidArgument when there are not as
/// many.
TagsDraw draw_tags(const TagsOptions& options);

}  // namespace fovea

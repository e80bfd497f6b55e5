// Synthetic questions with choices: some people each want something for a purpose, and one of them
// takes a thing. Of the choices, one serves that person's purpose, and another, where there are
// several people, that of somebody else. Decisive are the purpose of the one who is asked for, the
// name beside it, and the thing.
#pragma once

#include "fovea/data/choices/reader.h"
#include "fovea/data/draw.h"

namespace fovea {

struct SyntheticChoicesOptions : DrawOptions {
  SyntheticChoicesOptions() : DrawOptions{4000, 500, 500} {}
  int64_t people = 1;        // at most; with more, names must be found again
  int64_t most_choices = 5;  // rows have 2 to so many
  void describe(OptionList& list);
};

/// All questions are different. InvalidArgument when there are not as many.
SplitRows<ChoiceRow> draw_choices(const SyntheticChoicesOptions& options);

}  // namespace fovea

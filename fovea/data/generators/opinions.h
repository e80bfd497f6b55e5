// Built-in texts for the task `documents`: short reviews, each praise or blame. What the writer
// says in the first person decides ("I found it dull", "I was not bored"); what others say of it,
// and plain facts, stand around it and decide nothing. The words that decide are known: the
// writer's own judgement, and the "not" in front of it. A model that only counts kind words goes
// wrong, one that sees who judges reaches 100 %.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/core/attention_map.h"
#include "fovea/core/options.h"

namespace fovea {

struct OpinionsOptions {
  int64_t rows = 4000;  // training rows
  int64_t validation_rows = 500;
  int64_t test_rows = 500;
  int64_t maximum_sentences = 4;
  double negated = 0.15;  // share of the judgements with a "not"
  int64_t seed = 1;       // of the data; the training seed does not change them
  void describe(OptionList& list);
};

struct Opinion {
  std::string text;
  bool praise = false;
  std::vector<Span> decisive;  // the words that decide, in the order of the text
};

struct OpinionsDraw {
  std::vector<Opinion> train, validation, test;
};

/// "blame" or "praise".
const char* label_of(const Opinion& opinion);

/// All texts are different, so none is in two splits. InvalidArgument when there are not as many.
OpinionsDraw draw_opinions(const OpinionsOptions& options);

}  // namespace fovea

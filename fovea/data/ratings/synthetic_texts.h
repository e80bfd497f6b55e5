// Built-in texts for the task `documents`: short reviews, each praise or blame. What the writer
// says in the first person decides ("I found it dull", "I was not bored"); what others say of it,
// and plain facts, stand around it and decide nothing. The words that decide are known: the
// writer's own judgement, and the "not" in front of it. A model that only counts kind words goes
// wrong, one that sees who judges reaches 100 %.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/draw.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

struct OpinionsOptions : DrawOptions {
  OpinionsOptions() : DrawOptions{4000, 500, 500} {}
  int64_t maximum_sentences = 4;
  double negated = 0.15;  // share of the judgements with a "not"
  void describe(OptionList& list);
};

struct Opinion {
  std::string text;
  bool praise = false;
  std::vector<Span> decisive;  // the words that decide, in the order of the text
};

using OpinionsDraw = SplitRows<Opinion>;

/// "blame" or "praise".
const char* label_of(const Opinion& opinion);

/// All texts are different, so none is in two splits. InvalidArgument when there are not as many.
OpinionsDraw draw_opinions(const OpinionsOptions& options);

}  // namespace fovea

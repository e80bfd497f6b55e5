// Built-in texts for hierarchical models of the task `documents`: evenings in a restaurant, each
// praise or blame. One or two sentences hold the writer's own verdict and decide; in them, one word
// does ("After so many kind reports the soup was dreadful"). All else decides nothing: facts, and
// what others say, in the same kind and unkind words. So it is known which sentences matter, and
// which words in them.
// With `context` no word is kind or unkind by itself: cold beer and warm soup are praise, warm beer
// and cold soup blame (the argument of Yang et al. 2016 for attention that sees the context). Then
// the thing decides together with the word for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/draw.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

struct VerdictsOptions : DrawOptions {
  VerdictsOptions() : DrawOptions{4000, 500, 500} {}
  int64_t sentences = 8;  // at most
  bool context = false;
  void describe(OptionList& list);
};

struct Verdict {
  std::string text;
  bool praise = false;
  std::vector<Span> decisive;  // the words that decide, in the order of the text
};

using VerdictsDraw = SplitRows<Verdict>;

/// "blame" or "praise".
const char* label_of(const Verdict& verdict);

/// All texts are different, so none is in two splits. InvalidArgument when there are not as many.
VerdictsDraw draw_verdicts(const VerdictsOptions& options);

}  // namespace fovea

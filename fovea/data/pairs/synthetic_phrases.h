// Built-in pairs for the task `translate`: a small grammar of English sentences and their German
// translations, with the words that belong together as links. German asks for what English does
// not have: gender and case on determiners and adjectives, the verb in second place behind a
// fronted time, at the end of a clause with weil, and in two pieces for past and future. Each
// English sentence has exactly one translation, so a perfect model reaches 100 %.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/draw.h"
#include "fovea/data/pairs/dataset.h"

namespace fovea {

struct PhrasesOptions : DrawOptions {
  PhrasesOptions() : DrawOptions{20000, 1000, 1000} {}
  int64_t maximum_clauses = 3;
  void describe(OptionList& list);
};

using PhrasesDraw = SplitRows<TextPair>;

/// All sentences are different, so none is in two splits; 4 to 25 words on either side.
/// InvalidArgument when the grammar has not as many.
PhrasesDraw draw_phrases(const PhrasesOptions& options);

}  // namespace fovea

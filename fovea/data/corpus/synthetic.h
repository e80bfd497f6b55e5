// Synthetic documents for the task `pretrain`: each follows one person through one day, sentence
// after sentence from morning to night. Who it is, the town, the animal, the work and the meal are
// named again and again, so a word that is hidden in one sentence stands in another; and a sentence
// of another story names others.
#pragma once

#include "fovea/data/corpus/reader.h"
#include "fovea/data/draw.h"

namespace fovea {

struct SyntheticCorpusOptions : DrawOptions {
  SyntheticCorpusOptions() : DrawOptions{2000, 200, 200} {}
  void describe(OptionList& list);
};

/// Document i of a split is the same however many there are.
SplitRows<Document> draw_corpus(const SyntheticCorpusOptions& options);

}  // namespace fovea

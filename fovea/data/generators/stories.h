// Built-in documents for the task `pretrain`: each follows one person through one day, sentence
// after sentence from morning to night. Who it is, the town, the animal, the work and the meal are
// named again and again, so a word that is hidden in one sentence stands in another; and a sentence
// of another story names others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/core/options.h"

namespace fovea {

struct StoriesOptions {
  int64_t rows = 2000;  // stories to train on
  int64_t validation_rows = 200;
  int64_t test_rows = 200;
  int64_t seed = 1;  // of the data; the training seed does not change them
  void describe(OptionList& list);
};

using Stories = std::vector<std::vector<std::string>>;  // sentences of each

struct StoriesDraw {
  Stories train, validation, test;
};

/// Story i of a part is the same however many there are.
StoriesDraw draw_stories(const StoriesOptions& options);

}  // namespace fovea

// Built-in documents for the task `pretrain`: each follows one person through one day, sentence
// after sentence from morning to night. Who it is, the town, the animal, the work and the meal are
// named again and again, so a word that is hidden in one sentence stands in another; and a sentence
// of another story names others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/draw.h"

namespace fovea {

struct StoriesOptions : DrawOptions {
  StoriesOptions() : DrawOptions{2000, 200, 200} {}
  void describe(OptionList& list);
};

using Story = std::vector<std::string>;  // its sentences
using StoriesDraw = SplitRows<Story>;

/// Story i of a part is the same however many there are.
StoriesDraw draw_stories(const StoriesOptions& options);

}  // namespace fovea

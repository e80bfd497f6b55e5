// Synthetic pictures for the task `caption`: one to three coloured shapes on a light ground, and
// the sentence that names them, the largest first, each with its side of the one before it:
//   a red circle left of a blue square above an orange ring
// Where every named thing stands is known, so "does it look at the thing while it says its name"
// has an answer. Some pairs of colour and shape are held out: those of validation are in no
// training picture, those of the test in neither; every validation and test picture shows at least
// one. A model that learned colours and shapes by themselves names them all the same.
#pragma once

#include <cstdint>

#include "fovea/data/captions/reader.h"
#include "fovea/data/draw.h"

namespace fovea {

struct SyntheticCaptionsOptions : DrawOptions {
  SyntheticCaptionsOptions() : DrawOptions{8000, 500, 1000} {}
  int64_t objects = 2;  // at most
  void describe(OptionList& list);
};

/// Pictures of `size` pixels a side, one caption and its boxes each.
SplitRows<CaptionedImage> draw_captions(const SyntheticCaptionsOptions& options, int64_t size);

}  // namespace fovea

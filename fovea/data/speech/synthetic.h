// Synthetic sounds for the task `speech`: melodies of three to eight notes, do re mi fa sol la ti,
// and their names as the transcript. A note is a tone with two overtones; how long, how loud, how
// rich and how exactly tuned it is differs from note to note, and there is some noise. Where every
// note begins and ends is known, so "does it listen to the note while it writes its name" has an
// answer. No melody is in two splits.
#pragma once

#include <cstdint>

#include "fovea/data/draw.h"
#include "fovea/data/speech/reader.h"

namespace fovea {

struct SyntheticSpeechOptions : DrawOptions {
  SyntheticSpeechOptions() : DrawOptions{2000, 200, 300} {}
  int64_t shortest = 3, longest = 8;  // notes of a melody
  double noise = 0.01;                // its deviation; a tone's amplitude is 0.15 … 0.4
  void describe(OptionList& list);
};

/// Sounds of `rate` samples a second, with the boundaries of their notes.
SplitRows<Utterance> draw_speech(const SyntheticSpeechOptions& options, int64_t rate);

}  // namespace fovea

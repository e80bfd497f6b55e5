// Where a word of a transcript is heard, for sounds of which that is known.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fovea/tensor/attention_map.h"

namespace fovea {

struct SpokenWord {
  Span bytes;                  // of the transcript
  int64_t begin = 0, end = 0;  // samples begin … end - 1 of the sound
};

/// The stretches of a transcript between blanks, in bytes.
std::vector<Span> word_spans(std::string_view transcript);

}  // namespace fovea

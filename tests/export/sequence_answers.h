// Sources, symbols to be told, and what a model that reads and writes symbols makes of them.
#pragma once

#include "fovea/models/sequence_model.h"
#include "tests/export/cases.h"

namespace fovea::testing {

constexpr int64_t kSourceSymbols = 9, kTargetSymbols = 8, kSteps = 6;

/// A vocabulary of source symbols, and one of target symbols or the same once more.
SequenceShape symbol_shape(bool shared);

/// One output of `steps` symbols a row, and the same as JSON: [B, T].
Predictions chosen_tokens(int64_t rows, int64_t steps, int64_t symbols, uint64_t seed);
Json token_json(const Predictions& chosen);

/// `add_maps` writes the maps of a replay into the answer.
Json text_answers(const SequenceModel& model, int64_t rows, int64_t length,
                  const std::function<void(const Tap&, Json& answer)>& add_maps);

}  // namespace fovea::testing

// One or two texts, packed for BERT, as examples and batches. Tensors:
//   tokens [N] int64, segments [N] int64; in a batch [B, N], with tokens.keep [B, N] bool
// The axis "tokens" holds the pieces and where they stand in the text; of two texts the second
// follows the first after a line end.
#pragma once

#include <span>
#include <string>

#include "fovea/data/packing.h"
#include "fovea/tensor/example.h"

namespace fovea {

/// `second` is empty where the input holds one text.
Example token_example(const PieceTokeniser& tokeniser, const PackedInput& input,
                      const std::string& first, const std::string& second = "");

/// Side by side, with `padding` behind the shorter ones.
Batch collate_tokens(std::span<const Example> examples, int64_t padding);
Batch collate_tokens(std::span<const PackedInput> inputs, int64_t padding);

/// The pieces `units` become [MASK]; special tokens stay, since without them nothing is a text.
Example erase_tokens(const Example& example, const PieceTokeniser& tokeniser,
                     std::span<const int64_t> units);

}  // namespace fovea

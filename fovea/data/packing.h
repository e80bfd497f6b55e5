// One or two texts as BERT and its kin take them in, with the special tokens that the tokeniser
// puts around them:
//   [CLS] first [SEP]                  segments 0
//   [CLS] first [SEP] second [SEP]     segments 0 up to the first [SEP], 1 for the rest
//   <s> first </s> </s> second </s>    segments 0 (RoBERTa)
// A text that is too long for the positions is cut (of two the longer one, piece by piece), goes
// through in windows that overlap, or is refused. Nothing is cut without being counted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/tokenisers/piece_tokeniser.h"

namespace fovea {

class WordCounts;

struct PackingOptions {
  int64_t longest = 512;         // positions of one input, special tokens included
  std::string too_long = "cut";  // cut, windows, refuse
  int64_t overlap = 64;          // windows: pieces that a window shares with the one before it
  void describe(OptionList& list);
};

/// The vocabulary that is learned where no tokeniser is given.
struct LearnedPieces {
  int64_t vocabulary_size = 8000;
  bool lowercase = true;
  /// `rows`: what it is learned from, as "training rows".
  void describe(OptionList& list, const std::string& rows);
  std::shared_ptr<const PieceTokeniser> learn(
      const std::function<void(WordCounts& words)>& count) const;
};

struct PackedInput {
  std::vector<int64_t> ids;
  std::vector<int64_t> segments;  // what the network is told
  std::vector<int64_t> texts;     // 0 or 1: which text; -1 for [CLS] and [SEP]
  std::vector<Span> spans;        // in that text; {-1, -1} for [CLS] and [SEP]
  std::vector<int64_t> words;     // number of the word in that text; -1 for [CLS] and [SEP]
  std::array<int64_t, 2> first_piece{0, 0};  // of each text that this input holds
  bool pair = false;                         // holds two texts, one of them perhaps empty

  int64_t size() const { return static_cast<int64_t>(ids.size()); }
};

struct PackedInputs {
  std::vector<PackedInput> inputs;   // several only with windows
  std::array<int64_t, 2> cut{0, 0};  // pieces of each text that no input holds
};

/// `second` may be null. InvalidArgument for lengths that leave no room; BadData for a text that is
/// too long where that is to be refused, and, with windows, for two texts that are both too long.
PackedInputs pack_texts(const PieceTokeniser& tokeniser, const Pieces& first, const Pieces* second,
                        const PackingOptions& options);

/// Without what is behind so many pieces.
Pieces first_pieces(Pieces text, int64_t most);

/// All windows of a text as one, one after the other.
PackedInput join_windows(std::vector<PackedInput> windows);

}  // namespace fovea

// One or two texts as BERT takes them in:
//   [CLS] first [SEP]                  segments 0
//   [CLS] first [SEP] second [SEP]     segments 0 for the first and its frame, 1 for the rest
// A text that is too long for the positions is cut (of two the longer one, piece by piece), goes
// through in windows that overlap, or is refused. Nothing is cut without being counted.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

struct FrameOptions {
  int64_t longest = 512;         // positions of one frame, special tokens included
  std::string too_long = "cut";  // cut, windows, refuse
  int64_t overlap = 64;          // windows: pieces that a window shares with the one before it
  void describe(OptionList& list);
};

struct Frame {
  std::vector<int64_t> ids;
  std::vector<int64_t> segments;  // 0 or 1
  std::vector<Span> spans;        // in the text of its segment; {-1, -1} for [CLS] and [SEP]
  std::vector<int64_t> words;     // number of the word in that text; -1 for [CLS] and [SEP]
  std::array<int64_t, 2> first_piece{0, 0};  // of each text that this frame holds

  int64_t size() const { return static_cast<int64_t>(ids.size()); }
};

struct Frames {
  std::vector<Frame> frames;         // several only with windows
  std::array<int64_t, 2> cut{0, 0};  // pieces of each text that no frame holds
};

/// `second` may be null. InvalidArgument for lengths that leave no room; BadData for a text that is
/// too long where that is to be refused, and, with windows, for two texts that are both too long.
Frames frame_texts(const WordPiece& tokeniser, const Pieces& first, const Pieces* second,
                   const FrameOptions& options);

}  // namespace fovea

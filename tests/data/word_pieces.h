// A small vocabulary of pieces for tests.
#pragma once

#include <memory>

#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea::testing {

/// [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4, then the words below from 5 on.
inline std::shared_ptr<const WordPiece> word_pieces() {
  std::vector<std::string> pieces(std::begin(WordPiece::kSpecialNames),
                                  std::end(WordPiece::kSpecialNames));
  for (const char* piece : {"good", "bad", "film", "##s", "the", "was", "in", "paris", "ad", "##a"})
    pieces.push_back(piece);
  return std::make_shared<const WordPiece>(pieces, WordPieceOptions(), "test");
}

}  // namespace fovea::testing

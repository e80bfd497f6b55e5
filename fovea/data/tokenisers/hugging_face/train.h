// Learns a tokeniser from texts, as a tokenizer.json:
//   bpe        byte-level BPE as GPT-2 has it (Sennrich et al. 2016, Radford et al. 2019)
//   wordpiece  BERT's, as tokenisers/wordpiece.h learns it
//   unigram    T5's, learned by SentencePiece (Kudo 2018)
#pragma once

#include <span>

#include "fovea/base/options.h"
#include "fovea/data/tokenisers/hugging_face/tokeniser.h"

namespace fovea {

struct TokeniserTraining {
  std::string model = "bpe";
  int64_t size = 30000;       // most tokens, special ones included
  int64_t minimum_count = 2;  // bpe, wordpiece: a pair seen less often is never merged
  bool lowercase = true;      // wordpiece: upper and lower case are the same
  void describe(OptionList& list);
};

/// The same texts give the same tokeniser. BadData where they cannot give `size` tokens or hold
/// nothing to learn from; Unsupported without ICU, and for unigram without SentencePiece.
HuggingFaceTokeniser train_tokeniser(const TokeniserTraining& training,
                                     std::span<const std::string> texts);

}  // namespace fovea

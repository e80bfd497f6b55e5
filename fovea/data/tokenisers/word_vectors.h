// Word vectors that were trained elsewhere, in the text format of word2vec, fastText and GloVe: a
// word and its numbers a line, with blanks between them; all but GloVe begin with a line "words
// numbers". The
// file is read line by line, and only words of a vocabulary are kept. docs/formats/labelled-text.md
// states the rules.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/vocabulary.h"

namespace fovea {

struct WordVectors {
  at::Tensor vectors;  // float [words of the vocabulary, numbers], 0 where a word was not found
  at::Tensor known;    // bool [words of the vocabulary]
  int64_t found = 0;   // of the vocabulary's words, special symbols left out
  std::string note;    // how many were found, and how many were not

  int64_t size() const { return vectors.size(1); }
};

/// Of a word that stands there twice the first counts. BadData with path:line for a line that is no
/// word and as many numbers as the first one, for a number that is not finite, for a file that ends
/// before its first line says, and when no word is known.
WordVectors read_word_vectors(const std::filesystem::path& path, const Vocabulary& vocabulary);

/// What the option data.vectors of every task says.
constexpr const char* kVectorsHelp =
    "file of word vectors to begin with, as word2vec, fastText and GloVe write them in text";

/// model.embedding of the task that reads vectors, and what it is unless somebody sets it.
struct EmbeddingSize {
  int64_t& now;
  int64_t usual;
};

/// read_word_vectors(), whose notes are added. Their size becomes model.embedding; InvalidArgument
/// where that was set to another one.
WordVectors read_first_vectors(const std::filesystem::path& path, const Vocabulary& vocabulary,
                               EmbeddingSize embedding, std::vector<std::string>& notes);

}  // namespace fovea

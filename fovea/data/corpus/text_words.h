// Texts without labels as sentences of words, for word vectors (tokenisers/text_vectors.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/text_vectors.h"

namespace fovea {

/// Adds the texts of all files: .txt, or the text column of a CSV, TSV or JSONL (reader.h), plain
/// or gzip. They are cut at Unicode's word boundaries and around apostrophes. Errors as
/// read_corpus(); Unsupported without ICU.
void add_texts(const std::vector<std::string>& files, WordSequences& words,
               const std::function<void()>& step = {});

}  // namespace fovea

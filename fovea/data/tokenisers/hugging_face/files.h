// The files that a Hugging Face folder has for its tokeniser, all as a tokenizer.json.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/base/json.h"

namespace fovea {

class HuggingFaceTokeniser;
class WordPiece;

/// Writes tokenizer.json and tokenizer_config.json, as transformers reads them. InvalidArgument
/// when the folder exists and is not empty.
void write_tokeniser_folder(const std::filesystem::path& folder,
                            const HuggingFaceTokeniser& tokeniser);

/// The tokenizer.json of a BERT.
Json wordpiece_tokenizer_json(const WordPiece& tokeniser);

namespace hugging_face {

/// A tokenizer.json, a folder with one, or an older folder with vocab.txt (BERT) or with vocab.json
/// and merges.txt (GPT-2, RoBERTa). `where` becomes the path of what was read. NotFound or BadData
/// otherwise.
Json read_tokeniser_files(const std::filesystem::path& path, std::string& where);

/// An added token that is special.
Json special_token_json(int64_t id, const std::string& content);

/// Byte-level BPE as GPT-2 has it, without the model.
Json byte_level_json(bool add_prefix_space);

}  // namespace hugging_face

}  // namespace fovea

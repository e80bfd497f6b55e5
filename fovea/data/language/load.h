// The data of the task `language`: plain texts as one array of tokens for each split.
// docs/formats/language.md says what the files look like and how they are cut.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/base/options.h"
#include "fovea/data/language/dataset.h"
#include "fovea/data/language/synthetic.h"
#include "fovea/data/rows.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct LanguageDataOptions {
  SyntheticTextOptions generator;
  std::string tokeniser = "auto";
  int64_t vocabulary_size = 0;
  int64_t window = 0;
  double validation_fraction = 0.1;
  std::string scratch;
  void describe(OptionList& list);
};

/// What is learned from the training text, or comes with a network.
struct LanguageCoding {
  std::shared_ptr<const HuggingFaceTokeniser> tokeniser;  // null: not known yet
  int64_t window = 0;                                     // tokens of a row; 0: not known yet
  /// The token between texts, or -1.
  int64_t end() const;
};

/// `longest`: the network's positions, or, of a new network, as many as it should have.
Splits load_language(const DataSource& source, const LanguageDataOptions& options, int64_t longest,
                     LanguageCoding& coding);

/// The synthetic text as train.txt, val.txt, test.txt and dataset.json.
void write_language_data(const std::filesystem::path& folder, const SyntheticTextOptions& options);

/// Each different character of the texts is a token, and so are <unk> and <|endoftext|>.
HuggingFaceTokeniser character_tokeniser(const Rows<std::string>& texts);

/// All tokens of the texts, with `end` between them unless it is -1.
EncodedText encode_texts(const HuggingFaceTokeniser& tokeniser, Rows<std::string> texts,
                         int64_t end, const std::filesystem::path& scratch);

/// HuggingFaceTokeniser::load(), but texts are neither cut nor filled up, whatever the file says:
/// as transformers, which does so only where it is asked to.
HuggingFaceTokeniser load_whole_tokeniser(const std::filesystem::path& path);

}  // namespace fovea

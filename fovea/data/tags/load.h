// The data of the task `tag`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/source.h"
#include "fovea/data/tags/encoder.h"
#include "fovea/data/tags/synthetic.h"

namespace fovea {

/// Everything under data. for this task.
struct TaggingDataOptions {
  SyntheticTagsOptions generator;
  PackingOptions packing;  // pieces
  LearnedPieces vocabulary{.lowercase = false};
  int64_t minimum_count = 1;       // words
  std::vector<std::string> texts;  // words: files without tags that word vectors are learned from
  double validation_fraction = 0.1;
  std::string separator = "auto";
  std::string scheme = "entities";
  /// `pieces`: for a model that reads pieces of words, else for one that reads words.
  void describe(OptionList& list, bool pieces);
};

/// What is learned from the data and kept in the run; of tokeniser and words the one
/// that the model reads is there.
struct TagCoding {
  std::vector<std::string> tags;  // entities: O, then B- and I- of each type
  bool entities = true;
  std::shared_ptr<const PieceTokeniser> tokeniser;
  std::shared_ptr<const WordEncoder> words;
  at::Tensor vectors =
      {};  // float [words->text_words(), size] of data.texts, once they are learned

  bool fitted() const { return !tags.empty(); }
  std::shared_ptr<const SentenceEncoder> encoder(const TaggingDataOptions& options) const;
  Json to_json() const;  // the tags
  static TagCoding from_json(const Json& json, const std::string& where);
};

struct TagLoading {
  bool pieces = false;  // for a model that reads pieces of words
  uint64_t seed = 0;
  LoadProgress progress = {};  // of word vectors that are learned
};

/// Reads a file or folder (reader.h), or draws synthetic sentences. A first call
/// finds the tags, and learns what the model reads by from the training sentences where that is not
/// there yet. BadData, later, for a tag that was not there.
Splits load_tagging(const DataSource& source, const TaggingDataOptions& options,
                    const TagLoading& loading, TagCoding& coding);

/// Writes the synthetic data as train.tsv, val.tsv, test.tsv and dataset.json, which holds the
/// planted truth: loading the folder gives the same rows.
void write_tagging_data(const std::filesystem::path& folder, const TaggingDataOptions& options);

}  // namespace fovea

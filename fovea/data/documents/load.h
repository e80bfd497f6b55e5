// The data of the task `documents`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/documents/encoder.h"
#include "fovea/data/documents/sentences.h"
#include "fovea/data/documents/synthetic.h"
#include "fovea/data/documents/targets.h"
#include "fovea/data/documents/words.h"
#include "fovea/data/source.h"

namespace fovea {

/// What a model takes texts for: pieces of words one after the other (encoder.h), sentences of
/// words (sentences.h), or a bag of words and bigrams (words.h).
enum class TextsAs { Pieces, Sentences, Bag };

/// Everything under data. for this task.
struct DocumentsDataOptions {
  SyntheticTextsOptions texts;  // pieces, bag: the generator
  PackingOptions packing;       // pieces
  LearnedPieces vocabulary;
  SyntheticDocumentsOptions documents;  // sentences: the generator
  HierarchicalDataOptions sentences;
  BagDataOptions bag;
  DocumentTargetOptions target;
  double validation_fraction = 0.1;
  std::string quotes = "auto";
  void describe(OptionList& list, TextsAs texts);
};

/// What is learned from the data and kept in the run; of tokeniser and words the one that the model
/// reads is there.
struct DocumentCoding {
  std::shared_ptr<const PieceTokeniser> tokeniser;
  std::shared_ptr<const Vocabulary> words;
  DocumentTarget target;
  std::vector<std::string> classes;  // or labels: numbers first and by size, else alphabetically
  Roles columns = {};                // of the files, where they are called otherwise than the roles
  bool pairs = false;
  bool any_pairs = false;             // of a network from elsewhere: one text or two, as they come
  std::vector<int64_t> class_counts;  // training texts of each, once they were loaded

  bool fitted() const { return !classes.empty() || target.kind == AnswerKind::Number; }
  /// Numbers that a network puts out for a text.
  int64_t outputs() const {
    return target.kind == AnswerKind::Number ? 1 : int64_t(classes.size());
  }
  Json to_json() const;  // classes, pairs, columns and the target
  static DocumentCoding from_json(const Json& json, const std::string& where);
};

/// Reads a file or folder (reader.h), or draws synthetic reviews. A first call finds
/// what the labels are and the classes, and learns a tokeniser or the words from the training rows
/// where there are none yet. BadData for training rows of one class alone, for pairs of texts as
/// sentences and, later, for a class that was not there.
Splits load_documents(const DataSource& source, const DocumentsDataOptions& options, TextsAs texts,
                      DocumentCoding& coding, uint64_t seed);

/// Writes the synthetic data as train.tsv, val.tsv, test.tsv and dataset.json, which holds the
/// planted truth: loading the folder gives the same rows.
void write_documents_data(const std::filesystem::path& folder, const DocumentsDataOptions& options,
                          TextsAs texts);

}  // namespace fovea

// The data of the task `documents`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/documents.h"
#include "fovea/data/generators/opinions.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct DocumentsDataOptions {
  OpinionsOptions generator;
  FrameOptions frames;
  int64_t vocabulary_size = 8000;  // where no tokeniser is given
  bool lowercase = true;           // likewise
  double validation_fraction = 0.1;
  std::string quotes = "auto";
  void describe(OptionList& list);
};

/// What is learned from the data and kept in the run.
struct DocumentCoding {
  std::shared_ptr<const WordPiece> tokeniser;
  std::vector<std::string> classes;  // numbers first and by size, else alphabetically
  bool pairs = false;

  bool fitted() const { return !classes.empty(); }
  Json to_json() const;  // without the tokeniser
  static DocumentCoding from_json(const Json& json, const std::string& where);
};

/// Reads a file or folder (readers/labelled_text.h), or draws the built-in reviews. A first call
/// finds the classes, and learns a tokeniser from the training rows where there is none yet.
/// BadData for training rows of one class alone and, later, for a class that was not there.
Splits load_documents(const DataSource& source, const DocumentsDataOptions& options,
                      DocumentCoding& coding, uint64_t seed);

/// Writes the built-in data as train.tsv, val.tsv, test.tsv and dataset.json, which holds the
/// planted truth: loading the folder gives the same rows.
void write_documents_data(const std::filesystem::path& folder, const DocumentsDataOptions& options);

}  // namespace fovea

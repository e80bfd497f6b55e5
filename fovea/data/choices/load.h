// The data of the task `choices`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/data/choices/encoder.h"
#include "fovea/data/choices/synthetic.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct ChoicesDataOptions {
  SyntheticChoicesOptions generator;
  PackingOptions packing{.longest = 512};
  std::string quotes = "auto";
  LearnedPieces vocabulary;
  double validation_fraction = 0.1;
  void describe(OptionList& list);
};

/// What is learned from the data and kept in the run.
struct ChoiceCoding {
  std::shared_ptr<const PieceTokeniser> tokeniser;
  std::vector<std::string> columns;  // of a table that hold an input; empty: it was no table
  bool fitted = false;
  Json to_json() const;
  static ChoiceCoding from_json(const Json& json, const std::string& where);
};

/// Reads a file or folder (reader.h), or draws synthetic questions. A first call learns a tokeniser
/// from the training rows where there is none yet.
Splits load_choices(const DataSource& source, const ChoicesDataOptions& options,
                    ChoiceCoding& coding, uint64_t seed);

/// The synthetic questions as train.jsonl, val.jsonl, test.jsonl and dataset.json.
void write_choices_data(const std::filesystem::path& folder,
                        const SyntheticChoicesOptions& options);

}  // namespace fovea

// The data of the task `questions`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/data/questions/encoder.h"
#include "fovea/data/questions/synthetic.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct QuestionsDataOptions {
  SyntheticQuestionsOptions generator;
  PackingOptions packing{.longest = 384, .too_long = "windows", .overlap = 128};
  int64_t longest_question = 64;
  LearnedPieces vocabulary;
  double validation_fraction = 0.1;
  void describe(OptionList& list);
};

/// What is learned from the data and kept in the run.
struct QuestionCoding {
  std::shared_ptr<const PieceTokeniser> tokeniser;
  bool may_refuse = false;  // some training questions have no answer, as in SQuAD 2.0
  bool fitted = false;
  Json to_json() const;
  static QuestionCoding from_json(const Json& json, const std::string& where);
};

/// Reads a file or folder (reader.h), or draws synthetic questions. A first call learns a tokeniser
/// from the training rows where there is none yet.
Splits load_questions(const DataSource& source, const QuestionsDataOptions& options,
                      QuestionCoding& coding, uint64_t seed);

/// The synthetic questions as train.jsonl, val.jsonl, test.jsonl and dataset.json.
void write_questions_data(const std::filesystem::path& folder,
                          const SyntheticQuestionsOptions& options);

}  // namespace fovea

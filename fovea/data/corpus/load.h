// The data of the task `pretrain`: documents from text files or synthetic ones, a WordPiece
// vocabulary learned from the training split, rows as segments.h cuts them. docs/formats/corpus.md
// says what the files look like.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/base/options.h"
#include "fovea/data/corpus/segments.h"
#include "fovea/data/corpus/synthetic.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct PretrainDataOptions {
  SyntheticCorpusOptions generator;
  SegmentOptions segments;
  std::string documents = "blank_lines";  // as CorpusOptions has them
  std::string sentences = "auto";
  bool lowercase = true;
  int64_t vocabulary_size = 8000;
  int64_t minimum_count = 2;
  double validation_fraction = 0.05;
  void describe(OptionList& list);
};

/// Reads a file or folder, or draws the synthetic documents. A null tokeniser is learned from the
/// training documents; a given one is used as it is, and then a source without training documents
/// will do. `seed` chooses what is held out and how rows are cut.
Splits load_pretraining(const DataSource& source, const PretrainDataOptions& options,
                        std::shared_ptr<const PieceTokeniser>& tokeniser, uint64_t seed);

/// The synthetic documents as train.txt, val.txt, test.txt and dataset.json.
void write_corpus_data(const std::filesystem::path& folder, const SyntheticCorpusOptions& options);

}  // namespace fovea

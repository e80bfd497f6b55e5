// The data of tasks on pairs of texts, from wherever they come, tokenised and in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/pairs/dataset.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for these tasks, besides the generator's options.
struct PairsOptions {
  std::string task;  // what dataset.json and a prepared file must say; empty: anything. Not an
                     // option: the task sets it
  std::string tokens = "characters";
  std::string target_tokens = "same";
  bool shared_vocabulary = false;
  int64_t vocabulary_size = 0;  // of each side; 0: no limit
  int64_t minimum_count = 1;
  int64_t maximum_length = 0;  // tokens of either side, in training; 0: no limit
  int64_t minimum_length = 1;
  double maximum_ratio = 0;  // of the longer to the shorter side, in training; 0: no limit
  double validation_fraction = 0.1;
  std::string direction;
  bool swap = false;
  std::string test;
  void describe(OptionList& list);
};

struct PairTokenisers {
  std::shared_ptr<const Tokeniser> source, target;  // the same one with a shared vocabulary
};

/// A data set as texts. A part that is not there is empty.
struct PairTexts {
  std::vector<TextPair> train, validation, test;
};

/// Reads a TSV, two parallel files, a folder or a prepared file. Tokenisers that are null are
/// learned from the training pairs (a prepared file brings its own); given ones, restored from a
/// run, are used as they are, and then a source without training pairs will do. `seed` chooses the
/// pairs to hold out; pairs with the same source stay together.
Splits load_pairs(const DataSource& source, const PairsOptions& options, PairTokenisers& tokenisers,
                  uint64_t seed);

/// Tokenises texts that are in memory; the limits on lengths apply to the training pairs only. The
/// hash is the caller's to set.
Splits encode_splits(const PairTexts& texts, const PairsOptions& options,
                     PairTokenisers& tokenisers);

/// Writes train.tsv, val.tsv, test.tsv and dataset.json: loading the folder gives the same pairs
/// and links. `generator` is for people, null to leave it out. InvalidArgument for a text that a
/// TSV cannot hold.
void write_pairs(const std::filesystem::path& folder, const PairTexts& texts,
                 const std::string& task, const Json& generator = {});

}  // namespace fovea

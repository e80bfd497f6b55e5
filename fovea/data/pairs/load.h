// The data of tasks on pairs of texts, from wherever they come, tokenised and in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/base/options.h"
#include "fovea/data/load.h"
#include "fovea/data/pairs/dataset.h"

namespace fovea {

/// Everything under data. for these tasks, besides the generator's options.
struct PairsOptions {
  std::string task;  // what dataset.json and a prepared file must say; empty: anything. Not an
                     // option: the task sets it
  std::string tokens = "characters";
  std::string target_tokens = "same";
  bool shared_vocabulary = false;
  int64_t vocabulary_size = 0;  // of each side; 0: no limit
  int64_t pairs_per_piece = 0;  // unigram, bpe: fewer pieces for fewer pairs; 0: vocabulary_size
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

/// Reads a TSV, two parallel files, a folder or a prepared file. Tokenisers that are null are
/// learned from the training pairs (a prepared file brings its own); given ones, restored from a
/// run, are used as they are, and then a source without training pairs will do. `seed` chooses the
/// pairs to hold out; pairs with the same source stay together.
Splits load_pairs(const DataSource& source, const PairsOptions& options, PairTokenisers& tokenisers,
                  uint64_t seed);

/// Synthetic pairs: `generator` are the options that drew them. InvalidArgument for options that
/// choose among files.
Splits load_synthetic_pairs(SplitRows<TextPair> drawn, const Json& generator,
                            const PairsOptions& options, PairTokenisers& tokenisers);

/// Texts to tokens; the limits on lengths apply to the training pairs only.
Splits tokenise_splits(SplitRows<TextPair> pairs, const PairsOptions& options,
                       PairTokenisers& tokenisers);

/// Writes train.tsv, val.tsv, test.tsv and dataset.json: loading the folder gives the same pairs
/// and links. `generator` is for people, null to leave it out. InvalidArgument for a text that a
/// TSV cannot hold.
void write_pairs(const std::filesystem::path& folder, const SplitRows<TextPair>& pairs,
                 const std::string& task, const Json& generator = {});

}  // namespace fovea

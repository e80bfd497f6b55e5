// Pairs of texts, as a sequence-to-sequence task sees them: read from files, tokenised once, kept
// as flat arrays that a prepared file can map into memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/rows.h"
#include "fovea/data/tokenisers/tokeniser.h"

namespace fovea {

/// Planted truth: these bytes of the target come from those bytes of the source.
struct Link {
  int64_t target_begin = 0, target_end = 0, source_begin = 0, source_end = 0;
  bool possible = false;  // of an alignment by hand: people did not agree on it
};

struct TextPair {
  std::string source;
  std::vector<std::string> references;  // the first is what training aims at
  std::vector<Link> links;              // empty where nothing is known
};

/// One split as flat arrays (names of the tensors in a prepared file, after "train.", "val.",
/// "test."):
///   source.ids [n] int32, source.spans [n, 2] int32 (bytes), source.offsets [N+1] int64
///   source.text [bytes] uint8, source.text_offsets [N+1] int64
///   target.ids, target.spans, target.offsets likewise (without begin and end symbols)
///   references.text [bytes] uint8, references.text_offsets [R+1] int64, references.offsets [N+1]
///   links [l, 4] int64 and links.offsets [N+1], where truth is known; links.possible [l] uint8,
///   where some are only possible
class PairDataset : public Dataset {
 public:
  /// BadData for arrays that check_pair_arrays() refuses.
  PairDataset(NamedTensors arrays, std::shared_ptr<const Tokeniser> source,
              std::shared_ptr<const Tokeniser> target);

  int64_t size() const override;
  /// Tensor "source" [S] int64; axis "source" with the tokens' texts, as they stand in the source,
  /// as labels (U+2581 for white space); truth "attention" [T+1, S] where links are known (T target
  /// tokens, then the end symbol).
  Example example(int64_t row) const override;
  /// "source" [B, S] int64 padded with 0, "source.keep" [B, S] bool, "target" [B, T] int64 ending
  /// in the end symbol and padded, "target.keep" [B, T] bool. S is at least 1 even when a source is
  /// empty.
  Batch batch(std::span<const int64_t> rows) const override;

  int64_t length(int64_t row) const override {
    return std::max(input_length(row), target_length(row));
  }
  int64_t input_length(int64_t row) const override;  // tokens of the source
  int64_t target_length(int64_t row) const;          // in tokens, with the end symbol
  std::string source_text(int64_t row) const;
  Json input(int64_t row) const override { return source_text(row); }
  std::vector<std::string> references(int64_t row) const override;
  std::vector<int64_t> target_ids(int64_t row) const;  // with the end symbol
  bool has_truth() const override { return arrays_.count("links") > 0; }
  /// bool [T+1, S]: which source tokens each target token comes from. Rows of the end symbol and of
  /// target tokens without a link are all false.
  at::Tensor truth(int64_t row) const;
  /// Where links are known, "attention": truth(); and, for words separated by blanks,
  /// "alignment.sure" and "alignment.possible" bool [target words, source words],
  /// "alignment.target" [T] and "alignment.source" [S]: the word of each token, -1 for none.
  NamedTensors planted_truth(int64_t row) const override;
  void prepare(PreparedWriter& writer, int split) const override;

  const NamedTensors& arrays() const { return arrays_; }  // for the prepared file

 private:
  void add_alignment(int64_t row, NamedTensors& truth) const;
  NamedTensors arrays_;
  std::shared_ptr<const Tokeniser> source_, target_;
};

/// Padded side by side, as PairDataset::batch does it; for inputs typed by a user.
Batch collate_sources(std::span<const Example> examples);

/// A user's source text, with axis "source" and no target.
Example encode_source(const Tokeniser& tokeniser, const std::string& text);

/// Tokenises pairs into a split's arrays. `keep` is asked with the tokens of both sides, in the
/// order of the pairs; those that it refuses are left out. InvalidArgument for a pair without
/// reference and for links that leave the texts.
using KeepLengths = std::function<bool(int64_t source_tokens, int64_t target_tokens)>;
NamedTensors encode_pairs(Rows<TextPair> pairs, const Tokeniser& source, const Tokeniser& target,
                          const KeepLengths& keep = {});

/// Every number that PairDataset relies on: offsets that begin at 0, never fall and end at the
/// array's size, ids within the vocabularies, spans and links within their texts, texts in UTF-8.
/// BadData names the array; a file's arrays are checked before anything else touches them.
void check_pair_arrays(const NamedTensors& arrays, int64_t source_symbols, int64_t target_symbols);

}  // namespace fovea

// BERT's tokeniser (Devlin et al. 2019): words, cleaned (tokenisers/bert_words.h), then cut into
// the pieces of a vocabulary, each time the longest one that fits (Wu et al. 2016). A piece inside
// a word begins with "##":
//   "Unaffable!"  ->  una ##ffa ##ble !
// A word over 100 code points, or one that the pieces cannot spell, is one [UNK]. The names of the
// special tokens are kept whole where they stand in a text.
// The kinds of tokeniser.h number their symbols themselves; here the vocabulary's own order counts,
// since pretrained weights belong to it. So this is a class beside them, not one more kind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/data/tokenisers/piece_tokeniser.h"

namespace fovea {

class PieceTrie;

/// How a text is cleaned and cut; the defaults are BERT's, uncased.
struct WordPieceOptions {
  bool lowercase = true;
  std::optional<bool> strip_accents = {};  // not set: as lowercase
  bool clean_text = true;
  bool split_ideographs = true;
  int64_t longest_word = 100;  // code points
};

/// How often each word stands in some texts: all that learning a vocabulary needs of them.
class WordCounts {
 public:
  explicit WordCounts(const WordPieceOptions& options = {}) : options_(options) {}
  /// BadData for invalid UTF-8; Unsupported without ICU.
  void add(std::string_view text);
  const WordPieceOptions& options() const { return options_; }
  const std::unordered_map<std::string, int64_t>& counts() const { return counts_; }

 private:
  WordPieceOptions options_;
  std::unordered_map<std::string, int64_t> counts_;
};

struct WordPieceLearning {
  int64_t size = 30000;            // most pieces, special tokens included
  int64_t minimum_count = 2;       // a pair of pieces seen less often is never joined
  int64_t most_characters = 1000;  // rarer characters become unknown
};

class WordPiece : public PieceTokeniser {
 public:
  static constexpr const char* kSpecialNames[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

  /// Piece i has number i; of equal ones the last counts. BadData, beginning with `where`, when a
  /// special token is missing. `whole` are further pieces that are kept whole in a text.
  WordPiece(std::vector<std::string> pieces, const WordPieceOptions& options,
            const std::string& where, std::vector<std::string> whole = {});
  WordPiece(WordPiece&&) noexcept;
  WordPiece& operator=(WordPiece&&) noexcept;
  ~WordPiece() override;

  /// Joins the most frequent pair of neighbouring pieces, again and again, until there are `size`.
  /// The same counts give the same pieces. BadData when the characters alone need more.
  static WordPiece learn(const WordCounts& words, const WordPieceLearning& learning);

  /// A vocab.txt (cut with `options`), a tokenizer.json of Hugging Face, which brings its own
  /// options, or a folder with either. In a folder tokenizer.json counts; beside vocab.txt a
  /// tokenizer_config.json says whether case matters. NotFound, BadData with path:line,
  /// Unsupported for a tokenizer.json of another kind.
  static WordPiece load(const std::filesystem::path& path, const WordPieceOptions& options = {});
  void write_vocabulary(const std::filesystem::path& path) const;  // vocab.txt

  /// What a run stores: kind, options, vocabulary.
  Json to_json() const override;
  Json tokenizer_json() const override;
  static WordPiece from_json(const Json& json, const std::string& where);

  /// BadData for invalid UTF-8. Never fails on unknown words. Safe in several threads.
  Pieces encode(std::string_view text) const override;
  /// Words that are cut already, as taggers have them: piece i belongs to words[i], every word has
  /// at least one piece (an empty one is [UNK]), and spans count in the words joined by blanks.
  Pieces encode_words(std::span<const std::string> words) const override;
  bool keeps_words() const override { return true; }

  /// Pieces as text again: blanks between words; special tokens by name.
  std::string join(std::span<const int64_t> ids) const override;

  int64_t size() const override { return static_cast<int64_t>(pieces_.size()); }
  const std::string& piece(int64_t id) const override;  // InvalidArgument when out of range
  int64_t id(std::string_view piece) const;             // that of [UNK] when it is not there
  bool continues(int64_t id) const override { return piece(id).starts_with(kContinuation); }
  bool is_special(int64_t id) const override;
  const WordPieceOptions& options() const { return options_; }

 private:
  static constexpr std::string_view kContinuation = "##";

  struct Whole {
    std::string text;
    int64_t id;
  };

  int64_t find(std::string_view piece) const;  // -1 when it is not there
  const Whole* next_whole(std::string_view text, size_t& at) const;
  void encode_part(std::string_view text, Pieces& pieces, int64_t& position, int64_t& word) const;

  std::vector<std::string> pieces_;
  WordPieceOptions options_;
  std::vector<Whole> whole_;        // kept whole in a text, longer ones first
  std::vector<bool> begins_whole_;  // [256], by first byte
  std::unique_ptr<PieceTrie> trie_;
};

}  // namespace fovea

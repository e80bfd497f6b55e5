// The model of a tokenizer.json: words, as the pre-tokeniser cut them, become pieces of the
// vocabulary. Each kind is one file of models/ and one row of the table in model.cc.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/base/json_field.h"

namespace fovea::hugging_face {

/// Pieces by their ids 0 to n-1, and the other way round.
class TokenTable {
 public:
  /// Of equal pieces the last counts.
  explicit TokenTable(std::vector<std::string> pieces);
  /// {"piece": id, …}. BadData unless the ids are 0 to n-1, each once.
  static TokenTable read(const Field& vocabulary);
  TokenTable(TokenTable&&) = default;

  int64_t size() const { return int64_t(pieces_.size()); }
  const std::string& piece(int64_t id) const { return pieces_[size_t(id)]; }
  int64_t find(std::string_view piece) const;  // -1: it is not there
  Json to_json() const;                        // as read() takes it

 private:
  std::vector<std::string> pieces_;
  std::unordered_map<std::string_view, int64_t> ids_;
};

/// A piece and the bytes of the word that it stands for.
struct ModelToken {
  int64_t id = 0;
  uint32_t begin = 0, end = 0;
  bool shows_text = false;  // its text is those bytes, not the piece: an unknown word of Unigram
};

class Model {
 public:
  virtual ~Model() = default;
  /// Adds the pieces of `word`, which is not empty, to `tokens`. Safe in several threads.
  virtual void cut(std::string_view word, std::vector<ModelToken>& tokens) const = 0;
  /// As the file has it.
  virtual Json to_json() const = 0;
  const TokenTable& table() const { return table_; }

 protected:
  explicit Model(TokenTable table) : table_(std::move(table)) {}
  TokenTable table_;
};

/// Words that were cut already. The first ones to come stay.
class WordCache {
 public:
  /// Adds the tokens of `word`, from the cache or by `cut`.
  template <class Cut>
  void get(std::string_view word, std::vector<ModelToken>& tokens, const Cut& cut) const {
    if (word.size() > kLongestWord) return cut(word, tokens);
    {
      const std::shared_lock lock(mutex_);
      const auto found = words_.find(word);
      if (found != words_.end()) {
        tokens.insert(tokens.end(), found->second.begin(), found->second.end());
        return;
      }
    }
    const size_t before = tokens.size();
    cut(word, tokens);
    const std::unique_lock lock(mutex_);
    if (words_.size() < kMostWords)
      words_.emplace(word, std::vector<ModelToken>(tokens.begin() + int64_t(before), tokens.end()));
  }

 private:
  static constexpr size_t kLongestWord = 256, kMostWords = 50000;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::string, std::vector<ModelToken>, Hash, std::equal_to<>> words_;
};

/// `component` is the file's "model". BadData with the place of what is wrong.
std::unique_ptr<const Model> make_model(const Field& component);
/// The type of a model, also of older files that do not name it.
std::string model_type(const Field& component);
/// An unknown type of model, as ComponentTable::find_unknown reports those of other components.
void find_unknown_model(const Field& component, std::vector<std::string>& problems);

/// The rows of the table: the files of models/.
std::unique_ptr<const Model> make_wordpiece(const Field& component);
std::unique_ptr<const Model> make_bpe(const Field& component);
std::unique_ptr<const Model> make_unigram(const Field& component);
std::unique_ptr<const Model> make_wordlevel(const Field& component);

/// "<0x0A>", the piece of a byte where a model falls back to bytes.
std::string byte_piece(unsigned char byte);
/// What the model's JSON says besides its vocabulary.
Json small_fields(const Field& component);

}  // namespace fovea::hugging_face

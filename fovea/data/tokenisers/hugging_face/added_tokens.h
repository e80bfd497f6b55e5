// Tokens beside the model's vocabulary that are found in a text before anything else happens to it:
// special tokens such as <mask>, and words that somebody added.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "fovea/data/tokenisers/hugging_face/components.h"
#include "fovea/data/tokenisers/hugging_face/model.h"
#include "fovea/data/tokenisers/piece_trie.h"

namespace fovea::hugging_face {

struct AddedToken {
  int64_t id = 0;
  std::string content;
  bool single_word = false;             // not where a word goes on beside it
  bool lstrip = false, rstrip = false;  // takes the white space before, behind it along
  bool normalized = true;               // looked for after the normaliser, and normalised itself
  bool special = false;                 // left out when ids are decoded
  static AddedToken read(const Field& field);
  Json to_json() const;
};

class AddedTokens {
 public:
  /// BadData for ids that repeat, leave a hole behind the vocabulary or contradict it.
  AddedTokens(const std::optional<Field>& list, const TokenTable& table,
              const Normaliser& normaliser);

  const std::vector<AddedToken>& list() const { return tokens_; }
  const AddedToken* find(int64_t id) const;
  const AddedToken* find(std::string_view content) const;

  /// The added tokens in `text` and what stands between them, normalised.
  PreTokenisedText extract(std::string_view text, const Normaliser& normaliser) const;

 private:
  /// The tokens that are looked for together.
  struct Finder {
    void add(std::string_view content, size_t token);
    PieceTrie trie;
    std::vector<bool> leads = std::vector<bool>(256, false);  // bytes that begin a token
    bool empty = true;
  };
  /// A part of a text, and the token that it is.
  struct Found {
    size_t begin, end;
    const AddedToken* token;  // null: none
  };
  std::vector<Found> find_all(std::string_view text, const Finder& finder) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<int64_t, size_t> by_id_;
  Finder raw_, normalised_;
};

}  // namespace fovea::hugging_face

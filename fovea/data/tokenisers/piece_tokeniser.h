// Tokenisers whose numbers belong to weights that were trained before: BERT's WordPiece
// (wordpiece.h), and any tokenizer.json of Hugging Face (hugging_face/pieces.h). Encoders of texts
// know them by this interface alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

/// A text in pieces.
struct Pieces {
  std::vector<int64_t> ids;
  std::vector<Span> spans;     // code points of the text as it was given
  std::vector<int64_t> words;  // number of the word that each piece belongs to, from 0; rises by 1

  int64_t size() const { return static_cast<int64_t>(ids.size()); }
};

/// What stands around one text or two, in order: [CLS] A [SEP], <s> A </s> </s> B </s>.
struct InputTemplate {
  struct Item {
    int64_t text = -1;    // 0 or 1: the first or the second text; -1: a special token
    int64_t id = -1;      // of the special token
    int64_t segment = 0;  // what the network is told
  };
  std::vector<Item> items;

  int64_t special() const;  // how many special tokens
};

class PieceTokeniser {
 public:
  /// Numbers of the special tokens; -1: there is none. `padding` is always there.
  struct Special {
    int64_t padding = 0, unknown = 0, begin = 0, separator = 0, mask = 0;
  };

  virtual ~PieceTokeniser() = default;

  /// The tokeniser's files of a Hugging Face folder. NotFound, BadData with the place, Unsupported
  /// for parts that are not known.
  static std::shared_ptr<const PieceTokeniser> load(const std::filesystem::path& folder);

  /// What a run stores, and a tokenizer.json that does the same.
  virtual Json to_json() const = 0;
  virtual Json tokenizer_json() const = 0;
  static std::shared_ptr<const PieceTokeniser> from_json(const Json& json,
                                                         const std::string& where);

  /// BadData for invalid UTF-8. Never fails on unknown words. Safe in several threads.
  virtual Pieces encode(std::string_view text) const = 0;
  /// Words that are cut already; spans count in the words joined by blanks.
  virtual Pieces encode_words(std::span<const std::string> words) const = 0;
  /// Whether encode_words() cuts each word by itself and gives it at least one piece, so that the
  /// pieces' words are these words.
  virtual bool keeps_words() const = 0;

  /// Pieces as text again.
  virtual std::string join(std::span<const int64_t> ids) const = 0;

  virtual int64_t size() const = 0;
  virtual const std::string& piece(int64_t id) const = 0;  // InvalidArgument when out of range
  virtual bool continues(int64_t id) const = 0;            // goes on with the word before it
  virtual bool is_special(int64_t id) const = 0;

  const Special& special() const { return special_; }
  /// What an erased piece becomes: [MASK], where there is one.
  int64_t erased() const;
  const InputTemplate& input_template(bool pair) const { return pair ? two_ : one_; }
  /// Whether the network is told which text a token is of, where that has segments. Tokenisers of
  /// transformers may leave it out (model_input_names), and then all segments are 0.
  bool tells_segments() const { return tells_segments_; }
  void leave_out_segments();

 protected:
  Special special_;
  InputTemplate one_, two_;
  bool tells_segments_ = true;
};

}  // namespace fovea

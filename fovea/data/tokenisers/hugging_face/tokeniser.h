// Hugging Face's tokenizer.json (https://huggingface.co/docs/tokenizers): a text goes through
//   added tokens    special tokens and other texts that are kept whole
//   normalizer      Unicode forms, lower case, replacements
//   pre_tokenizer   cut into words
//   model           words to pieces: WordPiece, BPE, Unigram, WordLevel
//   post_processor  special tokens around one text or two
// and ids go back to text through the decoder. The results are those of the tokenizers library,
// 0.2x: ids, tokens, offsets, type ids, masks. docs/formats/tokenizer-json.md lists what is read
// and what differs.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/data/tokenisers/hugging_face/encoding.h"

namespace fovea {

class HuggingFaceTokeniser {
 public:
  /// BadData with the place of what is wrong; Unsupported names all components that are not known.
  static HuggingFaceTokeniser from_json(const Json& json, const std::string& where);
  /// A tokenizer.json, or a folder with one. Of older folders also vocab.txt (BERT), or vocab.json
  /// and merges.txt (GPT-2).
  static HuggingFaceTokeniser load(const std::filesystem::path& path);
  HuggingFaceTokeniser(HuggingFaceTokeniser&&) noexcept;
  HuggingFaceTokeniser& operator=(HuggingFaceTokeniser&&) noexcept;
  ~HuggingFaceTokeniser();

  /// As from_json() reads it.
  Json to_json() const;
  /// Writes tokenizer.json, to a temporary name first.
  void save(const std::filesystem::path& path) const;

  /// In place of the file's own, in its form; null: none. BadData where it is wrong.
  void set_truncation(const Json& truncation);
  void set_padding(const Json& padding);

  /// BadData for invalid UTF-8; Unsupported without ICU. Safe in several threads. Texts are
  /// truncated and padded as the file says, or set_truncation() and set_padding().
  Encoding encode(std::string_view text, std::optional<std::string_view> pair = {},
                  bool add_special_tokens = true) const;
  /// Words that are cut already, as taggers have them: offsets count within each word.
  Encoding encode_words(std::span<const std::string> words, bool add_special_tokens = true) const;
  /// Texts that are padded together, where the file pads.
  std::vector<Encoding> encode_batch(std::span<const std::string> texts,
                                     bool add_special_tokens = true) const;

  /// What stands around a text, or around two: tokens of one token each, whose sequence_ids say
  /// where the texts are.
  Encoding surroundings(bool pair) const;

  /// The text of `ids`; those that are not in the vocabulary are left out.
  std::string decode(std::span<const int64_t> ids, bool skip_special_tokens = true) const;

  int64_t size() const;                        // ids, added tokens included
  const std::string& token(int64_t id) const;  // InvalidArgument when out of range
  int64_t id(std::string_view token) const;    // -1: it is not there
  bool is_special(int64_t id) const;           // an added token that is special
  const std::string& model_type() const;       // "WordPiece", "BPE", "Unigram", "WordLevel"

 private:
  struct Components;
  explicit HuggingFaceTokeniser(std::unique_ptr<Components> components);
  std::unique_ptr<Components> components_;
};

}  // namespace fovea

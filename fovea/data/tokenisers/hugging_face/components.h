// The components of a tokenizer.json. Each kind of component is one function from its JSON to what
// it does, and one row of the table in its file: normalisers.cc, pre_tokenisers.cc,
// post_processors.cc, decoders.cc, model.cc.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/data/tokenisers/hugging_face/encoding.h"
#include "fovea/data/tokenisers/hugging_face/pre_tokenised_text.h"

namespace fovea::hugging_face {

using Normaliser = std::function<void(AlignedText& text)>;
using PreTokeniser = std::function<void(PreTokenisedText& text)>;
/// Tokens become the pieces of a text, which are then put one after the other.
using Decoder = std::function<void(std::vector<std::string>& tokens)>;

/// Puts special tokens around one sequence or two, and trims offsets.
struct PostProcessor {
  std::function<void(std::vector<Tokens>& sequences, bool add_special_tokens)> process;
  size_t added_to_one = 0, added_to_pair = 0;  // special tokens
};

template <class Component>
struct ComponentKind {
  const char* type;  // as the file names it
  Component (*make)(const Field& component);
};

/// What one key of the file may hold.
template <class Component>
struct ComponentTable {
  const char* key;       // "normalizer"
  const char* list_key;  // of its Sequence: "normalizers"
  std::span<const ComponentKind<Component>> kinds;

  const ComponentKind<Component>* find(const std::string& type) const {
    for (const ComponentKind<Component>& kind : kinds)
      if (kind.type == type) return &kind;
    return nullptr;
  }

  Component make(const Field& component) const {
    const std::string type = component.at("type").text();
    const ComponentKind<Component>* kind = find(type);
    component.at("type").expect(kind != nullptr, "a known type");
    return kind->make(component);
  }

  /// All types in `component` that are not known, each as "normalizer type 'X' is not known; known
  /// are …".
  void find_unknown(const Field& component, std::vector<std::string>& problems) const {
    const std::string type = component.at("type").text();
    if (find(type) == nullptr) {
      std::vector<std::string> known;
      for (const ComponentKind<Component>& kind : kinds) known.emplace_back(kind.type);
      problems.push_back(concat(key, " type '", shorten_bytes(type, 64), "' is not known",
                                suggestion(type, known), "; known are ", join(known)));
    } else if (type == "Sequence") {
      component.at(list_key).each({}, [&](const Field& each) { find_unknown(each, problems); });
    }
  }
};

const ComponentTable<Normaliser>& normaliser_table();
const ComponentTable<PreTokeniser>& pre_tokeniser_table();
const ComponentTable<PostProcessor>& post_processor_table();
const ComponentTable<Decoder>& decoder_table();

/// {"String": "…"} or {"Regex": "…"} of Split and Replace.
Pattern read_pattern(const Field& pattern);
/// A text of one character.
char32_t read_character(const Field& field);

/// The printable characters that stand for the 256 bytes in byte-level BPE (Radford et al. 2019).
char32_t byte_character(unsigned char byte);
/// The byte, or -1.
int character_byte(char32_t code);
/// Each byte of the text becomes its character.
void to_byte_characters(AlignedText& text);

/// SentencePiece's table of replacements, as Normaliser. BadData when it is damaged.
Normaliser precompiled_normaliser(const Field& component);

/// " ." becomes "." and the like, as the decoders WordPiece and CTC do it.
std::string clean_up_spaces(std::string text);

}  // namespace fovea::hugging_face

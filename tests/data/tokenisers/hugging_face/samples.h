// Helpers of the tests of tokenizer.json: single components, and small whole files.
#pragma once

#include "fovea/data/tokenisers/hugging_face/components.h"
#include "fovea/data/tokenisers/hugging_face/tokeniser.h"
#include "tests/data/testing.h"
#include "tests/data/wordpiece_samples.h"

namespace fovea::testing {

using hugging_face::AlignedText;
using hugging_face::PreTokenisedText;

inline Field component_field(const Json& json) {
  return {json, "component"};
}

/// Text and places, as "h[0-1]é[1-3]": a character and the bytes of the original that it is from.
inline std::string normalised(const Json& component, const std::string& text) {
  AlignedText aligned(text);
  hugging_face::normaliser_table().make(component_field(component))(aligned);
  EXPECT_EQ(aligned.text.size(), aligned.places.size());
  std::string shown;
  for (size_t at = 0; at < aligned.text.size();) {
    const size_t size = code_point_size(aligned.text[at]);
    shown += concat(aligned.text.substr(at, size), "[", aligned.places[at].begin, "-",
                    aligned.places[at].end, "]");
    at += size;
  }
  return shown;
}

inline std::string normalised_text(const Json& component, const std::string& text) {
  AlignedText aligned(text);
  hugging_face::normaliser_table().make(component_field(component))(aligned);
  return aligned.text;
}

/// The pieces that a pre-tokeniser cuts, and with `places` where they are from.
inline std::vector<std::string> pre_tokenised(const Json& component, const std::string& text,
                                              bool places = false) {
  PreTokenisedText cut;
  cut.add(AlignedText(text), 0, text.size(), {});
  hugging_face::pre_tokeniser_table().make(component_field(component))(cut);
  std::vector<std::string> shown;
  for (const auto& piece : cut.pieces()) {
    shown.emplace_back(cut.view(piece));
    if (places)
      shown.back() += concat(" ", cut.text().places[piece.begin].begin, "-",
                             cut.text().places[piece.end - 1].end);
  }
  return shown;
}

inline std::vector<std::string> decoded(const Json& component, std::vector<std::string> tokens) {
  hugging_face::decoder_table().make(component_field(component))(tokens);
  return tokens;
}

/// A file with this model and nothing else.
inline Json file_with(Json model) {
  return {{"version", "1.0"},          {"truncation", nullptr},
          {"padding", nullptr},        {"added_tokens", Json::array()},
          {"normalizer", nullptr},     {"pre_tokenizer", nullptr},
          {"post_processor", nullptr}, {"decoder", nullptr},
          {"model", std::move(model)}};
}

/// WordLevel over these words, numbered from 0; the first is unknown.
inline Json word_level(const std::vector<std::string>& words) {
  Json vocabulary = Json::object();
  for (size_t i = 0; i < words.size(); ++i) vocabulary[words[i]] = i;
  return {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", words[0]}};
}

inline Json bpe(const std::vector<std::string>& pieces, const Json& merges) {
  Json model = word_level(pieces);
  model["type"] = "BPE";
  model["unk_token"] = nullptr;
  model["merges"] = merges;
  return model;
}

inline Json added_token(int64_t id, const std::string& content, const Json& fields = {}) {
  Json token{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
             {"rstrip", false}, {"normalized", false}, {"special", true}};
  if (fields.is_object()) token.update(fields);
  return token;
}

inline HuggingFaceTokeniser tokeniser_of(const Json& json) {
  return HuggingFaceTokeniser::from_json(json, "tokenizer.json");
}

inline std::filesystem::path golden_tokeniser(const std::string& name) {
  return std::filesystem::path(FOVEA_TEST_FILES) / "golden" / "hugging_face" / name;
}

/// "token[begin-end]" of each.
inline std::vector<std::string> shown(const Encoding& encoding) {
  std::vector<std::string> rows;
  for (size_t i = 0; i < encoding.size(); ++i)
    rows.push_back(concat(encoding.tokens[i], "[", encoding.offsets[i].begin, "-",
                          encoding.offsets[i].end, "]"));
  return rows;
}

}  // namespace fovea::testing

namespace fovea {
using testing::added_token;
using testing::bpe;
using testing::decoded;
using testing::file_with;
using testing::golden_tokeniser;
using testing::normalised;
using testing::normalised_text;
using testing::pre_tokenised;
using testing::shown;
using testing::tokeniser_of;
using testing::word_level;
using Strings = std::vector<std::string>;
}  // namespace fovea

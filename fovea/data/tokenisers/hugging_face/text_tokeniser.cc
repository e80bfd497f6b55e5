#include "fovea/data/tokenisers/hugging_face/text_tokeniser.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

namespace {

constexpr int64_t kMostSymbols = 1 << 24;
constexpr size_t kMostBytes = size_t{512} << 20;  // of a tokenizer.json

Vocabulary vocabulary_of(const HuggingFaceTokeniser& tokeniser, int64_t symbols,
                         const Vocabulary::Special& special) {
  require(symbols >= tokeniser.size(), ErrorKind::InvalidArgument, "a network of ", symbols,
          " symbols cannot have a tokeniser of ", tokeniser.size());
  std::vector<std::string> tokens;
  for (int64_t id = 0; id < symbols; ++id)
    tokens.push_back(id < tokeniser.size() ? tokeniser.token(id) : concat("<row ", id, ">"));
  return Vocabulary(std::move(tokens), special);
}

std::string hash_of(const std::string& bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.text();
}

}  // namespace

HuggingFaceText::HuggingFaceText(HuggingFaceTokeniser tokeniser, int64_t symbols,
                                 const Vocabulary::Special& special)
    : Tokeniser(kKind, vocabulary_of(tokeniser, symbols, special)),
      tokeniser_(std::move(tokeniser)) {
  tokeniser_.set_truncation(nullptr);
  tokeniser_.set_padding(nullptr);
  const Encoding around = tokeniser_.surroundings(false);
  for (size_t i = 0; i < around.size(); ++i)
    if (around.sequence_ids[i] < 0) around_.push_back(around.ids[i]);
}

TokeniserState HuggingFaceText::state() const {
  const Vocabulary::Special& special = vocabulary_.special();
  TokeniserState state;
  state.model = tokeniser_.to_json().dump();
  state.description = {{"kind", kKind},
                       {"symbols", vocabulary_.size()},
                       {"padding", special.padding},
                       {"unknown", special.unknown},
                       {"begin", special.begin},
                       {"end", special.end},
                       {"model", hash_of(state.model)}};
  return state;
}

std::shared_ptr<const Tokeniser> restore_hugging_face(const TokeniserState& state,
                                                      const std::string& where) {
  const Field root = Field::root(state.description, where);
  const std::string wanted = root.at("model").text(), found = hash_of(state.model);
  require(wanted == found, ErrorKind::BadData, where,
          ": the tokenizer.json is damaged or another one: its bytes have the hash ", found,
          ", expected ", wanted);
  const int64_t symbols = root.at("symbols").integer(1, kMostSymbols);
  const auto symbol = [&](const char* key) { return root.at(key).integer(0, symbols - 1); };
  const Vocabulary::Special special{symbol("padding"), symbol("unknown"), symbol("begin"),
                                    symbol("end")};
  JsonLimits limits;
  limits.bytes = kMostBytes;
  limits.keys = size_t{1} << 24;  // a vocabulary is one object
  HuggingFaceTokeniser tokeniser =
      HuggingFaceTokeniser::from_json(parse_json(state.model, where, limits), where);
  require(tokeniser.size() <= symbols, ErrorKind::BadData, where, ": 'symbols' is ", symbols,
          ", but the tokeniser has ", tokeniser.size());
  return std::make_shared<const HuggingFaceText>(std::move(tokeniser), symbols, special);
}

std::vector<Token> HuggingFaceText::encode(std::string_view text, bool add_special_tokens) const {
  check_text(text, "text to encode");
  Encoding encoding = tokeniser_.encode(text, {}, add_special_tokens);
  std::vector<Token> tokens;
  for (size_t i = 0; i < encoding.size(); ++i) {
    const auto [begin, end] = encoding.bytes[i];
    tokens.push_back({encoding.ids[i], std::move(encoding.tokens[i]), size_t(begin), size_t(end)});
  }
  return tokens;
}

std::vector<Token> HuggingFaceText::encode(std::string_view text) const {
  return encode(text, false);
}

std::vector<Token> HuggingFaceText::encode_input(std::string_view text) const {
  return encode(text, true);
}

bool HuggingFaceText::stands_around(int64_t id) const {
  return std::ranges::find(around_, id) != around_.end();
}

std::string HuggingFaceText::join(std::span<const std::string> pieces) const {
  std::vector<int64_t> ids;
  for (const std::string& piece : pieces) ids.push_back(tokeniser_.id(piece));
  return decode(ids);
}

std::string HuggingFaceText::decode(std::span<const int64_t> ids) const {
  return tokeniser_.decode(ids);
}

}  // namespace fovea

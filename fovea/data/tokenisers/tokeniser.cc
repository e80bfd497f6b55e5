#include "fovea/data/tokenisers/tokeniser.h"

#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/tokenisers/hugging_face/text_tokeniser.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

namespace {

struct Kind {
  const char* name;
  bool marks_blanks;                            // U+2581 in a piece stands for a blank
  std::vector<Token> (*cut)(std::string_view);  // null: SentencePiece cuts
};

constexpr Kind kKinds[] = {
    {"characters", false, cut_characters},
    {"words", true, cut_words},
    {"unigram", true, nullptr},
    {"bpe", true, nullptr},
};

const Kind* find_kind(const std::string& name) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

/// Cuts by a rule and looks the pieces up.
class CutTokeniser : public Tokeniser {
 public:
  CutTokeniser(const Kind& kind, Vocabulary vocabulary)
      : Tokeniser(kind.name, std::move(vocabulary)), cut_(kind.cut) {}

  std::vector<Token> encode(std::string_view text) const override {
    check_text(text, "text to encode");
    std::vector<Token> tokens = cut_(text);
    for (Token& token : tokens) token.id = vocabulary_.id(token.text);
    return tokens;
  }

 private:
  std::vector<Token> (*cut_)(std::string_view);
};

/// U+0000 to U+001F and U+007F to U+009F: damage more often than text, so no vocabulary learns
/// them.
bool is_control(std::string_view piece) {
  if (piece.starts_with(kBlankMark)) piece.remove_prefix(kBlankMark.size());
  const auto byte = [&](size_t i) {
    return i < piece.size() ? static_cast<unsigned char>(piece[i]) : 0xFF;
  };
  return byte(0) < 0x20 || byte(0) == 0x7F || (byte(0) == 0xC2 && byte(1) < 0xA0);
}

Vocabulary count_pieces(const Kind& kind, const TokeniserOptions& options,
                        std::span<const std::string> texts) {
  std::unordered_map<std::string, int64_t> counts;
  for (const std::string& text : texts)
    for (Token& token : kind.cut(text)) ++counts[std::move(token.text)];
  std::erase_if(counts, [](const auto& entry) { return is_control(entry.first); });
  require(!counts.empty(), ErrorKind::BadData, "tokeniser '", kind.name, "': the ", texts.size(),
          " texts to learn from hold no text");
  Vocabulary vocabulary =
      Vocabulary::from_counts({counts.begin(), counts.end()}, options.minimum_count, options.size);
  require(vocabulary.size() > Vocabulary::kSpecial, ErrorKind::BadData, "tokeniser '", kind.name,
          "': no symbol is seen ", options.minimum_count,
          " times, so all would be unknown; set minimum_count lower");
  return vocabulary;
}

}  // namespace

void TokeniserOptions::describe(OptionList& list, const std::string& text) {
  list.add("tokens", kind, concat("what a ", text, " is cut into")).choices(tokeniser_kinds());
  list.add("vocabulary_size", size, "most symbols; 0: no limit (unigram and bpe need one)")
      .at_least(0);
  list.add("minimum_count", minimum_count,
           "characters and words that training saw less often are unknown")
      .at_least(1);
}

std::vector<std::string> tokeniser_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::shared_ptr<const Tokeniser> Tokeniser::learn(const TokeniserOptions& options,
                                                  std::span<const std::string> texts) {
  const Kind* kind = find_kind(options.kind);
  const auto names = tokeniser_kinds();
  require(kind != nullptr, ErrorKind::NotFound, "there is no tokeniser '", options.kind, "'",
          suggestion(options.kind, names), "; known: ", fovea::join(names));
  const bool size_is_optional = kind->cut != nullptr;
  require(options.size > Vocabulary::kSpecial || (options.size == 0 && size_is_optional),
          ErrorKind::InvalidArgument, "tokeniser '", options.kind, "': found size ", options.size,
          "; expected ", size_is_optional ? "0 (no limit) or " : "", "more than ",
          Vocabulary::kSpecial, ", the number of special symbols");
  for (size_t i = 0; i < texts.size(); ++i) check_text(texts[i], concat("training text ", i + 1));
  if (kind->cut == nullptr) return learn_sentencepiece(options, texts);
  return std::make_shared<CutTokeniser>(*kind, count_pieces(*kind, options, texts));
}

TokeniserState Tokeniser::state() const {
  TokeniserState state{Json{{"kind", kind_}, {"vocabulary", vocabulary_.to_json()}}, model_};
  if (!model_.empty()) {
    ContentHash hash;
    hash.add(model_);
    state.description["model"] = hash.text();
  }
  return state;
}

std::shared_ptr<const Tokeniser> Tokeniser::restore(const TokeniserState& state,
                                                    const std::string& where) {
  const Json& description = state.description;
  const auto text = [&](const char* key) {
    require(description.is_object() && description.contains(key) && description[key].is_string(),
            ErrorKind::BadData, where, ": the tokeniser has no text '", key, "'");
    return description[key].get<std::string>();
  };
  const std::string name = text("kind");
  if (name == HuggingFaceText::kKind) return restore_hugging_face(state, where);
  const Kind* kind = find_kind(name);
  require(kind != nullptr, ErrorKind::BadData, where, ": there is no tokeniser '", name,
          "'; known: ", fovea::join(tokeniser_kinds()));
  require(description.contains("vocabulary"), ErrorKind::BadData, where,
          ": the tokeniser has no 'vocabulary'");
  Vocabulary vocabulary = Vocabulary::from_json(description["vocabulary"], where);
  if (kind->cut != nullptr) return std::make_shared<CutTokeniser>(*kind, std::move(vocabulary));
  ContentHash hash;
  hash.add(state.model);
  require(text("model") == hash.text(), ErrorKind::BadData, where,
          ": the SentencePiece model is damaged or another one: its bytes have the hash ",
          hash.text(), ", expected ", text("model"));
  return restore_sentencepiece(name, std::move(vocabulary), state.model, where);
}

std::string Tokeniser::decode(std::span<const int64_t> ids) const {
  std::vector<std::string> pieces;
  for (const int64_t id : ids)
    if (id != vocabulary_.special().end) pieces.push_back(vocabulary_.token(id));
  return join(pieces);
}

std::string Tokeniser::join(std::span<const std::string> pieces) const {
  std::string joined = fovea::join(pieces, "");
  if (!find_kind(kind_)->marks_blanks) return joined;
  std::string text;
  for (size_t at = 0; at < joined.size();) {
    const size_t mark = std::min(joined.find(kBlankMark, at), joined.size());
    text.append(joined, at, mark - at);
    if (mark < joined.size()) text += ' ';
    at = mark + kBlankMark.size();
  }
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

}  // namespace fovea

// Kinds unigram and bpe: pieces that SentencePiece learns from the texts (Kudo & Richardson 2018),
// after its own normalisation (NFKC, white space runs as one blank).
#include <algorithm>
#include <array>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/module.h"
#include "fovea/data/tokenisers/kinds.h"
#include "fovea/data/tokenisers/sentencepiece_module.h"

namespace fovea {

namespace {

// Where the shared library of sentencepiece_module.cc may lie, separated by colons.
#ifdef FOVEA_WITH_SENTENCEPIECE
constexpr const char* kModulePlaces = FOVEA_SENTENCEPIECE_PLACES;
#else
constexpr const char* kModulePlaces = "";
#endif

const Module<SentencePieceModule>& module() {
  static const Module<SentencePieceModule> opened(
      kModulePlaces, kSentencePieceDoor,
      "this build has no SentencePiece, which the tokenisers 'unigram' and 'bpe' need to learn and "
      "to cut a text; install it (libsentencepiece-dev) and build with "
      "FOVEA_WITH_SENTENCEPIECE=ON, or use a prepared file");
  return opened;
}

size_t code_point_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

using ModelPointer = std::unique_ptr<const SentencePieceModel>;

class SentencePieceTokeniser : public Tokeniser {
 public:
  SentencePieceTokeniser(std::string kind, Vocabulary vocabulary, std::string bytes,
                         ModelPointer model)
      : Tokeniser(std::move(kind), std::move(vocabulary), std::move(bytes)),
        loaded_(std::move(model)) {}

  std::vector<Token> encode(std::string_view text) const override {
    check_text(text, "text to encode");
    module().get();
    std::vector<Token> tokens;
    for (auto& piece : loaded_->encode(text)) {
      Token token{piece.id, std::move(piece.text), piece.begin, piece.end};
      // A character that becomes several counts for the last of them only; all of them come from
      // it. The blank before the first word comes from nothing.
      const bool added_blank = tokens.empty() && token.text == kBlankMark;
      if (token.begin == token.end && token.begin < text.size() && !added_blank)
        token.end += code_point_length(text[token.begin]);
      tokens.push_back(std::move(token));
    }
    return tokens;
  }

 private:
  ModelPointer loaded_;  // null without the module
};

// The special symbols inside SentencePiece, in the order of Vocabulary. Their names have a blank,
// which no normalised text has, so a literal "<s>" is learned as text.
constexpr std::array<const char*, Vocabulary::kSpecial> kSpecialPieces = {"< pad>", "< unk>",
                                                                          "< s>", "< /s>"};

ModelPointer load(const std::string& bytes, const std::string& where) {
  std::string error;
  ModelPointer model = module().get().load(bytes, error);
  require(model != nullptr, ErrorKind::BadData, where, ": the SentencePiece model is damaged (",
          error, ")");
  return model;
}

/// Training texts as the trainer can take them: left to itself it drops a text that is too long or
/// that holds U+2585, its own sign for unknown.
class TrainingTexts {
 public:
  explicit TrainingTexts(std::span<const std::string> texts) : texts_(texts) {}

  /// The next text or part of one; false after the last.
  bool next(std::string& part) {
    while (text_ < texts_.size() && begin_ == texts_[text_].size()) begin_ = 0, ++text_;
    if (text_ == texts_.size()) return false;
    const std::string& text = texts_[text_];
    const size_t end = part_end(text);
    part = text.substr(begin_, end - begin_);
    begin_ = end;
    for (size_t at = part.find("\u2585"); at != std::string::npos; at = part.find("\u2585", at))
      part.replace(at, 3, " ");
    return true;
  }

 private:
  // Bytes; the trainer takes 4192 and counts positions after normalisation with 16 bits.
  static constexpr size_t kLongest = 3000;

  /// After the last blank that fits, or else between two characters.
  size_t part_end(const std::string& text) const {
    if (text.size() - begin_ <= kLongest) return text.size();
    const size_t blank = std::string_view(text).substr(begin_, kLongest).find_last_of(" \t\r\n");
    if (blank != std::string_view::npos) return begin_ + blank + 1;
    size_t end = begin_ + kLongest;
    while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return end;
  }

  std::span<const std::string> texts_;
  size_t text_ = 0, begin_ = 0;
};

std::unordered_set<std::string_view> characters_of(std::span<const std::string> texts) {
  std::unordered_set<std::string_view> found;
  for (const std::string& text : texts)
    for (size_t at = 0; at < text.size(); at += code_point_length(text[at]))
      found.insert(std::string_view(text).substr(at, code_point_length(text[at])));
  return found;
}

/// False for what SentencePiece's normalisation drops or takes for a blank. Texts of nothing else
/// would end the whole program inside its trainer.
bool survives(std::string_view character) {
  static const std::unordered_set<std::string_view> blanks = {
      "\u008f", "\u009f", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
      "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u200b",
      "\u200c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202f", "\u205f", "\u2581",
      "\u2585", "\u3000", "\ufeff", "\ufffd", "\x7f"};
  return static_cast<unsigned char>(character[0]) > 0x20 && !blanks.contains(character);
}

/// The number after the last `words` in SentencePiece's message, or 0.
int64_t number_after(const std::string& message, const std::string& words) {
  const size_t found = message.rfind(words);
  if (found == std::string::npos) return 0;
  int64_t number = 0;
  const size_t begin = found + words.size();
  parse_integer(message.substr(begin, message.find_first_not_of("0123456789", begin) - begin),
                number);
  return number;
}

[[noreturn]] void refuse(const TokeniserOptions& options, const std::string& message) {
  const int64_t least = number_after(message, " vs "), most = number_after(message, "value <= ");
  const std::string who = concat("tokeniser '", options.kind, "': ");
  if (message.find("required_chars") != std::string::npos && least > 0)
    fail(ErrorKind::BadData, who, "the characters of the texts alone need a size of ", least,
         ", found ", options.size, "; set size to ", least, " or more");
  if (most > 0)
    fail(ErrorKind::BadData, who, "the texts give no more than ", most, " pieces, found size ",
         options.size, "; set size to ", most, " or less, or give more text");
  fail(ErrorKind::BadData, who, "SentencePiece cannot learn from the texts: ", message);
}

std::string train(const TokeniserOptions& options, std::span<const std::string> texts) {
  constexpr int64_t kMostPieces = 1000000;
  require(options.size <= kMostPieces, ErrorKind::InvalidArgument, "tokeniser '", options.kind,
          "': found size ", options.size, "; expected at most ", kMostPieces);
  const auto characters = characters_of(texts);
  require(std::any_of(characters.begin(), characters.end(), survives), ErrorKind::BadData,
          "tokeniser '", options.kind, "': the ", texts.size(),
          " texts to learn from hold no text");
  constexpr size_t kManyCharacters = 1000;  // then the rarest are not worth a symbol each
  TrainingTexts parts(texts);
  std::string error;
  std::string model = module().get().train(
      {{"model_type", options.kind},
       {"vocab_size", std::to_string(options.size)},
       {"character_coverage", characters.size() > kManyCharacters ? "0.9995" : "1.0"},
       {"normalization_rule_name", "nmt_nfkc"},
       {"hard_vocab_limit", options.kind == "unigram" ? "false" : "true"},
       {"pad_id", std::to_string(Vocabulary::kPadding)},
       {"unk_id", std::to_string(Vocabulary::kUnknown)},
       {"bos_id", std::to_string(Vocabulary::kBegin)},
       {"eos_id", std::to_string(Vocabulary::kEnd)},
       {"pad_piece", kSpecialPieces[Vocabulary::kPadding]},
       {"unk_piece", kSpecialPieces[Vocabulary::kUnknown]},
       {"bos_piece", kSpecialPieces[Vocabulary::kBegin]},
       {"eos_piece", kSpecialPieces[Vocabulary::kEnd]},
       {"num_threads", "1"},  // sums in one order
       {"minloglevel", "2"}},
      [&](std::string& part) { return parts.next(part); }, error);
  if (!error.empty()) refuse(options, error);
  return model;
}

}  // namespace

std::shared_ptr<const Tokeniser> learn_sentencepiece(const TokeniserOptions& options,
                                                     std::span<const std::string> texts) {
  std::string bytes = train(options, texts);
  ModelPointer model = load(bytes, "the tokeniser just learned");
  std::vector<std::string> pieces = model->pieces();
  pieces.erase(pieces.begin(), pieces.begin() + Vocabulary::kSpecial);
  return std::make_shared<SentencePieceTokeniser>(options.kind, Vocabulary(pieces),
                                                  std::move(bytes), std::move(model));
}

std::vector<ScoredPiece> learn_unigram_pieces(int64_t size, std::span<const std::string> texts) {
  const TokeniserOptions options{"unigram", size + Vocabulary::kSpecial};
  const ModelPointer model = load(train(options, texts), "the tokeniser just learned");
  const std::vector<std::string> pieces = model->pieces();
  const std::vector<double> scores = model->scores();
  std::vector<ScoredPiece> learned;
  for (size_t i = Vocabulary::kSpecial; i < pieces.size(); ++i)
    learned.push_back({pieces[i], scores[i]});
  return learned;
}

std::shared_ptr<const Tokeniser> restore_sentencepiece(const std::string& kind,
                                                       Vocabulary vocabulary, std::string bytes,
                                                       const std::string& where) {
  ModelPointer model;
  if (module().is_there()) {
    model = load(bytes, where);
    std::vector<std::string> expected(kSpecialPieces.begin(), kSpecialPieces.end());
    for (int64_t id = Vocabulary::kSpecial; id < vocabulary.size(); ++id)
      expected.push_back(vocabulary.token(id));
    require(model->pieces() == expected, ErrorKind::BadData, where,
            ": the SentencePiece model has other pieces than the vocabulary");
  }
  return std::make_shared<SentencePieceTokeniser>(kind, std::move(vocabulary), std::move(bytes),
                                                  std::move(model));
}

}  // namespace fovea

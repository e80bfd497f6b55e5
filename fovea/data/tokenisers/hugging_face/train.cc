#include "fovea/data/tokenisers/hugging_face/train.h"

#include <algorithm>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/data/tokenisers/hugging_face/components.h"
#include "fovea/data/tokenisers/hugging_face/files.h"
#include "fovea/data/tokenisers/kinds.h"
#include "fovea/data/tokenisers/pair_merges.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace {

using hugging_face::special_token_json;

constexpr int64_t kMostTokens = 1000000;

/// How often each word stands in the texts, cut as `json` says.
std::unordered_map<std::string, int64_t> count_words(const Json& json,
                                                     std::span<const std::string> texts) {
  const auto pre_tokeniser =
      hugging_face::pre_tokeniser_table().make(Field(json["pre_tokenizer"], "pre_tokenizer"));
  std::unordered_map<std::string, int64_t> counts;
  for (size_t i = 0; i < texts.size(); ++i) {
    check_text(texts[i], concat("text ", i + 1, " to learn from"));
    hugging_face::PreTokenisedText text;
    text.add(hugging_face::AlignedText(texts[i]), 0, texts[i].size(), {});
    pre_tokeniser(text);
    for (const auto& piece : text.pieces()) ++counts[std::string(text.view(piece))];
  }
  return counts;
}

/// The special token, the 256 bytes, then pairs in the order in which they were merged.
Json learn_bpe(const TokeniserTraining& training, std::span<const std::string> texts) {
  constexpr const char* kEndOfText = "<|endoftext|>";
  Json json = hugging_face::byte_level_json(/*add_prefix_space=*/false);
  std::vector<char32_t> alphabet;
  for (unsigned byte = 0; byte < 256; ++byte)
    alphabet.push_back(hugging_face::byte_character(static_cast<unsigned char>(byte)));
  std::sort(alphabet.begin(), alphabet.end());
  std::vector<std::string> pieces{kEndOfText};
  std::unordered_map<std::string, int32_t> symbols;
  for (const char32_t code : alphabet) {
    append_code_point(code, pieces.emplace_back());
    symbols.emplace(pieces.back(), int32_t(pieces.size() - 1));
  }
  require(training.size >= int64_t(pieces.size()), ErrorKind::InvalidArgument,
          "tokeniser 'bpe': found size ", training.size, "; expected at least ", pieces.size(),
          ", the bytes and ", kEndOfText);
  std::vector<PairMerges::Word> words;
  for (const auto& [text, count] : count_words(json, texts)) {
    PairMerges::Word word{{}, count};
    for (size_t at = 0; at < text.size();) {
      const size_t size = code_point_size(text[at]);
      word.symbols.push_back(symbols.at(text.substr(at, size)));
      at += size;
    }
    words.push_back(std::move(word));
  }
  require(!words.empty(), ErrorKind::BadData,
          "tokeniser 'bpe': the texts to learn from hold no text");
  PairMerges pairs(std::move(words));
  Json merges = Json::array(), vocabulary = Json::object();
  while (int64_t(pieces.size()) < training.size) {
    const auto best = pairs.best(training.minimum_count);
    if (!best) break;
    const std::string &left = pieces[size_t(best->first)], &right = pieces[size_t(best->second)];
    merges.push_back(left + " " + right);
    const auto [found, is_new] = symbols.emplace(left + right, int32_t(pieces.size()));
    if (is_new) pieces.push_back(found->first);
    pairs.merge(*best, found->second);
  }
  auto& items = vocabulary.get_ref<Json::object_t&>();
  for (size_t i = 0; i < pieces.size(); ++i) items.Container::emplace_back(pieces[i], i);
  json["added_tokens"].push_back(special_token_json(0, kEndOfText));
  json["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", false},
                   {"vocab", std::move(vocabulary)},
                   {"merges", std::move(merges)}};
  return json;
}

Json learn_wordpiece(const TokeniserTraining& training, std::span<const std::string> texts) {
  WordPieceOptions options;
  options.lowercase = training.lowercase;
  WordCounts words(options);
  for (const std::string& text : texts) words.add(text);
  WordPieceLearning learning;
  learning.size = training.size;
  learning.minimum_count = training.minimum_count;
  return wordpiece_tokenizer_json(WordPiece::learn(words, learning));
}

/// As T5: NFKC, single blanks, "▁" before each word, </s> behind the text.
Json learn_unigram(const TokeniserTraining& training, std::span<const std::string> texts) {
  constexpr const char* kSpecial[] = {"<pad>", "</s>", "<unk>"};
  constexpr int64_t kEnd = 1, kUnknown = 2;
  require(training.size > int64_t(std::size(kSpecial)), ErrorKind::InvalidArgument,
          "tokeniser 'unigram': found size ", training.size, "; expected more than ",
          std::size(kSpecial), ", the number of special tokens");
  for (size_t i = 0; i < texts.size(); ++i)
    check_text(texts[i], concat("text ", i + 1, " to learn from"));
  Json added = Json::array(), vocabulary = Json::array();
  for (const char* name : kSpecial) {
    added.push_back(special_token_json(int64_t(added.size()), name));
    vocabulary.push_back(Json::array({name, 0.0}));
  }
  for (const ScoredPiece& piece :
       learn_unigram_pieces(training.size - int64_t(std::size(kSpecial)), texts))
    vocabulary.push_back(Json::array({piece.text, piece.score}));
  const auto sequence = [](const char* id) {
    return Json{{"Sequence", {{"id", id}, {"type_id", 0}}}};
  };
  const Json end{{"SpecialToken", {{"id", kSpecial[kEnd]}, {"type_id", 0}}}};
  const Json metaspace{{"type", "Metaspace"},
                       {"replacement", kBlankMark},
                       {"prepend_scheme", "always"},
                       {"split", true}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Nmt"}},
              {{"type", "NFKC"}},
              {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}},
              {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}}}}}},
          {"pre_tokenizer", metaspace},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", Json::array({sequence("A"), end})},
            {"pair", Json::array({sequence("A"), end, sequence("B"), end})},
            {"special_tokens",
             {{kSpecial[kEnd],
               {{"id", kSpecial[kEnd]},
                {"ids", Json::array({kEnd})},
                {"tokens", Json::array({kSpecial[kEnd]})}}}}}}},
          {"decoder", metaspace},
          {"model",
           {{"type", "Unigram"},
            {"unk_id", kUnknown},
            {"vocab", std::move(vocabulary)},
            {"byte_fallback", false}}}};
}

struct TrainedKind {
  const char* name;
  Json (*learn)(const TokeniserTraining&, std::span<const std::string>);
};

constexpr TrainedKind kTrained[] = {
    {"bpe", learn_bpe}, {"wordpiece", learn_wordpiece}, {"unigram", learn_unigram}};

}  // namespace

void TokeniserTraining::describe(OptionList& list) {
  std::vector<std::string> names;
  for (const TrainedKind& kind : kTrained) names.emplace_back(kind.name);
  list.add("model", model, "what is learned").choices(names);
  list.add("size", size, "most tokens, special ones included").within(1, double(kMostTokens));
  list.add("minimum_count", minimum_count, "bpe, wordpiece: a pair seen less often is never merged")
      .at_least(1);
  list.add("lowercase", lowercase, "wordpiece: upper and lower case are the same");
}

HuggingFaceTokeniser train_tokeniser(const TokeniserTraining& training,
                                     std::span<const std::string> texts) {
  require_icu();
  for (const TrainedKind& kind : kTrained)
    if (training.model == kind.name)
      return HuggingFaceTokeniser::from_json(kind.learn(training, texts),
                                             "the tokeniser just learned");
  std::vector<std::string> names;
  for (const TrainedKind& kind : kTrained) names.emplace_back(kind.name);
  fail(ErrorKind::InvalidArgument, "tokeniser: '", training.model, "' cannot be learned",
       suggestion(training.model, names), "; known are ", join(names));
}

}  // namespace fovea

// Files put together as known families of networks have them.
#include "tests/data/tokenisers/hugging_face/samples.h"

namespace fovea::families_test {
namespace {

using Ids = std::vector<int64_t>;

class Families : public ::testing::Test {
 protected:
  void SetUp() override { NEEDS_ICU(); }
};

Json of_type(const char* type, const Json& fields = Json::object()) {
  Json component{{"type", type}};
  component.update(fields);
  return component;
}

/// Llama 2, Mistral: blanks become ▁ in the normaliser, the whole text is one word, bytes for what
/// is no piece.
TEST_F(Families, Llama2) {
  Json file = file_with(
      bpe({"<unk>", "<s>", "</s>", "<0xE2>", "<0x82>", "<0xAC>", "▁", "h", "i", "▁h", "▁hi"},
          {"▁ h", "▁h i"}));
  file["model"].update(Json{{"unk_token", "<unk>"}, {"fuse_unk", true}, {"byte_fallback", true}});
  file["added_tokens"] =
      Json::array({added_token(0, "<unk>"), added_token(1, "<s>"), added_token(2, "</s>")});
  const Json blanks{{"pattern", {{"String", " "}}}, {"content", "▁"}};
  file["normalizer"] =
      of_type("Sequence", {{"normalizers", Json::array({of_type("Prepend", {{"prepend", "▁"}}),
                                                        of_type("Replace", blanks)})}});
  file["post_processor"] =
      of_type("TemplateProcessing",
              {{"single", Json::array({Json{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                                       Json{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}})},
               {"special_tokens",
                {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", Json::array({"<s>"})}}}}}});
  const Json marks{{"pattern", {{"String", "▁"}}}, {"content", " "}};
  file["decoder"] =
      of_type("Sequence",
              {{"decoders",
                Json::array({of_type("Replace", marks), of_type("ByteFallback"), of_type("Fuse"),
                             of_type("Strip", {{"content", " "}, {"start", 1}, {"stop", 0}})})}});
  const auto tokeniser = tokeniser_of(file);
  const Encoding encoding = tokeniser.encode("hi €");
  EXPECT_EQ(shown(encoding), (Strings{"<s>[0-0]", "▁hi[0-2]", "▁[2-3]", "<0xE2>[3-4]",
                                      "<0x82>[3-4]", "<0xAC>[3-4]"}));
  EXPECT_EQ(tokeniser.decode(encoding.ids), "hi €");
  EXPECT_EQ(tokeniser.encode("hi</s>hi").ids, (Ids{1, 10, 2, 10}));
  EXPECT_EQ(tokeniser.encode("").ids, (Ids{1}));
}

/// Qwen2: NFC, an expression, then bytes without GPT-2's own expression.
TEST_F(Families, Qwen2) {
  Json file = file_with(bpe({"Ġ", "a", "Ã", "©", "Ã©", "Ċ"}, {"Ã ©"}));
  file["normalizer"] = of_type("NFC");
  const Json expression{
      {"pattern", {{"Regex", "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\s*[\\r\\n]+|\\s+"}}},
      {"behavior", "Isolated"},
      {"invert", false}};
  const Json bytes{{"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  file["pre_tokenizer"] = of_type(
      "Sequence", {{"pretokenizers",
                    Json::array({of_type("Split", expression), of_type("ByteLevel", bytes)})}});
  file["post_processor"] = of_type("ByteLevel", bytes);
  file["decoder"] = of_type("ByteLevel", bytes);
  const auto tokeniser = tokeniser_of(file);
  const Encoding encoding = tokeniser.encode("a e\u0301\n\n");  // the accent on its own
  EXPECT_EQ(shown(encoding), (Strings{"a[0-1]", "Ġ[1-2]", "Ã©[2-3]", "Ċ[4-5]", "Ċ[5-6]"}));
  EXPECT_EQ(tokeniser.decode(encoding.ids), "a é\n\n");
}

/// CLIP: lower case, runs of blanks as one, words that end in </w>.
TEST_F(Families, Clip) {
  Json file = file_with(
      bpe({"a", "c", "a</w>", "t</w>", "at</w>", "cat</w>", "!</w>"}, {"a t</w>", "c at</w>"}));
  file["model"]["end_of_word_suffix"] = "</w>";
  const Json runs{{"pattern", {{"Regex", "\\s+"}}}, {"content", " "}};
  file["normalizer"] =
      of_type("Sequence", {{"normalizers", Json::array({of_type("NFC"), of_type("Replace", runs),
                                                        of_type("Lowercase")})}});
  const Json words{{"pattern", {{"Regex", "'s|'t|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"}}},
                   {"behavior", "Removed"},
                   {"invert", true}};
  file["pre_tokenizer"] = of_type(
      "Sequence",
      {{"pretokenizers", Json::array({of_type("Split", words),
                                      of_type("ByteLevel", {{"add_prefix_space", false}})})}});
  file["decoder"] = of_type("BPEDecoder", {{"suffix", "</w>"}});
  const auto tokeniser = tokeniser_of(file);
  const Encoding encoding = tokeniser.encode("A  Cat!");
  EXPECT_EQ(shown(encoding), (Strings{"a</w>[0-1]", "cat</w>[3-6]", "!</w>[6-7]"}));
  EXPECT_EQ(tokeniser.decode(encoding.ids), "a cat !");
}

/// XLM-RoBERTa: blanks cut, each word begins with ▁, pieces by their scores.
TEST_F(Families, XlmRoberta) {
  Json vocabulary = Json::array();
  for (const auto& [piece, score] : {std::pair{"<s>", 0.0},
                                     {"</s>", 0.0},
                                     {"<unk>", 0.0},
                                     {"▁he", -2.0},
                                     {"llo", -2.0},
                                     {"▁", -3.0},
                                     {"he", -9.0},
                                     {"▁hello", -3.5}})
    vocabulary.push_back(Json::array({piece, score}));
  Json file = file_with({{"type", "Unigram"}, {"unk_id", 2}, {"vocab", vocabulary}});
  file["added_tokens"] = Json::array({added_token(0, "<s>"), added_token(1, "</s>"),
                                      added_token(8, "<mask>", {{"lstrip", true}})});
  file["pre_tokenizer"] = of_type(
      "Sequence",
      {{"pretokenizers",
        Json::array({of_type("WhitespaceSplit"),
                     of_type("Metaspace", {{"replacement", "▁"}, {"add_prefix_space", true}})})}});
  const Encoding encoding = tokeniser_of(file).encode("hello  hellohe <mask> ß");
  EXPECT_EQ(shown(encoding), (Strings{"▁hello[0-5]", "▁hello[7-12]", "he[12-14]", " <mask>[14-21]",
                                      "▁[22-23]", "ß[22-23]"}));
  EXPECT_EQ(encoding.ids, (Ids{7, 7, 6, 8, 5, 2}));
}

/// DeBERTa, BART and RoBERTa keep the blank before <mask> with it.
TEST_F(Families, MaskTakesTheBlankBefore) {
  Json file = file_with(bpe({"Ġ", "a", "Ġa"}, {"Ġ a"}));
  file["pre_tokenizer"] =
      of_type("ByteLevel", {{"add_prefix_space", false}, {"trim_offsets", true}});
  file["post_processor"] = file["pre_tokenizer"];
  file["added_tokens"] = Json::array({added_token(3, "<mask>", {{"lstrip", true}})});
  EXPECT_EQ(shown(tokeniser_of(file).encode("a <mask> a")),
            (Strings{"a[0-1]", " <mask>[2-8]", "Ġa[9-10]"}));
}

}  // namespace
}  // namespace fovea::families_test

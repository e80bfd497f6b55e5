#include "fovea/base/base64.h"
#include "tests/data/tokenisers/hugging_face/samples.h"

namespace fovea::normalisers_test {
namespace {

Json of_type(const char* type) {
  return {{"type", type}};
}

class Normalisers : public ::testing::Test {
 protected:
  void SetUp() override { NEEDS_ICU(); }
};

TEST_F(Normalisers, UnicodeFormsKeepThePlaceOfWhatTheyReplace) {
  EXPECT_EQ(normalised(of_type("NFD"), "él"), "e[0-2]\u0301[0-2]l[2-3]");
  EXPECT_EQ(normalised(of_type("NFC"), "e\u0301l"), "é[0-1]l[3-4]");
  EXPECT_EQ(normalised(of_type("NFC"), "él"), "é[0-2]l[2-3]");
  EXPECT_EQ(normalised(of_type("NFKC"), "ﬁ①"), "f[0-3]i[0-3]1[3-6]");
  EXPECT_EQ(normalised(of_type("NFKD"), "ﬁé"), "f[0-3]i[0-3]e[3-5]\u0301[3-5]");
  EXPECT_EQ(normalised(of_type("NFD"), "각"), "\u1100[0-3]\u1161[0-3]\u11a8[0-3]");
  EXPECT_EQ(normalised(of_type("NFC"), "\u1100\u1161\u11a8"), "각[0-3]");
  // Marks are put in order: the dot below comes before the acute.
  EXPECT_EQ(normalised_text(of_type("NFD"), "a\u0301\u0323"), "a\u0323\u0301");
  EXPECT_EQ(normalised_text(of_type("NFC"), "a\u0301\u0323"), "ạ\u0301");
  EXPECT_EQ(normalised_text(of_type("NFC"), "\u0301a"), "\u0301a");
}

TEST_F(Normalisers, LowercaseAndAccents) {
  EXPECT_EQ(normalised(of_type("Lowercase"), "Aİ"), "a[0-1]i[1-3]\u0307[1-3]");
  EXPECT_EQ(normalised_text(of_type("Lowercase"), "ÀΣ"), "àσ");
  EXPECT_EQ(normalised(of_type("StripAccents"), "e\u0301l"), "e[0-1]l[3-4]");
  EXPECT_EQ(normalised_text(of_type("StripAccents"), "é"),
            "é");  // one character: no mark of its own
}

TEST_F(Normalisers, BertNormalizer) {
  const Json bert = of_type("BertNormalizer");
  EXPECT_EQ(normalised(bert, "É x"), "e[0-2] [2-3]x[3-4]");
  EXPECT_EQ(normalised_text(bert, std::string("a\0b\x01\u200d\ufffd\tc\u3000", 15)), "ab c ");
  EXPECT_EQ(normalised(bert, "x東"), "x[0-1] [1-4]東[1-4] [1-4]");
  EXPECT_EQ(normalised_text(bert, "ひ\U0002B820"), "ひ\U0002B820");  // no Chinese characters here
  Json cased = bert;
  cased["lowercase"] = false;
  EXPECT_EQ(normalised_text(cased, "Éa"), "Éa");
  cased["strip_accents"] = true;
  EXPECT_EQ(normalised_text(cased, "Éa"), "Ea");
  Json accents = bert;
  accents["strip_accents"] = false;
  EXPECT_EQ(normalised_text(accents, "É"), "é");
}

TEST_F(Normalisers, StripPrependReplace) {
  const auto strip = [](bool left, bool right) {
    return Json{{"type", "Strip"}, {"strip_left", left}, {"strip_right", right}};
  };
  EXPECT_EQ(normalised(strip(true, true), " a b\u3000"), "a[1-2] [2-3]b[3-4]");
  EXPECT_EQ(normalised_text(strip(true, false), " a "), "a ");
  EXPECT_EQ(normalised_text(strip(false, true), " a "), " a");
  EXPECT_EQ(normalised_text(strip(true, true), " \t "), "");
  const Json prepend{{"type", "Prepend"}, {"prepend", "▁"}};
  EXPECT_EQ(normalised(prepend, "ab"), "▁[0-1]a[0-1]b[1-2]");
  EXPECT_EQ(normalised(prepend, ""), "");
  const Json blanks{{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}};
  EXPECT_EQ(normalised(blanks, "a b"), "a[0-1]▁[1-2]b[2-3]");
  const Json runs{{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " -"}};
  EXPECT_EQ(normalised(runs, "a \tb"), "a[0-1] [2-3]-[2-3]b[3-4]");
  const Json nothing{{"type", "Replace"}, {"pattern", {{"String", "b"}}}, {"content", ""}};
  EXPECT_EQ(normalised(nothing, "abc"), "a[0-1]c[2-3]");
  const Json empty{{"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", "x"}};
  EXPECT_EQ(normalised_text(empty, "abc"), "abc");
}

TEST_F(Normalisers, NmtByteLevelAndSequence) {
  EXPECT_EQ(normalised_text(of_type("Nmt"), "a\x01\u200b\tb\u009f▁"), "a  b ");
  EXPECT_EQ(normalised(of_type("ByteLevel"), "é "), "Ã[0-2]©[0-2]Ġ[2-3]");
  const Json sequence{{"type", "Sequence"},
                      {"normalizers", Json::array({of_type("NFD"), of_type("StripAccents"),
                                                   of_type("Lowercase")})}};
  EXPECT_EQ(normalised(sequence, "ÉlÉ"), "e[0-2]l[2-3]e[3-5]");
}

/// SentencePiece's form of: ﬁ to fi, no-break space to a blank, zero width space to nothing, A and
/// ring to Å, ① to 1, ㍿ to 株式会社.
std::string small_charsmap() {
  const std::pair<size_t, uint32_t> given[] = {
      {0, 0x400},        {6, 0x58A},        {7, 0x80000006},   {64, 0x441},  {67, 0x8AC},
      {97, 0x480},       {98, 0x5A0},       {99, 0x80000003},  {110, 0x88D}, {112, 0x491},
      {141, 0x4CC},      {192, 0x581},      {193, 0x80000000}, {195, 0x4C2}, {208, 0x80000009},
      {209, 0x5A0},      {210, 0x8000000B}, {211, 0x5BF},      {226, 0x4E3}, {227, 0x8E2},
      {234, 0x80000005}, {235, 0x58B},      {238, 0x4EF}};
  std::vector<uint32_t> units(256, 0);
  for (const auto& [at, unit] : given) units[at] = unit;
  const uint32_t size = 4 * 256;
  std::string bytes(reinterpret_cast<const char*>(&size), 4);
  bytes.append(reinterpret_cast<const char*>(units.data()), size);
  for (const char* text : {"fi", " ", "", "Å", "1", "株式会社"}) bytes += std::string(text) + '\0';
  return base64_encode(bytes);
}

TEST_F(Normalisers, Precompiled) {
  const Json component{{"type", "Precompiled"}, {"precompiled_charsmap", small_charsmap()}};
  EXPECT_EQ(normalised(component, "aﬁ①"), "a[0-1]f[1-4]i[1-4]1[4-7]");
  EXPECT_EQ(normalised(component, "x\u00a0y"), "x[0-1] [1-3]y[3-4]");
  EXPECT_EQ(normalised(component, "a\u200bb"), "a[0-1]b[4-5]");
  EXPECT_EQ(normalised(component, "A\u030ab"), "Å[0-1]b[3-4]");  // two characters become one
  EXPECT_EQ(normalised_text(component, "㍿!"), "株式会社!");
  EXPECT_EQ(normalised_text(component, "plain ASCII\r\n"), "plain ASCII\r\n");
  // What is removed in front of everything shifts the places behind it, as in the reference.
  EXPECT_EQ(normalised(component, "\u200bab"), "a[0-3]b[3-4]");
  for (const std::string& damaged : {std::string("AAAA"), std::string("/////w=="), std::string()})
    expect_error(ErrorKind::BadData, "precompiled_charsmap", [&] {
      normalised({{"type", "Precompiled"}, {"precompiled_charsmap", damaged}}, "a");
    });
}

}  // namespace
}  // namespace fovea::normalisers_test

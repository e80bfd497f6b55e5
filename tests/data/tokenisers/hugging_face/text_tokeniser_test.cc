// A tokenizer.json as the tokeniser of pairs of texts.
#include "fovea/data/tokenisers/hugging_face/text_tokeniser.h"

#include <gtest/gtest.h>

#include "tests/data/tokenisers/samples.h"
#include "tests/support/expect_error.h"

namespace fovea::text_tokeniser_test {
namespace {

using testing::expect_error;

constexpr Vocabulary::Special kT5{0, 2, 0, 1};  // as T5 has them

HuggingFaceTokeniser golden_tokeniser() {
  return HuggingFaceTokeniser::load(std::string(FOVEA_TEST_FILES) +
                                    "/golden/hugging_face/t5/tokenizer.json");
}

class HuggingFaceTextTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
  }
};

TEST_F(HuggingFaceTextTest, ASourceEndsAndATargetDoesNot) {
  const HuggingFaceText tokeniser(golden_tokeniser(), 1008, kT5);
  const std::string text = "Ein Mädchen isst.";
  std::vector<int64_t> ids = ids_of(tokeniser.encode(text));
  EXPECT_EQ(tokeniser.decode(ids), text);
  ids.push_back(1);
  const std::vector<Token> input = tokeniser.encode_input(text);
  EXPECT_EQ(ids_of(input), ids);
  EXPECT_EQ(input.back().begin, input.back().end);
  EXPECT_EQ(input[input.size() - 2].end, text.size());  // bytes
  EXPECT_TRUE(tokeniser.stands_around(1));
  EXPECT_FALSE(tokeniser.stands_around(0));
  EXPECT_EQ(tokeniser.decode(ids), text);  // special tokens are no text
}

TEST_F(HuggingFaceTextTest, HasASymbolForEveryRow) {
  const HuggingFaceText tokeniser(golden_tokeniser(), 1008, kT5);
  const Vocabulary& symbols = tokeniser.vocabulary();
  EXPECT_EQ(symbols.size(), 1008);
  EXPECT_EQ(symbols.token(1), "</s>");
  EXPECT_EQ(symbols.token(1003), "<row 1003>");
  EXPECT_EQ(symbols.special(), kT5);
  EXPECT_EQ(symbols.id("no such piece"), 2);
  EXPECT_EQ(tokeniser.decode(std::vector<int64_t>{1003}), "");
  expect_error(ErrorKind::InvalidArgument, "symbols",
               [] { HuggingFaceText(golden_tokeniser(), 10, kT5); });
  expect_error(ErrorKind::InvalidArgument, "special symbol 1000", [] {
    HuggingFaceText(golden_tokeniser(), 1000, {0, 2, 0, 1000});
  });
}

TEST_F(HuggingFaceTextTest, ComesBackFromItsState) {
  const HuggingFaceText tokeniser(golden_tokeniser(), 1008, kT5);
  TokeniserState state = tokeniser.state();
  const auto again = Tokeniser::restore(state, "run");
  EXPECT_EQ(again->vocabulary().special(), kT5);
  EXPECT_EQ(again->vocabulary().size(), 1008);
  EXPECT_EQ(ids_of(again->encode_input("A man.")), ids_of(tokeniser.encode_input("A man.")));
  EXPECT_EQ(again->state().description, state.description);
  EXPECT_EQ(again->state().model, state.model);

  TokeniserState few = state;
  few.description["symbols"] = 999;
  expect_error(ErrorKind::BadData, {"run", "999"}, [&] { Tokeniser::restore(few, "run"); });
  TokeniserState outside = state;
  outside.description["end"] = 1008;
  expect_error(ErrorKind::BadData, {"run", "end"}, [&] { Tokeniser::restore(outside, "run"); });
  state.model.back() = ' ';
  expect_error(ErrorKind::BadData, {"run", "damaged"}, [&] { Tokeniser::restore(state, "run"); });
}

}  // namespace
}  // namespace fovea::text_tokeniser_test

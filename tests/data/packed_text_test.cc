#include "fovea/data/packed_text.h"

#include <gtest/gtest.h>

#include "tests/data/wordpiece_samples.h"
#include "tests/support/expect_error.h"

namespace fovea::packed_text_test {
namespace {

Example example_of(const WordPiece& tokeniser, const std::string& first,
                   const std::string& second = "") {
  const Pieces one = tokeniser.encode(first), two = tokeniser.encode(second);
  return token_example(
      tokeniser, pack_texts(tokeniser, one, second.empty() ? nullptr : &two, {}).inputs.front(),
      first, second);
}

std::vector<int64_t> numbers(const at::Tensor& tensor) {
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + tensor.numel()};
}

TEST(PackedText, LabelsAndSpansBelongToTheTextAsGiven) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  const Example example = example_of(tokeniser, "The café", "Cats!");
  const Axis& axis = example.axis("tokens");
  EXPECT_EQ(axis.labels, (Texts{"[CLS]", "the", "cafe", "[SEP]", "cat", "##s", "!", "[SEP]"}));
  EXPECT_EQ(axis.text, "The café\nCats!");
  EXPECT_EQ(axis.spans[0].begin, -1);
  EXPECT_EQ(axis.spans[2].begin, 4);
  EXPECT_EQ(axis.spans[2].end, 8);
  EXPECT_EQ(axis.spans[4].begin, 9);  // code points, behind the line end
  EXPECT_EQ(axis.spans[5].end, 13);
  EXPECT_EQ(numbers(example.tensors.at("segments")), (Ids{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(PackedText, ShorterRowsArePadded) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  const std::vector<Example> examples = {example_of(tokeniser, "the cat sat"),
                                         example_of(tokeniser, "cat")};
  const Batch batch = collate_tokens(examples, 99);
  EXPECT_EQ(batch.size, 2);
  EXPECT_EQ(numbers(batch.at("tokens")[1]), (Ids{tokeniser.special().begin, tokeniser.id("cat"),
                                                 tokeniser.special().separator, 99, 99}));
  EXPECT_EQ(batch.at("tokens.keep").sum().item<int64_t>(), 5 + 3);
  EXPECT_EQ(collate_tokens(std::span<const Example>(), 0).size, 0);
}

TEST(PackedText, ErasedPiecesAreMaskedAndSpecialTokensStay) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  const Example example = example_of(tokeniser, "the cat");
  const std::vector<int64_t> all = {0, 1, 2, 3};
  const Example erased = erase_tokens(example, tokeniser, all);
  const auto& special = tokeniser.special();
  EXPECT_EQ(numbers(erased.tensors.at("tokens")),
            (Ids{special.begin, special.mask, special.mask, special.separator}));
  EXPECT_EQ(numbers(example.tensors.at("tokens"))[1], tokeniser.id("the")) << "a copy";
  const std::vector<int64_t> outside = {4};
  testing::expect_error(ErrorKind::InvalidArgument, "there are 4",
                        [&] { erase_tokens(example, tokeniser, outside); });
}

}  // namespace
}  // namespace fovea::packed_text_test

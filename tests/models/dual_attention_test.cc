#include "fovea/models/dual_attention.h"

#include <gtest/gtest.h>

#include <array>

#include "fovea/base/error.h"
#include "tests/models/contract.h"
#include "tests/models/rating_golden.h"

namespace fovea::dual_attention_test {
namespace {

using namespace testing;  // contract.h, rating_golden.h

constexpr int64_t kDocumentWords = 8;

DualAttentionOptions golden_options(const std::string& global_attention = "matched") {
  DualAttentionOptions options;
  options.embedding = 3, options.window = 3;
  options.local_filters = 4, options.global_filters = 2, options.widths = {2, 3};
  options.hidden = 5, options.factors = 3;
  options.global_attention = global_attention;
  return options;
}

TEST(DualAttention, EqualsPyTorch) {
  const Json reference = golden("ratings");
  DualAttention model(golden_options(), golden_rating_shape(), kDocumentWords);
  expect_golden_ratings(model, reference, reference["dual_attention"]);
}

TEST(DualAttention, AFilterAsLongAsTheDocumentEqualsPyTorch) {
  const Json reference = golden("ratings");
  for (const Json& own : reference["dual_attention_of_the_paper"]) {
    SCOPED_TRACE(own["global_attention"].get<std::string>());
    DualAttentionOptions options = golden_options(own["global_attention"]);
    options.biases = false;
    DualAttention model(options, golden_rating_shape(), kDocumentWords);
    expect_golden_ratings(model, reference, own);
  }
}

/// What the global attention gives the words of a document, the same one twice, once with another
/// last word: [words] each.
std::array<at::Tensor, 2> global_gates(const std::string& global_attention) {
  const auto model = initialised(
      std::make_shared<DualAttention>(golden_options(global_attention), golden_rating_shape(), 6),
      1, 10);
  Batch batch{{}, 2};
  for (const char* side : {"user", "item"}) {
    batch.tensors[side] = torch::ones({2}, at::kLong);
    batch.tensors[concat(side, "_words")] =
        torch::tensor({4, 5, 4, 5, 4, 6, 4, 5, 4, 5, 4, 7}, at::kLong).view({2, 6});
  }
  Tap tap;
  model->replay(batch, {}, &tap);
  const at::Tensor gates = tap.map("user global").weights.view({2, 6});
  return {gates[0], gates[1]};
}

TEST(DualAttention, TheGlobalScoreOfAWordIsThatOfItsDocument) {
  for (const char* kind : {"matched", "filter", "scale"}) {
    SCOPED_TRACE(kind);
    const auto [one, other] = global_gates(kind);
    EXPECT_GT((one[3] - other[3]).abs().item<double>(), 1e-4) << "the last word is far from it";
    const bool alike = std::string(kind) == "scale";
    EXPECT_EQ((one - one[0]).abs().max().item<double>() < 1e-7, alike);
    const bool by_place = std::string(kind) == "filter";  // the same word elsewhere
    EXPECT_EQ((one[0] - one[2]).abs().item<double>() > 1e-4, by_place);
  }
}

TEST(DualAttention, RefusesWhatCannotWork) {
  const auto make = [](auto change) {
    DualAttentionOptions options;
    change(options);
    DualAttention(options, golden_rating_shape(), kDocumentWords);
  };
  EXPECT_THROW(make([](auto& o) { o.window = 4; }), Error);
  EXPECT_THROW(make([](auto& o) { o.widths = {}; }), Error);
  EXPECT_THROW(make([](auto& o) { o.widths = {2, 2}; }), Error);
  EXPECT_THROW(DualAttention({}, golden_rating_shape(), 0), Error);
}

}  // namespace
}  // namespace fovea::dual_attention_test

#include "fovea/models/dual_attention.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "tests/models/contract.h"
#include "tests/models/rating_golden.h"

namespace fovea::dual_attention_test {
namespace {

using namespace testing;  // contract.h, rating_golden.h

TEST(DualAttention, EqualsPyTorch) {
  const Json reference = golden("ratings");
  DualAttentionOptions options;
  options.embedding = 3, options.window = 3;
  options.local_filters = 4, options.global_filters = 2, options.widths = {2, 3};
  options.hidden = 5, options.factors = 3;
  DualAttention model(options, golden_rating_shape());
  expect_golden_ratings(model, reference, reference["dual_attention"]);
}

TEST(DualAttention, RefusesWhatCannotWork) {
  const auto make = [](auto change) {
    DualAttentionOptions options;
    change(options);
    DualAttention(options, golden_rating_shape());
  };
  EXPECT_THROW(make([](auto& o) { o.window = 4; }), Error);
  EXPECT_THROW(make([](auto& o) { o.widths = {}; }), Error);
  EXPECT_THROW(make([](auto& o) { o.widths = {2, 2}; }), Error);
}

}  // namespace
}  // namespace fovea::dual_attention_test

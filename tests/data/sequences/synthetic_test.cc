#include "fovea/data/sequences/synthetic.h"

#include <set>

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea {
namespace {

void expect_planted(const ContextNumbers& rows, const std::vector<int64_t>& map) {
  const float* inputs = rows.inputs.data_ptr<float>();
  const int64_t width = rows.inputs.size(1);
  for (int64_t row = 0; row < rows.inputs.size(0); ++row) {
    const int64_t context = rows.context[row].item<int64_t>();
    ASSERT_EQ(rows.target[row].item<float>(), inputs[row * width + map[size_t(context)]]);
  }
}

TEST(ContextGenerator, TheTargetIsWhereTheContextPoints) {
  const ContextDraw draw = draw_context({});
  EXPECT_EQ(draw.map, (std::vector<int64_t>{2, 7, 3, 5, 1}));
  EXPECT_EQ(draw.train.inputs.sizes(), (at::IntArrayRef{10000, 8}));
  EXPECT_EQ(draw.validation.inputs.sizes(), (at::IntArrayRef{2000, 8}));
  expect_planted(draw.train, draw.map);
  expect_planted(draw.validation, draw.map);
  EXPECT_EQ(draw.truth().at("1"), "x7");
  EXPECT_GE(draw.train.inputs.min().item<float>(), 0);
  EXPECT_LE(draw.train.inputs.max().item<float>(), 1);
  const at::Tensor counts = torch::bincount(draw.train.context, {}, 5);
  EXPECT_GT(counts.min().item<int64_t>(), 1800);
  EXPECT_FALSE(torch::equal(draw.train.inputs.slice(0, 0, 2000), draw.validation.inputs));
}

TEST(ContextGenerator, OtherSizesDrawTheMap) {
  ContextGeneratorOptions options;
  options.rows = 500;
  options.positions = 6;
  options.contexts = 6;
  const ContextDraw draw = draw_context(options, 0.1);
  EXPECT_EQ(std::set<int64_t>(draw.map.begin(), draw.map.end()).size(), 6u);
  EXPECT_EQ(draw.validation.inputs.size(0), 50);
  expect_planted(draw.train, draw.map);
  options.contexts = 20;
  const ContextDraw more = draw_context(options);
  EXPECT_EQ(more.map.size(), 20u);
  expect_planted(more.train, more.map);
  options.seed = 2;
  EXPECT_NE(draw_context(options).map, more.map);
}

TEST(ContextGenerator, ImpossibleOptions) {
  ContextGeneratorOptions options;
  options.rows = 4;
  expect_error(ErrorKind::InvalidArgument, {"4 training rows", "too few"},
               [&] { draw_context(options); });
  options.rows = 1;
  expect_error(ErrorKind::InvalidArgument, {"at least 2"}, [&] { draw_context(options); });
  options = {};
  options.positions = 0;
  expect_error(ErrorKind::InvalidArgument, {"0 positions"}, [&] { draw_context(options); });
}

}  // namespace
}  // namespace fovea

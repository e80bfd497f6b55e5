#include "fovea/explain/heads/choice.h"

#include <gtest/gtest.h>
#include <map>

#include "fovea/explain/record/explanation.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/fake_predictor.h"
#include "tests/support/expect_error.h"

namespace fovea::choice_test {
namespace {

using testing::expect_error;

/// Uniform weights, and how often each head was rebuilt.
class CountingSource : public WeightSource {
 public:
  CountingSource(int64_t heads, int64_t units) : heads_(heads), units_(units) {}
  std::array<int64_t, 4> sizes() const override { return {1, heads_, units_, units_}; }
  at::Tensor rows(int64_t, int64_t head, int64_t, int64_t count) const override {
    ++rebuilt[head];
    return torch::full({count, units_}, 1.0 / double(units_));
  }
  mutable std::map<int64_t, int64_t> rebuilt;

 private:
  int64_t heads_, units_;
};

/// Three layers of four heads over three units.
struct Stack {
  Stack() {
    for (int64_t layer = 1; layer <= 3; ++layer) {
      sources.push_back(std::make_shared<CountingSource>(4, 3));
      AttentionMap map;
      map.name = "attention";
      map.query_axis = map.key_axis = "tokens";
      map.layer = layer;
      map.source = sources.back();
      predictor.maps.push_back(map);
    }
  }
  Explanation explain(const HeadChoice& choice) {
    ExplainOptions options;
    options.heads = choice;
    return explain_example(predictor, example, options);
  }
  FakePredictor predictor;
  Example example = example_with({{"tokens", {"[CLS]", "a", "[SEP]"}}});
  std::vector<std::shared_ptr<CountingSource>> sources;
};

using Counts = std::map<int64_t, int64_t>;

TEST(HeadChoice, OnlyWhatWasAskedForIsRebuiltAndOnce) {
  Stack stack;
  HeadChoice choice(Heads::All);
  choice.layers = {1, 3};
  choice.heads = {2};
  const Explanation explanation = stack.explain(choice);
  ASSERT_EQ(explanation.maps.size(), 2u) << "without rollout, which needs all layers";
  EXPECT_EQ(explanation.maps[0].layer, 1);
  EXPECT_EQ(explanation.maps[1].layer, 3);
  EXPECT_EQ(explanation.maps[1].head, 2);
  EXPECT_EQ(explanation.maps[1].title, "attention (head 2 of 4)");
  EXPECT_EQ(stack.sources[0]->rebuilt, (Counts{{1, 1}}));
  EXPECT_EQ(stack.sources[1]->rebuilt, Counts());
  EXPECT_EQ(stack.sources[2]->rebuilt, (Counts{{1, 1}}));
}

TEST(HeadChoice, TheMeanRebuildsEveryHeadOfTheLayerOnce) {
  Stack stack;
  HeadChoice choice;
  choice.layers = {2};
  EXPECT_EQ(stack.explain(choice).maps.size(), 1u);
  EXPECT_EQ(stack.sources[0]->rebuilt, Counts());
  EXPECT_EQ(stack.sources[1]->rebuilt, (Counts{{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
}

TEST(HeadChoice, EverythingComesWithRolloutAndFlow) {
  Stack stack;
  const Explanation explanation = stack.explain(Heads::All);
  EXPECT_EQ(explanation.maps.size(), 3u * 4 + 2);
  EXPECT_EQ(stack.sources[2]->rebuilt, (Counts{{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
}

TEST(HeadChoice, HeadsThatWereChosenStayApartInPictures) {
  Stack stack;
  HeadChoice choice;
  choice.layers = {1};
  choice.heads = {1, 4};
  const Explanation drawn = mean_of_heads(stack.explain(choice));
  ASSERT_EQ(drawn.maps.size(), 2u);
  EXPECT_EQ(drawn.maps[0].title, "attention (head 1 of 4), layer 1");
  EXPECT_EQ(mean_of_heads(stack.explain(Heads::All)).maps.size(), 3u + 2);
}

TEST(HeadChoice, NumbersThatNoMapHasAreNamedWithThoseThereAre) {
  Stack stack;
  const auto choose = [](std::vector<int64_t> layers, std::vector<int64_t> heads) {
    HeadChoice choice(Heads::All);
    choice.layers = std::move(layers);
    choice.heads = std::move(heads);
    return choice;
  };
  expect_error(ErrorKind::InvalidArgument, {"no layer 4", "layers 1 to 3"}, [&] {
    stack.explain(choose({1, 4}, {}));
  });
  expect_error(ErrorKind::InvalidArgument, {"no head 5", "heads 1 to 4"},
               [&] { stack.explain(choose({}, {5})); });
  expect_error(ErrorKind::InvalidArgument, "no layer 0", [&] { stack.explain(choose({0}, {})); });
  for (const auto& source : stack.sources) EXPECT_EQ(source->rebuilt, Counts());
}

TEST(HeadChoice, TheOnlyLayerAndHeadAreTheFirst) {
  FakePredictor predictor;
  predictor.maps = {dense_map("m", "", "columns", torch::tensor({{{{0.25, 0.75}}}}))};
  const Example example = example_with({{"columns", {"a", "b"}}});
  ExplainOptions options;
  options.heads.layers = options.heads.heads = {1};
  EXPECT_EQ(explain_example(predictor, example, options).maps.size(), 1u);
  options.heads.heads = {2};
  expect_error(ErrorKind::InvalidArgument, "only one head",
               [&] { explain_example(predictor, example, options); });
}

}  // namespace
}  // namespace fovea::choice_test

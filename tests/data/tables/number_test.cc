#include "fovea/data/tables/number.h"

#include <cmath>

#include "fovea/tensor/random.h"
#include "tests/data/testing.h"

namespace fovea::number_test {
namespace {

std::vector<float> encoded(const NumberEncoding& encoding, double value) {
  std::vector<float> inputs(size_t(encoding.inputs()), 0.f);
  encoding.encode(value, inputs.data());
  return inputs;
}

TEST(NumberEncoding, PiecesArePiecewiseLinear) {
  const std::vector<double> x{0, 1, 2, 4, 0, 1, 2, 4}, y{0, 1, 0, 1, 0, 1, 0, 1};
  const NumberEncoding encoding = NumberEncoding::fit(x, {true, true, 8, {y}});
  EXPECT_EQ(encoding.edges(), (std::vector<double>{0, 1, 2, 4}));
  const float z = float((3 - encoding.mean()) / encoding.deviation());
  EXPECT_EQ(encoded(encoding, 3), (std::vector<float>{z, 1, 1, 0.5f}));
  EXPECT_EQ(encoded(encoding, 4)[3], 1);
  EXPECT_EQ(encoded(encoding, 0.25)[1], 0.25f);
  EXPECT_EQ(encoded(encoding, -1)[1], 0);
  EXPECT_EQ(encoded(encoding, 5)[3], 1);
  EXPECT_EQ(encoding.input_means()[1], 0.75);
  EXPECT_EQ(encoding.input_means()[3], 0.25);
  EXPECT_EQ(encoding.input_names("x"),
            (std::vector<std::string>{"x", "x[0..1]", "x[1..2]", "x[2..4]"}));
}

TEST(NumberEncoding, AnOutlierRuinsNothing) {
  const Random random(7);
  std::vector<double> x, y;
  for (uint64_t row = 0; row < 300; ++row) x.push_back(random.uniform(row)), y.push_back(x.back());
  x[5] = 1e12;
  const NumberEncoding encoding = NumberEncoding::fit(x, {true, true, 8, {y}});
  EXPECT_NEAR(encoding.mean(), 0.5, 0.1);
  EXPECT_NEAR(encoding.deviation(), 0.29, 0.05);
  EXPECT_LT(encoded(encoding, 1e12)[0], 5);
  EXPECT_EQ(encoding.high(), 1e12);
  for (const double value : {0.1, 0.5, 1e12}) {  // what is written for a row gives the same inputs
    const std::vector<float> inputs = encoded(encoding, value);
    EXPECT_EQ(encoded(encoding, encoding.decode(inputs.data()))[0], inputs[0]) << value;
  }
}

TEST(NumberEncoding, JsonKeepsEverything) {
  const std::vector<double> x{0.1, 1. / 3, 2, 4, 0, 1, 2, 4}, y{0, 1, 0, 1, 0, 1, 0, 1};
  const Json json = Json::parse(NumberEncoding::fit(x, {true, true, 8, {y}}).to_json().dump());
  const NumberEncoding again = NumberEncoding::from_json(Field::root(json, "x"));
  EXPECT_EQ(again.to_json(), json);
  EXPECT_EQ(encoded(again, 1.5), encoded(NumberEncoding::fit(x, {true, true, 8, {y}}), 1.5));
}

TEST(NumberEncoding, RunsFromBeforePiecesAreRead) {
  const Json json{{"constant", false}, {"standardised", true}, {"mean", 2}, {"deviation", 4}};
  const NumberEncoding encoding = NumberEncoding::from_json(Field::root(json, "x"));
  EXPECT_EQ(encoded(encoding, 1e9), std::vector<float>{float((1e9 - 2) / 4)});
  EXPECT_EQ(encoding.to_json(), json);
}

}  // namespace
}  // namespace fovea::number_test

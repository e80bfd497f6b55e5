#include "fovea/data/sequences/encoder.h"
#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::sequences::encoder_fit_test {
namespace {

using Names = std::vector<std::string>;

class ContextFit : public ::testing::Test {
 protected:
  ContextEncoder fit(const std::string& text, const ContextOptions& options = {}) {
    ContextEncoder encoder;
    encoder.fit(read_csv(folder_.write("t.csv", text)), options);
    return encoder;
  }
  TemporaryFolder folder_;
};

TEST_F(ContextFit, FindsPositionsAndContexts) {
  const ContextEncoder encoder =
      fit("context,x0,word,none,k,y\n10,1,a,,3,1\n9,2,b,NA,3,2\n10,,c,,3,5\n9,7,d,,3,\n");
  EXPECT_EQ(encoder.layout().contexts, (Names{"9", "10"}));
  EXPECT_EQ(encoder.layout().positions, (Names{"x0", "k"}));
  EXPECT_EQ(encoder.layout().input_means, (std::vector<double>{1.5, 3}));
  EXPECT_TRUE(has_note(encoder.notes(), "2 positions, 2 contexts"));
  EXPECT_TRUE(has_note(encoder.notes(), "'word' is left out: 'a' at"));
  EXPECT_TRUE(has_note(encoder.notes(), "'none' has no values"));
  EXPECT_TRUE(has_note(encoder.notes(), "'k' is always the same"));
  EXPECT_TRUE(has_note(encoder.notes(), "1 missing numbers"));
}

TEST_F(ContextFit, RolesByName) {
  ContextOptions options;
  options.context = "who";
  options.target = "out";
  options.split = "part";
  options.position_columns = {"b", "a"};
  const ContextEncoder encoder = fit("who,a,b,c,part,out\np,1,2,3,4,1\nq,5,6,7,8,6\n", options);
  EXPECT_EQ(encoder.layout().positions, (Names{"b", "a"}));
  options.position_columns.clear();
  EXPECT_EQ(fit("who,a,b,c,part,out\np,1,2,3,4,1\nq,5,6,7,8,6\n", options).layout().positions,
            (Names{"a", "b", "c"}));
}

TEST_F(ContextFit, OneScaleForPositionsAndTarget) {
  ContextOptions options;
  options.standardise = "yes";
  const std::string text = "context,x0,x1,y\np,1,100,1\nq,5,200,200\n";
  const ContextEncoder encoder = fit(text, options);
  const auto data = encoder.encode(read_csv(folder_.path() / "t.csv"));
  const at::Tensor inputs = data->columns().at("inputs"), target = data->columns().at("target");
  EXPECT_NEAR(inputs.mean().item<float>(), 0, 1e-6);
  EXPECT_NEAR(inputs.var(/*unbiased=*/false).item<float>(), 1, 1e-5);
  EXPECT_EQ(target[0].item<float>(), inputs[0][0].item<float>());
  EXPECT_EQ(target[1].item<float>(), inputs[1][1].item<float>());
  expect_error(ErrorKind::BadData, {"same value"},
               [&] { fit("context,x0,y\np,1,2\nq,1,3\n", options); });
}

TEST_F(ContextFit, BadTables) {
  expect_error(ErrorKind::NotFound, {"which column is the context", "--columns context="},
               [&] { fit("a,y\n1,2\n"); });
  expect_error(ErrorKind::NotFound, {"which column is the target"},
               [&] { fit("context,a\n1,2\n"); });
  expect_error(ErrorKind::BadData, {"t.csv:3", "context is missing"},
               [&] { fit("context,a,y\np,1,2\n?,1,3\n"); });
  expect_error(ErrorKind::BadData, {"t.csv:3", "target 'y'", "'high'"},
               [&] { fit("context,a,y\np,1,2\nq,1,high\n"); });
  expect_error(ErrorKind::BadData, {"missing in every row"},
               [&] { fit("context,a,y\np,1,\nq,1,NA\n"); });
  expect_error(ErrorKind::BadData, {"always 2"}, [&] { fit("context,a,y\np,1,2\nq,1,2\n"); });
  expect_error(ErrorKind::BadData, {"no column of numbers"},
               [&] { fit("context,a,y\np,b,2\nq,c,3\n"); });
  ContextOptions options;
  options.position_columns = {"a"};
  expect_error(ErrorKind::BadData, {"t.csv:2", "'a' is 'b'", "numbers"},
               [&] { fit("context,a,y\np,b,2\nq,1,3\n", options); });
  options.position_columns = {"y"};
  expect_error(ErrorKind::InvalidArgument, {"'y' is the target"},
               [&] { fit("context,a,y\np,1,2\nq,1,3\n", options); });
  options = {};
  options.context = "y";
  expect_error(ErrorKind::InvalidArgument, {"both context and target"},
               [&] { fit("context,a,y\np,1,2\nq,1,3\n", options); });
  std::string many = "context,a,y\n";
  for (int i = 0; i < 65537; ++i) many += concat("c", i, ",1,", i, "\n");
  expect_error(ErrorKind::BadData, {"more than 65,536", "right column"}, [&] { fit(many); });
}

}  // namespace
}  // namespace fovea::sequences::encoder_fit_test

// Connectionist temporal classification against the sum over all paths.
#include "fovea/decoding/ctc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::ctc_test {
namespace {

using at::Tensor;
using Text = std::vector<int64_t>;

constexpr int64_t kBlank = 0, kEnd = 3, kSymbols = 4;

Tensor frames(int64_t rows, int64_t count, uint64_t seed = 1) {
  return Random(seed).normal_tensor({rows, count, kSymbols}, 0, 1, at::kDouble).log_softmax(2);
}

/// p of every text that `count` frames [K, V] can spell.
std::map<Text, double> all_texts(const Tensor& row, int64_t count) {
  std::map<Text, double> texts;
  for (int64_t path = 0; path < int64_t(std::pow(kSymbols, count)); ++path) {
    Text text;
    double log_p = 0;
    int64_t before = kBlank, rest = path;
    for (int64_t t = 0; t < count; ++t, rest /= kSymbols) {
      const int64_t symbol = rest % kSymbols;
      log_p += row[t][symbol].item<double>();
      if (symbol != kBlank && symbol != before) text.push_back(symbol);
      before = symbol;
    }
    texts[text] += std::exp(log_p);
  }
  return texts;
}

TEST(Ctc, LossIsTheSumOverAllPaths) {
  const Tensor log_p = frames(2, 4);
  const Tensor targets = torch::tensor({{1, 1}, {2, 0}});
  const Tensor loss =
      summed_ctc_loss(log_p, torch::tensor({4, 3}), targets, torch::tensor({2, 1}), kBlank);
  const double expected =
      -std::log(all_texts(log_p[0], 4)[{1, 1}]) - std::log(all_texts(log_p[1], 3)[{2}]);
  EXPECT_NEAR(loss.item<double>(), expected, 1e-9);
}

TEST(Ctc, ATextThatDoesNotFitCountsNothing) {
  const Tensor loss = summed_ctc_loss(frames(1, 2), torch::tensor({2}), torch::tensor({{1, 1}}),
                                      torch::tensor({2}), kBlank);
  EXPECT_EQ(loss.item<double>(), 0);
}

/// Every beginning of up to three symbols: the product of what is said of its symbols is the sum
/// over all texts that begin so, and with the end that of the text itself.
TEST(Ctc, BeginningsEqualTheSumOverAllTexts) {
  for (const int64_t count : {4, 3}) {  // the second with a frame of padding
    const Tensor log_p = frames(1, 4, 7);
    const Tensor keep = torch::arange(4).lt(count).unsqueeze(0);
    const auto texts = all_texts(log_p[0], count);
    for (const Text& text : {Text{}, {1}, {2}, {1, 1}, {1, 2}, {2, 2, 1}}) {
      CtcPrefixes prefixes(log_p, keep, kBlank, kEnd);
      double known = 0;
      for (const int64_t symbol : text) {
        known += prefixes.scores()[0][symbol].item<double>();
        prefixes.extend({}, torch::tensor({symbol}));
      }
      double begins = 0;
      for (const auto& [other, p] : texts)
        if (other.size() >= text.size() && std::equal(text.begin(), text.end(), other.begin()))
          begins += p;
      EXPECT_NEAR(std::exp(known), begins, 1e-9) << text.size();
      const double ends = prefixes.scores()[0][kEnd].item<double>();
      const auto whole = texts.find(text);
      EXPECT_NEAR(std::exp(known + ends), whole == texts.end() ? 0 : whole->second, 1e-9);
    }
  }
}

TEST(Ctc, RowsFollowTheSearch) {
  const Tensor log_p = frames(2, 4, 9), keep = torch::ones({2, 4}, at::kBool);
  CtcPrefixes together(log_p, keep, kBlank, kEnd);
  together.scores();
  together.extend(torch::tensor({1, 0, 1}), torch::tensor({2, 1, 1}));
  const Tensor all = together.scores();
  for (const auto& [row, origin, symbol] :
       {std::tuple<int64_t, int64_t, int64_t>{0, 1, 2}, {1, 0, 1}, {2, 1, 1}}) {
    CtcPrefixes alone(log_p.narrow(0, origin, 1), keep.narrow(0, origin, 1), kBlank, kEnd);
    alone.scores();
    alone.extend({}, torch::tensor({symbol}));
    EXPECT_TRUE(at::allclose(all[row], alone.scores()[0])) << row;
  }
}

}  // namespace
}  // namespace fovea::ctc_test

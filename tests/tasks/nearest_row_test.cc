// The target of the nearest training row, as a baseline of texts that are written.
#include "fovea/tasks/outputs/nearest_row.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::nearest_row_test {
namespace {

using testing::expect_error;
using Tokens = std::vector<std::vector<int64_t>>;

constexpr int64_t kVocabulary = 6;

LinearInputs counted(const Tokens& rows) {
  LinearInputs inputs;
  inputs.width = kVocabulary;
  for (const auto& row : rows) {
    std::vector<std::pair<int64_t, float>> cells;
    for (const int64_t token : row) cells.emplace_back(token, 1.0f);
    inputs.add_row(cells);
  }
  return inputs;
}

/// Rows of which only the targets are known.
struct Targets : Dataset {
  explicit Targets(std::vector<std::string> own) : texts(std::move(own)) {}
  int64_t size() const override { return int64_t(texts.size()); }
  Example example(int64_t) const override { return {}; }
  Batch batch(std::span<const int64_t>) const override { return {}; }
  std::vector<std::string> references(int64_t row) const override {
    return {texts.at(size_t(row)), "another"};
  }
  std::vector<std::string> texts;
};

const Tokens kSources{{0, 1}, {0, 2}, {0, 3, 4}};
const Targets kTargets({"eins", "zwei", "drei vier"});

TEST(NearestRow, RareTokensDecideWhichIsNearest) {
  const NamedTensors fitted = fit_nearest_row(kTargets, counted(kSources));
  const Tokens rows{{0, 2}, {0, 4}, {1, 5}, {5}, {}};
  // A row without a known token takes the first sentence.
  EXPECT_EQ(targets_of_nearest_rows(fitted, counted(rows)),
            (std::vector<std::string>{"zwei", "drei vier", "eins", "eins", "eins"}));
}

TEST(NearestRow, OfNumbersTheDistanceDecides) {
  LinearInputs known, rows;
  known.dense = torch::tensor({{0.f, 0.f}, {1.f, 0.f}, {0.f, 3.f}});
  rows.dense = torch::tensor({{0.9f, 0.2f}, {0.f, 2.f}, {0.5f, 0.f}});
  const NamedTensors fitted = fit_nearest_row(kTargets, known);
  EXPECT_EQ(targets_of_nearest_rows(fitted, rows),
            (std::vector<std::string>{"zwei", "drei vier", "eins"}));
  rows.dense = torch::zeros({1, 3});
  expect_error(ErrorKind::BadData, "baseline", [&] { targets_of_nearest_rows(fitted, rows); });
}

TEST(NearestRow, KeepsAnEvenChoiceOfVeryManyRows) {
  std::vector<std::string> texts;
  Tokens sources;
  for (int64_t i = 0; i < 60'000; ++i) {
    texts.push_back(std::to_string(i));
    sources.push_back({i < 59'000 ? 0 : 1});
  }
  const NamedTensors fitted = fit_nearest_row(Targets(texts), counted(sources));
  EXPECT_EQ(fitted.at("offsets").numel(), 50'001);
  EXPECT_GE(std::stoi(targets_of_nearest_rows(fitted, counted({{1}}))[0]), 59'000)
      << "the end is there";
}

TEST(NearestRow, DamagedOnesAreRefused) {
  const NamedTensors fitted = fit_nearest_row(kTargets, counted(kSources));
  const auto damaged = [&](const char* name, const at::Tensor& tensor) {
    NamedTensors other = fitted;
    other[name] = tensor;
    expect_error(ErrorKind::BadData, "baseline",
                 [&] { targets_of_nearest_rows(other, counted(kSources)); });
  };
  damaged("offsets", torch::zeros({0}, at::kLong));
  damaged("offsets", torch::tensor({0L, 9L, 2L, 7L}, at::kLong));
  damaged("text_offsets", torch::tensor({0L, 4L, 8L, 900L}, at::kLong));
  damaged("values", torch::ones({2}));
  damaged("idf", torch::ones({kVocabulary + 1}));
}

}  // namespace
}  // namespace fovea::nearest_row_test

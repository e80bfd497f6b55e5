// What both models of the copy task must do.
#include "fovea/models/copy_model.h"

#include <gtest/gtest.h>

#include "fovea/models/copy_lstm.h"
#include "fovea/models/turing_machine.h"
#include "tests/models/contract.h"
#include "tests/models/copy_batch.h"
#include "tests/support/expect_error.h"

namespace fovea::copy_model_test {
namespace {

using namespace testing;  // contract.h, copy_batch.h

constexpr int64_t kBits = 3;
const CopyWidths kWidths = CopyWidths::of_symbols(kBits);

struct Case {
  std::string name, controller;  // none: the LSTM
  int64_t heads = 1;
  bool is_machine() const { return !controller.empty(); }
};

const Case kCases[] = {
    {"feedforward", "feedforward"}, {"controller_lstm", "lstm", 2}, {"lstm", ""}};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

TuringMachineOptions small(const std::string& controller = "lstm", int64_t heads = 1) {
  return {"ntm", controller, 6, 8, 5, heads, 1};
}

class CopyContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<CopyModel> fresh(uint64_t seed = 1) {
    std::shared_ptr<CopyModel> model;
    if (GetParam().is_machine())
      model =
          std::make_shared<TuringMachine>(small(GetParam().controller, GetParam().heads), kWidths);
    else
      model = std::make_shared<CopyLstm>(CopyLstmOptions{"lstm", 12, 2}, kWidths);
    model->initialise(Random(seed));
    return model;
  }
};

TEST_P(CopyContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(copy_batch(4, kBits), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(CopyContract, OverfitsEightExamples) {
  expect_overfits(*fresh(), copy_batch(8, kBits), {0.4, 0.03});
}

TEST_P(CopyContract, ReplayEqualsPredict) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = copy_batch(9, kBits, 1);
  const Predictions predictions = model->predict(rows);
  const at::Tensor counts = rows.at("target.keep").sum(1);
  Tap tap;
  const at::Tensor plain = model->replay(rows, predictions, nullptr),
                   tapped = model->replay(rows, predictions, &tap);  // [B, U]
  EXPECT_EQ(plain.size(1), counts.max().item<int64_t>());
  EXPECT_LT(largest_difference(plain, tapped), 1e-5);
  for (int64_t row = 0; row < 9; ++row) {
    const Decoded& output = predictions.outputs[size_t(row)].at(0);
    ASSERT_EQ(int64_t(output.tokens.size()), counts[row].item<int64_t>());
    EXPECT_NEAR(plain[row].sum().item<double>(), output.log_probability, 1e-4);
    for (int64_t i = counts[row].item<int64_t>(); i < plain.size(1); ++i)
      EXPECT_EQ(plain[row][i].item<double>(), 0);
    for (const int64_t token : output.tokens) EXPECT_TRUE(token >= 0 && token < 1 << kBits);
  }
}

TEST_P(CopyContract, PutsOutTheLikelierBits) {
  auto model = fresh();
  const std::vector<Symbols> sequences = {{5, 2}, {7}};
  const Batch rows = symbols_batch(sequences, kBits);
  const at::Tensor logits = model->logits(rows);
  const Predictions predictions = model->predict(rows);
  for (size_t row = 0; row < 2; ++row)
    for (size_t i = 0; i < sequences[row].size(); ++i) {
      const auto step = int64_t(sequences[row].size() + 1 + i);
      int64_t expected = 0;
      for (int64_t bit = 0; bit < kBits; ++bit)
        expected |= int64_t(logits[int64_t(row)][step][bit].item<double>() >= 0) << bit;
      EXPECT_EQ(predictions.outputs[row][0].tokens[i], expected);
    }
}

TEST_P(CopyContract, TheLossIsTheMeanOverTheBitsThatAreDue) {
  auto model = fresh();
  const Batch rows = symbols_batch({{5, 2, 1}, {7}}, kBits, 2);
  const at::Tensor p = model->logits(rows).sigmoid(), target = rows.at("target");
  const at::Tensor costs = -(target * p.log() + (1 - target) * (1 - p).log());
  const Loss loss = model->loss(rows, {Random(1), 0});
  EXPECT_NEAR(loss.objective.item<double>(),
              costs.masked_select(rows.at("target.keep").unsqueeze(-1)).mean().item<double>(),
              1e-5);
  EXPECT_EQ(loss.units.item<double>(), 4 * kBits);
}

TEST_P(CopyContract, RecordsBothMaps) {
  auto model = fresh();
  const Batch rows = copy_batch(5, kBits);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap);
  ASSERT_EQ(tap.maps().size(), GetParam().is_machine() ? 2u : 0u);
  for (const AttentionMap& map : tap.maps()) {
    EXPECT_EQ(map.query_axis, "steps");
    EXPECT_EQ(map.key_axis, "slots");
    EXPECT_EQ(map.weights.sizes(),
              at::IntArrayRef({5, GetParam().heads, rows.at("inputs").size(1), 8}));
    EXPECT_EQ(check_map(map), "");
  }
}

TEST_P(CopyContract, AReplacedMapChangesTheOutput) {
  if (!GetParam().is_machine()) GTEST_SKIP() << "there is none";
  auto model = fresh();
  const Batch rows = copy_batch(5, kBits);
  for (const char* map : {"write", "read"})
    expect_replaced_map_counts(*model, rows, model->predict(rows), map);
}

TEST_P(CopyContract, GradientsReachTheSteps) {
  auto model = fresh();
  const Batch rows = symbols_batch({{5, 2}}, kBits);
  const at::Tensor leaf = expect_leaf(*model, rows, model->predict(rows), "steps");  // [1, 5, 4]
  EXPECT_EQ(leaf.size(1), 5);
  EXPECT_TRUE((leaf.grad().abs().sum(-1) > 0).all().item<bool>());
}

TEST_P(CopyContract, PaddingAndNeighboursDoNotMatter) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = copy_batch(6, kBits), padded = copy_batch(6, kBits, 3);
  EXPECT_NEAR(loss_of(*model, padded), loss_of(*model, rows), 1e-5);
  expect_rows_alone(*model, rows, model->predict(padded));
}

TEST_P(CopyContract, GradientsEqualFiniteDifferences) {
  auto model = fresh();
  const Batch rows = copy_batch(3, kBits);
  expect_slopes(*model, rows, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, CopyContract, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(TuringMachine, EqualsPyTorch) {
  const Json reference = golden("turing_machine");
  const auto sequences = reference["sequences"].get<std::vector<Symbols>>();
  const Batch batch = symbols_batch(sequences, reference["bits"].get<int64_t>());
  for (const Json& one : reference["cases"]) {
    TuringMachineOptions options;
    options.controller = one["controller"].get<std::string>();
    options.heads = one["heads"].get<int64_t>();
    options.hidden = reference["hidden"].get<int64_t>();
    options.slots = reference["slots"].get<int64_t>();
    options.width = reference["width"].get<int64_t>();
    options.range = reference["range"].get<int64_t>();
    TuringMachine model(options, CopyWidths::of_symbols(reference["bits"].get<int64_t>()));
    take_parameters(model, one["parameters"]);
    expect_loss_of(model, batch, one, options.controller);
    const at::Tensor logits = model.logits(batch);
    Tap tap;
    model.replay(batch, model.predict(batch), &tap);
    for (size_t row = 0; row < sequences.size(); ++row) {
      const int64_t steps = 2 * int64_t(sequences[row].size()) + 1;
      EXPECT_LT(
          largest_difference(logits[int64_t(row)].narrow(0, 0, steps), packed(one["logits"][row])),
          1e-10);
      for (const char* map : {"read", "write"})
        EXPECT_LT(largest_difference(tap.map(map).weights[int64_t(row)].narrow(1, 0, steps),
                                     packed(one[map][row])),
                  1e-10)
            << map;
    }
  }
}

TEST(TuringMachine, FreshHeadsStayNearWhereTheyWere) {
  TuringMachineOptions options = small();
  options.slots = 64;
  TuringMachine model(options, kWidths);
  model.initialise(Random(1));
  const Batch rows = symbols_batch({{5, 2}}, kBits);
  Tap tap;
  model.replay(rows, model.predict(rows), &tap);
  for (const AttentionMap& map : tap.maps())
    for (int64_t step = 0; step < 5; ++step) {
      const at::Tensor near = map.weights[0][0][step].roll(step + 1).narrow(0, 0, 2 * step + 3);
      EXPECT_GT(near.sum().item<double>(), 0.8) << map.name << ", step " << step;
    }
}

TEST(TuringMachine, LostSlotsCannotBeRead) {
  TuringMachine model(small(), kWidths);
  model.initialise(Random(1));
  Batch rows = symbols_batch({{5, 2, 1}}, kBits);
  const at::Tensor before = model.logits(rows);
  rows.tensors["slots"] = torch::ones({1, 8});
  EXPECT_LT(largest_difference(model.logits(rows), before), 1e-6);
  rows.tensors["slots"] = torch::zeros({1, 8});
  EXPECT_GT(largest_difference(model.logits(rows), before), 1e-4);
}

TEST(TuringMachine, RefusesARangeWiderThanTheMemory) {
  TuringMachineOptions options = small();
  options.range = 4;
  expect_error(ErrorKind::InvalidArgument, {"model.range=4", "model.slots=8"},
               [&] { TuringMachine(options, kWidths); });
}

TEST(TuringMachine, WhatIsReadIsTracedToTheStepThatWroteIt) {
  // Steps write slots 0, 1 and half of 0; the third reads slot 1, the last one both.
  const at::Tensor writes = torch::zeros({1, 1, 4, 2}), reads = torch::zeros({1, 1, 4, 2});
  writes[0][0][0][0] = 1;
  writes[0][0][1][1] = 1;
  writes[0][0][2][0] = 0.5;
  reads[0][0][0][1] = 1;
  reads[0][0][2][1] = 1;
  reads[0][0][3][0] = 0.75;
  reads[0][0][3][1] = 0.25;
  const at::Tensor steps = steps_read(writes, reads)[0];  // [S, S]
  EXPECT_TRUE(steps[0].equal(torch::zeros({4}))) << "what is written later was not read";
  EXPECT_TRUE(steps[2].equal(torch::tensor({0.f, 1.f, 0.f, 0.f})));
  EXPECT_TRUE(steps[3].equal(torch::tensor({0.75f, 0.25f, 0.375f, 0.f})));
}

}  // namespace
}  // namespace fovea::copy_model_test

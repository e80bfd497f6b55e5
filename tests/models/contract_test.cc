// The networks of tables and contexts in all their forms. What every network of the catalogue must
// do stands in tests/tasks/model_contract_test.cc.
#include <gtest/gtest.h>
#include <torch/optim.h>

#include <functional>

#include "fovea/base/error.h"
#include "fovea/models/context_attention.h"
#include "fovea/models/feature_attention.h"
#include "fovea/models/table_network.h"
#include "tests/support/golden.h"

namespace fovea::contract_test {
namespace {

using kernels::TabularLoss;
using testing::largest_difference;

struct Case {
  std::string name;
  std::function<std::shared_ptr<Model>()> make;
  std::function<Batch(int64_t rows)> batch;
  std::vector<std::string> maps;
  int64_t parameters;
};

Batch table_batch(int64_t rows, int64_t inputs, TabularLoss loss) {
  const Random random(3);
  Batch batch{{{"inputs", random.split("x").normal_tensor({rows, inputs}, 0, 1, torch::kFloat32)}},
              rows};
  const at::Tensor draw = random.split("y").uniform_tensor({rows}, 0, 3, torch::kFloat32);
  batch.tensors["target"] = loss == TabularLoss::CrossEntropy ? draw.floor().to(torch::kInt64)
                            : loss == TabularLoss::BinaryCrossEntropy
                                ? (draw > 1.5).to(torch::kFloat32)
                                : draw - 1.5;
  return batch;
}

Case table_case(const std::string& name, FeatureAttentionOptions options, TabularLoss loss,
                int64_t parameters) {
  const FeatureShape shape{
      {"a", "b", "c"}, {0, 1, 1, 1, 2}, loss == TabularLoss::CrossEntropy ? 3 : 1, loss};
  return {
      name, [=] { return std::make_shared<FeatureAttention>(options, shape); },
      [=](int64_t rows) { return table_batch(rows, 5, loss); },
      options.has_attention() ? std::vector<std::string>{"attention"} : std::vector<std::string>{},
      parameters};
}

FeatureAttentionOptions table_options(const std::string& name, std::vector<int64_t> hidden,
                                      const std::string& normaliser = "softmax") {
  FeatureAttentionOptions options;
  options.name = name;
  options.hidden = std::move(hidden);
  options.normaliser.name = normaliser;
  return options;
}

/// Of table_network.h: plain inputs of three columns, one of which has two pieces more.
Case network_case(const std::string& name, int64_t members, TabularLoss loss, int64_t parameters) {
  const FeatureShape shape{
      {"a", "b", "c"}, {0, 1, 1, 1, 2}, loss == TabularLoss::CrossEntropy ? 3 : 1, loss, {0, 1, 4}};
  TableNetworkOptions options;
  options.name = name;
  options.hidden = {16};
  options.members = members;
  options.dropout = 0;
  options.width = name == "transformer" ? 8 : 4;
  options.heads = 2;
  options.layers = 1;
  std::vector<std::string> maps;
  if (name == "transformer") maps = {"columns"};
  maps.push_back(options.attends() || options.is_transformer() ? "attention" : "contributions");
  return {concat("table_", name, "_", members),
          [=] { return std::make_shared<TableNetwork>(options, shape); },
          [=](int64_t rows) { return table_batch(rows, 5, loss); }, maps, parameters};
}

Batch context_batch(int64_t rows) {
  const Random random(4);
  const at::Tensor context = torch::arange(rows) % 3;
  const at::Tensor inputs = random.uniform_tensor({rows, 4}, 0, 1, torch::kFloat32);
  return {{{"inputs", inputs},
           {"context", context},
           {"target", inputs.gather(1, context.unsqueeze(1)).squeeze(1)}},
          rows};
}

std::vector<Case> cases() {
  ContextAttentionOptions softmax;
  softmax.name = "softmax";
  return {
      table_case("attention", table_options("tutorial", {}), TabularLoss::BinaryCrossEntropy,
                 3 * 6 + 6),
      table_case("attention_hidden", table_options("tutorial", {16, 8}), TabularLoss::CrossEntropy,
                 18 + 96 + 136 + 27),
      table_case("attention_number", table_options("tutorial", {12}), TabularLoss::SquaredError,
                 18 + 72 + 13),
      table_case("attention_sparsemax", table_options("tutorial", {16}, "sparsemax"),
                 TabularLoss::BinaryCrossEntropy, 18 + 96 + 17),
      table_case("plain", table_options("tutorial-plain", {16}), TabularLoss::BinaryCrossEntropy,
                 96 + 17),
      table_case("plain_matched", table_options("tutorial-plain", {}),
                 TabularLoss::BinaryCrossEntropy, 3 * 7 + 1),
      table_case("linear", table_options("tutorial-linear", {}), TabularLoss::SquaredError, 6),
      network_case("attention", 1, TabularLoss::SquaredError, 4 + 32 + 18 + 208 + 17),
      network_case("attention", 2, TabularLoss::BinaryCrossEntropy,
                   4 + 32 + 18 + 2 * 6 + 2 * 12 + 208 + 2 * 17),
      network_case("transformer", 1, TabularLoss::BinaryCrossEntropy,
                   4 + 64 + 616 + 288 + 16 + 8 + 144 + 17),
      network_case("plain", 2, TabularLoss::CrossEntropy, 12 + 32 + 2 * 12 + 208 + 2 * 51),
      {"context_free",
       [] {
         return std::make_shared<ContextAttention>(ContextAttentionOptions{},
                                                   ContextAttentionShape{3, 4});
       },
       context_batch,
       {"attention", "effective"},
       17},
      {"context_softmax",
       [=] {
         return std::make_shared<ContextAttention>(softmax, ContextAttentionShape{3, 4});
       },
       context_batch,
       {"attention"},
       12},
  };
}

class Contract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<Model> fresh(uint64_t seed = 1) {
    auto model = GetParam().make();
    model->initialise(Random(seed));
    return model;
  }
};

at::Tensor answers_of(const Predictions& predictions) {
  return predictions.scores.defined() ? predictions.scores : predictions.values;
}

TEST_P(Contract, FitsItsSchemaAndSummary) {
  auto model = fresh();
  check_batch(GetParam().batch(4), model->schema());
  int64_t total = 0, summed = 0;
  for (const auto& parameter : model->parameters()) total += parameter.numel();
  for (const auto& layer : model->summary()) summed += layer.parameters;
  EXPECT_EQ(total, GetParam().parameters);
  EXPECT_EQ(summed, total);
}

TEST_P(Contract, RefusesABatchThatDoesNotFit) {
  auto model = fresh();
  Batch batch = GetParam().batch(4);
  batch.tensors["inputs"] = batch.tensors["inputs"].narrow(1, 0, 2);
  EXPECT_THROW(check_batch(batch, model->schema()), Error);
}

TEST_P(Contract, SameSeedSameWeights) {
  const auto a = flat_parameters(*fresh(7)), b = flat_parameters(*fresh(7)),
             c = flat_parameters(*fresh(8));
  EXPECT_TRUE(a.equal(b));
  EXPECT_FALSE(a.equal(c));
}

TEST_P(Contract, OverfitsEightExamples) {
  auto model = fresh();
  const Batch batch = GetParam().batch(8);
  torch::optim::Adam optimiser(model->parameters(), torch::optim::AdamOptions(0.05));
  const double before = model->loss(batch, {Random(1), 0}).objective.item<double>();
  for (int step = 0; step < 400; ++step) {
    optimiser.zero_grad();
    model->loss(batch, {Random(1), step}).objective.backward();
    optimiser.step();
  }
  const double after = model->loss(batch, {Random(1), 0}).objective.item<double>();
  EXPECT_LT(after, GetParam().name == "linear" ? 0.9 * before : 0.35 * before);
}

TEST_P(Contract, ReplayEqualsPredict) {
  auto model = fresh();
  const Batch batch = GetParam().batch(300);
  const Predictions predictions = model->predict(batch);
  Tap tap;
  const at::Tensor replayed = model->replay(batch, predictions, &tap).squeeze(1);
  const at::Tensor predicted = predictions.scores.defined()
                                   ? std::get<0>(predictions.scores.max(1)).log()
                                   : predictions.values.squeeze(1);
  EXPECT_LT(largest_difference(replayed, predicted), 1e-5);
}

TEST_P(Contract, RecordsMapsOfTheirKind) {
  auto model = fresh();
  const Batch batch = GetParam().batch(5);
  Tap tap;
  model->replay(batch, model->predict(batch), &tap);
  ASSERT_EQ(tap.maps().size(), GetParam().maps.size());
  for (size_t i = 0; i < tap.maps().size(); ++i) {
    EXPECT_EQ(tap.maps()[i].name, GetParam().maps[i]);
    EXPECT_EQ(check_map(tap.maps()[i]), "");
    EXPECT_EQ(tap.maps()[i].weights.size(0), 5);
  }
}

TEST_P(Contract, AReplacedMapChangesTheOutput) {
  auto model = fresh();
  const Batch batch = GetParam().batch(5);
  const Predictions predictions = model->predict(batch);
  Tap plain;
  const at::Tensor before = model->replay(batch, predictions, &plain);
  for (const std::string& name : GetParam().maps) {
    Tap tap;
    tap.replace(name,
                [](const AttentionMap& map) {  // the order of what is added up does not matter
                  return map.kind == MapKind::Contribution ? 2 * map.weights : map.weights.flip(-1);
                });
    EXPECT_GT(largest_difference(model->replay(batch, predictions, &tap), before), 1e-4) << name;
  }
}

TEST_P(Contract, GradientsReachTheInputLeaf) {
  auto model = fresh();
  const Batch batch = GetParam().batch(5);
  Tap tap;
  model->replay(batch, model->predict(batch), &tap).sum().backward();
  ASSERT_EQ(tap.leaves().size(), 1u);
  const auto& [axis, leaf] = *tap.leaves().begin();
  EXPECT_GT(leaf.values.grad().abs().sum().item<double>(), 0);
  // Its units are those of the axis that the maps look at.
  for (const AttentionMap& map : tap.maps()) {
    EXPECT_EQ(axis, map.key_axis);
    const int64_t units = leaf.unit_of.empty() ? leaf.values.size(1) : leaf.unit_of.back() + 1;
    EXPECT_EQ(units, map.weights.size(3));
  }
}

TEST_P(Contract, RowsDoNotSeeEachOther) {
  auto model = fresh();
  Batch batch = GetParam().batch(6);
  const at::Tensor before = answers_of(model->predict(batch)).clone();
  batch.tensors["inputs"] = batch.tensors["inputs"].clone();
  batch.tensors["inputs"][5].fill_(100);
  EXPECT_TRUE(answers_of(model->predict(batch)).narrow(0, 0, 5).equal(before.narrow(0, 0, 5)));
}

INSTANTIATE_TEST_SUITE_P(Models, Contract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(FeatureAttention, HasTheTutorialsParameters) {
  std::vector<std::string> columns;
  std::vector<int64_t> column_of_input;
  for (int64_t i = 0; i < 10; ++i) columns.push_back(concat("x", i)), column_of_input.push_back(i);
  const FeatureShape shape{columns, column_of_input, 1, TabularLoss::BinaryCrossEntropy};
  EXPECT_EQ(flat_parameters(FeatureAttention(table_options("tutorial", {}), shape)).numel(), 121);
  EXPECT_EQ(flat_parameters(FeatureAttention(table_options("tutorial-plain", {}), shape)).numel(),
            121);
  EXPECT_EQ(flat_parameters(ContextAttention({}, {5, 8})).numel(), 49);
}

TEST(FeatureAttention, DropoutAndSparsemaxUseAutograd) {
  FeatureAttentionOptions options = table_options("tutorial", {4});
  const FeatureShape shape{{"a"}, {0, 0}, 1, TabularLoss::BinaryCrossEntropy};
  EXPECT_TRUE(FeatureAttention(options, shape).has_fused_path());
  options.dropout = 0.5;
  EXPECT_FALSE(FeatureAttention(options, shape).has_fused_path());
  options.dropout = 0;
  options.normaliser.name = "sparsemax";
  EXPECT_FALSE(FeatureAttention(options, shape).has_fused_path());
}

}  // namespace
}  // namespace fovea::contract_test

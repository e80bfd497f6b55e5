// What every network of the catalogue must do, over the trainings of tests/fingerprint/cases.txt:
// every model of every task. A new model adds a line there; the first test says when it is missing.
#include <gtest/gtest.h>
#include <torch/optim.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "fovea/attention/multi_head.h"
#include "fovea/base/error.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/setup.h"
#include "fovea/tensor/torch.h"

namespace fovea::model_contract_test {
namespace {

struct ContractCase {
  std::string name, task;
  std::vector<std::string> assignments;

  /// model.name, or "" where it is the task's usual one.
  std::string model() const {
    for (const std::string& assignment : assignments)
      if (assignment.starts_with("model.name=")) return assignment.substr(11);
    return "";
  }
};

std::ostream& operator<<(std::ostream& out, const ContractCase& one) {
  return out << one.name;
}

std::vector<ContractCase> contract_cases() {
  std::ifstream file(std::string(FOVEA_TEST_FILES) + "/fingerprint/cases.txt");
  std::vector<ContractCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    ContractCase& one = cases.emplace_back();
    words >> one.name >> one.task;
    for (std::string assignment; words >> assignment;) one.assignments.push_back(assignment);
  }
  return cases;
}

TEST(ModelContract, CoversTheCatalogue) {
  std::set<std::pair<std::string, std::string>> covered;
  for (const ContractCase& one : contract_cases()) covered.insert({one.task, one.model()});
  for (const TaskRow& row : task_table()) {
    EXPECT_TRUE(covered.contains({row.name, ""})) << row.name;
    const std::vector<std::string> models = make_task(row.name)->models();
    for (size_t i = 1; i < models.size(); ++i)
      EXPECT_TRUE(covered.contains({row.name, models[i]}))
          << row.name << " with model.name=" << models[i]
          << " has no line in tests/fingerprint/cases.txt";
  }
}

class ModelContract : public ::testing::TestWithParam<ContractCase> {
 protected:
  static constexpr int64_t kRows = 6;

  void SetUp() override {
    fovea::Setup& own = setup_.emplace(GetParam().task);
    for (const std::string& assignment : GetParam().assignments) own.set(assignment);
    try {
      splits_ = own.task().load(own.source(), 0);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      GTEST_SKIP() << error.what();  // a build without ICU, SentencePiece or pictures
    }
    for (int64_t row = 0; row < std::min(kRows, splits_.train->size()); ++row) rows_.push_back(row);
  }

  std::unique_ptr<Model> fresh(uint64_t seed = 1) const {
    std::unique_ptr<Model> model = setup_->task().make_model();
    model->initialise(Random(seed));
    return model;
  }
  Batch batch() const { return splits_.train->batch(rows_); }
  /// Of the same rows, as users' inputs come.
  std::vector<Example> examples() const {
    std::vector<Example> all;
    for (const int64_t row : rows_) all.push_back(splits_.train->example(row));
    return all;
  }

  std::optional<fovea::Setup> setup_;
  Splits splits_;
  std::vector<int64_t> rows_;
};

TEST_P(ModelContract, FitsItsSchemaAndSummary) {
  const auto model = fresh();
  check_batch(batch(), model->schema());
  int64_t total = 0, summed = 0;
  for (const at::Tensor& parameter : model->parameters()) total += parameter.numel();
  for (const LayerSummary& layer : model->summary()) summed += layer.parameters;
  EXPECT_EQ(summed, total);
}

TEST_P(ModelContract, RefusesABatchWithoutItsFirstTensor) {
  const auto model = fresh();
  Batch damaged = batch();
  damaged.tensors.erase(model->schema().at(0).name);
  EXPECT_THROW(check_batch(damaged, model->schema()), Error);
}

TEST_P(ModelContract, SameSeedSameWeights) {
  const auto a = flat_parameters(*fresh(7)), b = flat_parameters(*fresh(7)),
             c = flat_parameters(*fresh(8));
  EXPECT_TRUE(a.equal(b));
  torch::NoGradGuard no_gradients;
  Tap tap;
  const auto model = fresh();
  const Batch rows = setup_->task().collate(examples());
  model->replay(rows, model->predict(rows), &tap);
  const bool attends =
      std::any_of(tap.maps().begin(), tap.maps().end(),
                  [](const AttentionMap& map) { return map.kind != MapKind::Contribution; });
  EXPECT_TRUE(!attends || !a.equal(c)) << "attention begins with random weights";
}

TEST_P(ModelContract, LearnsSixRows) {
  const auto model = fresh();
  const Batch rows = batch();
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& parameter : model->parameters())
    if (parameter.requires_grad()) parameters.push_back(parameter);
  const auto loss = [&] { return model->loss(rows, {Random(1), 0}).objective; };
  const double before = loss().item<double>();
  ASSERT_TRUE(std::isfinite(before));
  if (!loss().requires_grad()) return;  // a baseline that learns nothing by gradients
  torch::optim::Adam optimiser(parameters, torch::optim::AdamOptions(0.01));
  for (int64_t step = 0; step < 40; ++step) {
    optimiser.zero_grad();
    model->loss(rows, {Random(1).split(uint64_t(step)), step}).objective.backward();
    optimiser.step();
  }
  const double after = loss().item<double>();
  EXPECT_TRUE(after < before || before == 0) << before << " became " << after;
}

TEST_P(ModelContract, MapsAreWhatTheySayAndReplayGivesTheAnswer) {
  torch::NoGradGuard no_gradients;
  const auto model = fresh();
  model->eval();
  const Batch rows = setup_->task().collate(examples());
  const Predictions predictions = model->predict(rows);
  Tap tap, again;
  const at::Tensor replayed = model->replay(rows, predictions, &tap);  // [B, U]
  EXPECT_EQ(replayed.size(0), int64_t(rows_.size()));
  EXPECT_TRUE(replayed.isfinite().all().item<bool>());
  EXPECT_TRUE(model->replay(rows, predictions, &again).allclose(replayed, 1e-5, 1e-6));
  for (const AttentionMap& map : tap.maps()) EXPECT_EQ(check_map(map), "") << map.name;
}

TEST_P(ModelContract, ProductsOfQueryAndKeyMakeTheWeights) {
  torch::NoGradGuard no_gradients;
  const auto model = fresh();
  model->eval();
  const std::vector<Example> all = examples();
  const Batch rows = setup_->task().collate(std::span(all).first(1));
  const Predictions predictions = model->predict(rows);
  std::set<std::pair<std::string, int64_t>> expected;
  for (const HeadBlock& block : model->head_blocks())
    if (block.attention->score().dot_scale(block.attention->head_size()))
      expected.insert({block.map, block.layer});
  for (const Record record : {Record::Live, Record::OnDemand}) {
    Tap tap(record);
    tap.want_products();
    model->replay(rows, predictions, &tap);
    for (const AttentionMap& map : tap.maps()) {
      const auto products = tap.products(map);
      EXPECT_TRUE(products || !expected.contains({map.name, map.layer})) << map.name;
      if (!products) continue;
      for (int64_t head = 0; head < heads_of(map); ++head) {
        const at::Tensor weights = head_of(map, 0, head).to(at::kDouble);  // [Q, K]
        for (const int64_t query : {int64_t{0}, weights.size(0) / 2, weights.size(0) - 1}) {
          const ProductRow row = products->row(0, head, query);
          EXPECT_LT((row.weights - weights[query]).abs().max().item<double>(), 1e-5)
              << map.name << " " << map.layer << "." << head << ":" << query;
          at::Tensor scores = row.scale * row.keys.mv(row.query);  // [K]
          for (const ScoreTerm& term : row.terms) scores = scores + term.values;
          EXPECT_TRUE(scores.allclose(row.scores));
        }
      }
    }
  }
}

TEST_P(ModelContract, RowsDoNotSeeEachOther) {
  torch::NoGradGuard no_gradients;
  const auto model = fresh();
  model->eval();
  const std::vector<Example> all = examples();
  const Predictions together = model->predict(setup_->task().collate(all));
  const Predictions alone = model->predict(setup_->task().collate(std::span(all).first(1)));
  const auto same = [](const at::Tensor& a, const at::Tensor& b) {
    return !a.defined() || a[0].allclose(b[0], 1e-4, 1e-5);
  };
  EXPECT_TRUE(same(together.scores, alone.scores));
  EXPECT_TRUE(same(together.values, alone.values));
  if (together.outputs.empty() || together.actions.defined()) return;
  ASSERT_EQ(together.outputs[0].size(), alone.outputs[0].size());
  for (size_t i = 0; i < alone.outputs[0].size(); ++i)
    EXPECT_EQ(together.outputs[0][i].tokens, alone.outputs[0][i].tokens);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ModelContract, ::testing::ValuesIn(contract_cases()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace fovea::model_contract_test

#include "fovea/kernels/tabular_net/tabular_net.h"

#include <cmath>
#include <limits>
#include <string>

#include "tests/kernels/tabular_reference.h"
#include "tests/kernels/testing.h"
#include "tests/kernels/train_steps.h"

namespace fovea::kernels::tabular_net_test {
namespace {

constexpr int64_t kBatchSizes[] = {1, 3, 16, 17, 128, 300};
constexpr TabularLoss kLosses[] = {TabularLoss::BinaryCrossEntropy, TabularLoss::CrossEntropy,
                                   TabularLoss::SquaredError};

/// A network with its data: more resident rows than a batch takes, picked out of order and more
/// than once.
struct Problem {
  TabularShape shape;
  std::vector<float> inputs, targets, parameters;
  std::vector<int64_t> classes, rows;

  Problem(const TabularShape& of, int64_t count) : shape(of) {
    constexpr int64_t kResident = 40;
    Numbers numbers(static_cast<uint32_t>(1000 * count + shape.parameters()));
    inputs = numbers.floats(kResident * shape.inputs);
    parameters = numbers.floats(shape.parameters());
    for (int64_t i = 0; i < kResident; ++i) {
      classes.push_back(numbers.below(shape.outputs));
      targets.push_back(shape.loss == TabularLoss::SquaredError
                            ? 3 * numbers.next()
                            : static_cast<float>(numbers.below(2)));
    }
    for (int64_t i = 0; i < count; ++i) rows.push_back(numbers.below(kResident));
  }

  TabularRows batch() const {
    const bool by_class = shape.loss == TabularLoss::CrossEntropy;
    return {inputs.data(), by_class ? nullptr : targets.data(), by_class ? classes.data() : nullptr,
            rows.data(), static_cast<int64_t>(rows.size())};
  }
  std::vector<double> exact_parameters() const { return {parameters.begin(), parameters.end()}; }
};

/// What the kernel answers, from scratch space that was full of `rubbish` and is followed by a
/// number that nobody may touch.
struct Answer {
  std::vector<float> outputs, attention, gradient;
  double loss_sum;

  explicit Answer(const Problem& problem, float rubbish = NAN) {
    const TabularShape& shape = problem.shape;
    const TabularRows batch = problem.batch();
    std::vector<float> scratch(static_cast<size_t>(shape.workspace(batch.count)), rubbish);
    scratch.push_back(kCanary);
    outputs.assign(static_cast<size_t>(batch.count * shape.outputs), rubbish);
    attention.assign(static_cast<size_t>(batch.count * shape.columns), rubbish);
    gradient.assign(problem.parameters.size(), rubbish);
    const float* parameters = problem.parameters.data();
    loss_sum = tabular_gradient(shape, parameters, batch, gradient.data(), scratch.data());
    std::fill(scratch.begin(), scratch.end() - 1, rubbish);
    tabular_forward(shape, parameters, batch, outputs.data(),
                    shape.columns > 0 ? attention.data() : nullptr, scratch.data());
    EXPECT_EQ(scratch.back(), kCanary) << "the scratch space is too small";
  }
};

/// Networks that reach every block width of the kernel.
std::vector<TabularShape> shapes() {
  std::vector<TabularShape> all;
  for (const TabularLoss loss : kLosses) {
    const int64_t outputs = loss == TabularLoss::CrossEntropy ? 3 : 1;
    for (const std::vector<int64_t>& hidden :
         {std::vector<int64_t>{}, std::vector<int64_t>{5}, std::vector<int64_t>{7, 3}}) {
      all.push_back({5, 0, {}, hidden, outputs, loss});
      all.push_back({4, 4, {0, 1, 2, 3}, hidden, outputs, loss});
      all.push_back({6, 3, {0, 0, 1, 2, 2, 2}, hidden, outputs, loss});
    }
  }
  all.push_back({11, 0, {}, {19}, 11, TabularLoss::CrossEntropy});
  all.push_back({11, 2, {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, {9, 8}, 1, TabularLoss::SquaredError});
  all.push_back({1, 1, {0}, {1}, 1, TabularLoss::BinaryCrossEntropy});
  all.push_back({3, 3, {2, 0, 1}, {}, 1, TabularLoss::BinaryCrossEntropy});
  for (const int64_t columns : {10, 12, 13, 17}) {  // with and without room in registers
    TabularShape own{columns, columns, {}, {}, 1, TabularLoss::BinaryCrossEntropy};
    for (int64_t i = 0; i < columns; ++i) own.column_of_input.push_back(i);
    all.push_back(own);
  }
  return all;
}

std::string description(const TabularShape& shape, int64_t count) {
  std::string text = std::to_string(shape.inputs) + " inputs, " + std::to_string(shape.columns) +
                     " columns, hidden";
  for (const int64_t width : shape.hidden) text += " " + std::to_string(width);
  return text + ", " + std::to_string(shape.outputs) + " outputs, loss " +
         std::to_string(static_cast<int>(shape.loss)) + ", " + std::to_string(count) + " rows";
}

TEST(TabularNet, FollowsTheFormulasOnEveryInstructionSet) {
  for (const TabularShape& shape : shapes())
    for (const int64_t count : kBatchSizes) {
      const Problem problem(shape, count);
      const TabularReference reference(problem.shape, problem.batch());
      const TabularAnswer exact = reference.run(problem.exact_parameters());
      const std::vector<double> slopes = reference.gradient(problem.exact_parameters());
      for (const InstructionSet set : available_sets()) {
        SCOPED_TRACE(description(shape, count) + ", " + name_of(set));
        const UseSet use(set);
        const Answer answer(problem);
        EXPECT_LT(worst_difference(answer.outputs, exact.outputs), 3e-6);
        EXPECT_LT(worst_difference(answer.attention, exact.attention), 1e-6);
        EXPECT_LT(worst_difference(answer.gradient, slopes), 3e-6);
        EXPECT_NEAR(answer.loss_sum, exact.loss_sum, 2e-6 * double(count) * (1 + exact.loss_sum));
      }
    }
}

TEST(TabularNet, GivesTheSameBitsWhateverTheScratchSpaceHeld) {
  for (const TabularShape& shape : shapes())
    for (const InstructionSet set : available_sets()) {
      SCOPED_TRACE(description(shape, 17) + ", " + name_of(set));
      const UseSet use(set);
      const Problem problem(shape, 17);  // 15 rows of padding
      const Answer first(problem, NAN), second(problem, 0.0f), third(problem, 1e30f);
      for (const Answer* other : {&second, &third}) {
        EXPECT_EQ(first.outputs, other->outputs);
        EXPECT_EQ(first.attention, other->attention);
        EXPECT_EQ(first.gradient, other->gradient);
        EXPECT_EQ(first.loss_sum, other->loss_sum);
      }
    }
}

TEST(TabularNet, RowsDoNotKnowEachOther) {
  for (const TabularShape& shape : shapes())
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      const Problem together(shape, 300);
      const Answer all(together);
      Problem alone = together;
      alone.rows = {together.rows[279]};  // beyond the first chunk
      const Answer one(alone);
      for (int64_t o = 0; o < shape.outputs; ++o)
        EXPECT_EQ(one.outputs[size_t(o)], all.outputs[size_t(279 * shape.outputs + o)]);
      for (int64_t c = 0; c < shape.columns; ++c)
        EXPECT_EQ(one.attention[size_t(c)], all.attention[size_t(279 * shape.columns + c)]);
    }
}

TEST(TabularNet, BatchGradientIsTheMeanOfTheRows) {
  for (const TabularShape& shape : shapes()) {
    const Problem together(shape, 3);
    std::vector<double> mean(together.parameters.size(), 0.0);
    double loss_sum = 0;
    for (const int64_t row : together.rows) {
      Problem alone = together;
      alone.rows = {row};
      const Answer one(alone);
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += double(one.gradient[i]) / 3;
      loss_sum += one.loss_sum;
    }
    const Answer all(together);
    EXPECT_LT(worst_difference(all.gradient, mean), 2e-6) << description(shape, 3);
    EXPECT_NEAR(all.loss_sum, loss_sum, 1e-5);
  }
}

TEST(TabularNet, TrainingIsGradientAndStepByTurns) {
  constexpr int64_t kRows = 700;
  for (const TabularShape& shape :
       {TabularShape{10, 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {}, 1, {}},
        TabularShape{6, 3, {0, 0, 1, 2, 2, 2}, {7, 3}, 3, TabularLoss::CrossEntropy}})
    for (const int64_t batch_size : {1, 128, 300, 1000})
      for (const OptimiserSettings& settings : all_optimisers())
        for (const bool clips : {false, true})
          for (const InstructionSet set : available_sets()) {
            SCOPED_TRACE(description(shape, batch_size) + ", " + name_of(set));
            const UseSet use(set);
            const Problem problem(shape, kRows);
            Course whole(settings, problem.parameters), turns(settings, problem.parameters);
            if (clips) whole.clip_value = turns.clip_value = 0.02;
            if (clips) whole.clip_norm = turns.clip_norm = 0.03;
            std::vector<float> scratch(static_cast<size_t>(shape.workspace(batch_size)), NAN);
            const double sum =
                tabular_train(shape, problem.batch(), batch_size,
                              whole.next((kRows + batch_size - 1) / batch_size), scratch.data());
            double expected = 0;
            for (int64_t begin = 0; begin < kRows; begin += batch_size) {
              TabularRows batch = problem.batch();
              batch.rows += begin;
              batch.count = std::min(batch_size, kRows - begin);
              expected += tabular_gradient(shape, turns.parameters.data(), batch,
                                           turns.gradient.data(), scratch.data());
              turns.step();
            }
            EXPECT_EQ(sum, expected);
            EXPECT_EQ(whole.parameters, turns.parameters);
            EXPECT_EQ(whole.gradient, turns.gradient);
            EXPECT_NE(whole.parameters, problem.parameters);
          }
}

/// One input, no hidden layer: the parameters are the logits' slopes and biases.
Problem direct(TabularLoss loss, std::vector<float> parameters) {
  Problem problem({1, 0, {}, {}, loss == TabularLoss::CrossEntropy ? 2 : 1, loss}, 4);
  problem.inputs = {1, -1, 1, -1};
  problem.classes = {0, 0, 1, 1};
  problem.targets = {0, 0, 1, 1};
  problem.rows = {0, 1, 2, 3};
  problem.parameters = std::move(parameters);
  return problem;
}

TEST(TabularNet, ExtremeLogitsGiveTheExactLossAndFiniteGradients) {
  for (const float logit : {80.0f, 500.0f, 1e6f})
    for (const InstructionSet set : available_sets()) {
      SCOPED_TRACE(std::to_string(logit) + ", " + name_of(set));
      const UseSet use(set);
      for (const Problem& problem : {direct(TabularLoss::BinaryCrossEntropy, {logit, 0}),
                                     direct(TabularLoss::CrossEntropy, {logit, -logit, 0, 0})}) {
        const TabularReference reference(problem.shape, problem.batch());
        const double exact = reference.run(problem.exact_parameters()).loss_sum;
        const Answer answer(problem);
        EXPECT_NEAR(answer.loss_sum, exact, 1e-6 * exact);
        EXPECT_LT(worst_difference(answer.gradient, reference.gradient(problem.exact_parameters())),
                  1e-5);
      }
    }
}

TEST(TabularNet, NanInAnyParameterShowsInTheLoss) {
  // A trainer that looks at the loss must see that the network has diverged.
  for (const TabularShape& shape : shapes())
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      for (size_t at = 0; at < Problem(shape, 3).parameters.size(); ++at) {
        Problem problem(shape, 3);
        problem.parameters[at] = NAN;
        EXPECT_TRUE(std::isnan(Answer(problem).loss_sum))
            << description(shape, 3) << ", " << name_of(set) << ", parameter " << at;
      }
    }
}

TEST(TabularNet, ExtremeAttentionPicksOneColumn) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    Problem problem({2, 2, {0, 1}, {}, 1, TabularLoss::SquaredError}, 1);
    problem.inputs = {1, 2};
    problem.rows = {0};
    problem.targets = {0};
    problem.parameters = {80, 0, 0, -40, 0, 0, 3, 5, 0};  // logits 80 and -80
    const Answer answer(problem);
    EXPECT_EQ(answer.attention, (std::vector<float>{1, 0}));
    EXPECT_EQ(answer.outputs, std::vector<float>{3});
    for (const float slope : answer.gradient) EXPECT_TRUE(std::isfinite(slope));
  }
}

TEST(TabularNet, AttentionIsOptionalToAskFor) {
  const Problem problem({4, 4, {0, 1, 2, 3}, {5}, 1, TabularLoss::BinaryCrossEntropy}, 17);
  const Answer answer(problem);
  std::vector<float> outputs(17, NAN),
      scratch(static_cast<size_t>(problem.shape.workspace(17)), NAN);
  tabular_forward(problem.shape, problem.parameters.data(), problem.batch(), outputs.data(),
                  nullptr, scratch.data());
  EXPECT_EQ(outputs, answer.outputs);
}

TEST(TabularNet, CountsItsParameters) {
  EXPECT_EQ((TabularShape{5, 0, {}, {}, 1, {}}).parameters(), 6);
  EXPECT_EQ((TabularShape{4, 3, {0, 1, 2, 2}, {7, 2}, 3, {}}).parameters(),
            3 * 5 + 7 * 5 + 2 * 8 + 3 * 3);
}

TEST(TabularNet, EmptyBatchHasNoLossAndNoGradient) {
  Problem problem({4, 0, {}, {5}, 1, TabularLoss::SquaredError}, 1);
  problem.rows.clear();
  const Answer answer(problem);
  EXPECT_EQ(answer.loss_sum, 0);
  EXPECT_EQ(answer.gradient, std::vector<float>(problem.parameters.size(), 0.0f));
}

}  // namespace
}  // namespace fovea::kernels::tabular_net_test

#include "fovea/tasks/trained_adversary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/attend.h"
#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/trainer.h"
#include "tests/support/expect_error.h"

namespace fovea::trained_adversary_test {
namespace {

using namespace testing;
using at::Tensor;

constexpr int64_t kUnits = 6, kClasses = 3;

/// The smallest network with attention: a = softmax(x v + b) over the units, of which each place
/// has its own b; the class from the mean sum over k of a_k x_k.
class Pooling : public Model {
 public:
  explicit Pooling(MapKind kind = MapKind::Distribution) : kind_(kind) {
    score_ = register_parameter("score", at::zeros({2}));
    place_ = register_parameter("place", at::zeros({kUnits}));
    output_ = register_parameter("output", at::zeros({kClasses, 2}));
    bias_ = register_parameter("bias", at::zeros({kClasses}));
  }
  void initialise(const Random& random) override {
    torch::NoGradGuard no_gradients;
    for (auto& item : named_parameters())
      item.value().copy_(
          random.split(item.key()).normal_tensor(item.value().sizes(), 0, 0.5, at::kFloat));
  }
  Schema schema() const override {
    return {{"x", at::kFloat, {-1, kUnits, 2}}, {"target", at::kLong, {-1}}};
  }
  std::vector<LayerSummary> summary() const override { return {}; }
  Loss loss(const Batch& batch, const StepContext&) override {
    Loss loss;
    loss.objective = at::cross_entropy_loss(logits(batch, nullptr), batch.at("target"));
    return loss;
  }
  Predictions predict(const Batch& batch) const override {
    torch::NoGradGuard no_gradients;
    Predictions predictions;
    predictions.scores = logits(batch, nullptr).softmax(1);
    return predictions;
  }
  Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override {
    return logits(batch, tap).log_softmax(1).gather(1, predictions.scores.argmax(1, true));
  }

 private:
  Tensor logits(const Batch& batch, Tap* tap) const {
    const Tensor& x = batch.at("x");                            // [B, K, 2]
    const Tensor own = (x.matmul(score_) + place_).softmax(1);  // [B, K]
    const Tensor used = report_to(tap, labelled_map({"attention", "", "units"},
                                                    own.view({-1, 1, 1, kUnits}), kind_))
                            .view({-1, 1, kUnits});
    return at::linear(used.bmm(x).squeeze(1), output_, bias_);  // [B, C]
  }

  MapKind kind_;
  Tensor score_, place_, output_, bias_;
};

class Units : public ColumnDataset {
 public:
  using ColumnDataset::ColumnDataset;
  Example example(int64_t row) const override { return row_example(row); }
};

/// Each unit says -1, 0 or 1. Planted: one of them is marked, and the class is what that one says.
/// Otherwise all say the same, and it does not matter which is looked at.
Units units(int64_t rows, bool planted, uint64_t seed) {
  const Random random(seed);
  const Tensor said = random.split("said").uniform_tensor({rows, kUnits}, 0, 3, at::kFloat).floor();
  const Tensor marked =
      random.split("marked").uniform_tensor({rows}, 0, kUnits, at::kFloat).floor().to(at::kLong);
  const Tensor target = said.gather(1, marked.unsqueeze(1)).squeeze(1).to(at::kLong);  // [N]
  const Tensor marks =
      planted ? at::one_hot(marked, kUnits).to(at::kFloat) : at::zeros({rows, kUnits});
  const Tensor values = planted ? said : target.unsqueeze(1).expand({-1, kUnits}).to(at::kFloat);
  return Units({{"x", at::stack({marks * 3, values - 1}, 2)}, {"target", target}});
}

TrainingOptions training() {
  TrainingOptions options;
  options.epochs = 30;
  options.batch_size = 32;
  options.learning_rate = 0.05;
  return options;
}

double accuracy_of(const Model& model, const Units& rows) {
  const Tensor& target = rows.columns().at("target");
  std::vector<int64_t> all(size_t(rows.size()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = int64_t(i);
  return model.predict(rows.batch(all))
      .scores.argmax(1)
      .eq(target)
      .to(at::kDouble)
      .mean()
      .item<double>();
}

struct Study {
  explicit Study(bool planted) : train(units(600, planted, 1)), test(units(200, planted, 2)) {
    base.initialise(Random(3));
    Trainer(base, training(), 3).train(train, {});
  }
  AdversarySubject subject() {
    return {base,
            [] { return std::make_unique<Pooling>(); },
            train,
            test,
            training(),
            [this](const Model& model) {
              return Metrics{{"accuracy", accuracy_of(model, test), true}};
            }};
  }
  Units train, test;
  Pooling base;
};

TEST(TrainedAdversary, CannotLeaveWhatTheAnswerNeeds) {
  Study study(/*planted=*/true);
  AdversaryRequest request;
  request.strengths = {0, 0.003, 0.3};
  const AdversaryResult result = train_adversaries(study.subject(), request);
  EXPECT_GT(result.base.at(0).value, 0.97);
  EXPECT_EQ(result.maps, (std::vector<std::string>{"attention"}));
  EXPECT_EQ(result.rows, 200);
  ASSERT_EQ(result.points.size(), 3u);
  for (const AdversaryPoint& point : result.points) {
    SCOPED_TRACE(point.strength);
    EXPECT_TRUE(point.distance > 0.2 || point.divergence < 0.1)
        << point.distance << " " << point.divergence;
    EXPECT_GE(point.divergence, 0);
    EXPECT_LE(point.divergence, std::log(2.0) + 1e-6);
    EXPECT_EQ(point.by_map.size(), 1u);
    EXPECT_NEAR(point.by_map[0], point.divergence, 1e-12);
  }
  ASSERT_TRUE(result.farthest());
  EXPECT_LT(result.farthest()->divergence, 0.1);
  EXPECT_GT(result.points[2].divergence, 0.3) << "what is asked for that strongly is done";
  EXPECT_LT(result.points[2].agreement, 0.8);
  EXPECT_LT(result.uniform.at(0).value, 0.8) << "equal weights cannot know which unit counts";
}

TEST(TrainedAdversary, MovesFreelyWhereItDoesNotMatter) {
  Study study(/*planted=*/false);
  AdversaryRequest request;
  request.strengths = {0, 0.1};
  const AdversaryResult result = train_adversaries(study.subject(), request);
  EXPECT_GT(result.base.at(0).value, 0.97);
  const AdversaryPoint* farthest = result.farthest();
  ASSERT_TRUE(farthest);
  EXPECT_EQ(farthest->strength, 0.1);
  EXPECT_GT(farthest->divergence, 0.4);
  EXPECT_GT(farthest->agreement, 0.97);
  EXPECT_GT(farthest->metrics.at(0).value, 0.97);
  EXPECT_GT(farthest->divergence, 2 * result.points[0].divergence) << "of another seed alone";
  EXPECT_GT(result.uniform.at(0).value, 0.97) << "the data need no attention";
}

TEST(TrainedAdversary, TheFarthestHasTheSameAnswers) {
  AdversaryResult result;
  EXPECT_FALSE(result.farthest());
  const auto add = [&](double distance, double agreement, double divergence) {
    AdversaryPoint point;
    point.distance = distance, point.agreement = agreement, point.divergence = divergence;
    result.points.push_back(point);
  };
  add(0.5, 1, 0.6);
  EXPECT_FALSE(result.farthest()) << "its answers moved";
  add(0.001, 0.2, 0.5);
  EXPECT_FALSE(result.farthest()) << "it is as unsure, of another answer";
  add(0.01, 0.99, 0.1);
  add(0.04, 0.96, 0.3);
  add(0.02, 0.98, 0.2);
  ASSERT_TRUE(result.farthest());
  EXPECT_EQ(result.farthest()->divergence, 0.3);
}

TEST(TrainedAdversary, TheSeedAloneDecides) {
  Study study(/*planted=*/true);
  AdversaryRequest request;
  request.strengths = {0.01};
  request.epochs = 2;
  request.uniform = false;
  const auto divergence = [&](uint64_t seed) {
    request.seed = seed;
    const AdversaryResult result = train_adversaries(study.subject(), request);
    EXPECT_TRUE(result.uniform.empty());
    return result.points.at(0).divergence;
  };
  const double once = divergence(5);
  EXPECT_EQ(divergence(5), once);
  EXPECT_NE(divergence(6), once);
}

TEST(TrainedAdversary, RefusesWhatItCannotJudge) {
  Study study(/*planted=*/true);
  Pooling gates(MapKind::Gate);
  gates.initialise(Random(1));
  AdversarySubject subject{gates, [] { return std::make_unique<Pooling>(); }, study.train,
                           study.test, training()};
  expect_error(ErrorKind::Unsupported, {"no such map", "--faithfulness"},
               [&] { train_adversaries(subject, {}); });
  AdversaryRequest request;
  request.strengths = {-1};
  expect_error(ErrorKind::InvalidArgument, "lambda is at least 0",
               [&] { train_adversaries(study.subject(), request); });
  const Units nothing = units(0, true, 1);
  AdversarySubject empty{study.base, [] { return std::make_unique<Pooling>(); }, study.train,
                         nothing, training()};
  expect_error(ErrorKind::InvalidArgument, "0 to measure on",
               [&] { train_adversaries(empty, {}); });
  AdversaryRequest stopped;
  stopped.should_stop = [] { return true; };
  EXPECT_THROW(train_adversaries(study.subject(), stopped), Stopped);
}

}  // namespace
}  // namespace fovea::trained_adversary_test

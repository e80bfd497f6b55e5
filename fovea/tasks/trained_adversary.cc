#include "fovea/tasks/trained_adversary.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/explain/faithfulness/adversary.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/trainer.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kMostClasses = 64;          // each but one takes a pass
constexpr int64_t kPositionsTogether = 8192;  // of a batch that is measured
constexpr double kSmallestWeight = 1e-10;     // below it a logarithm is cut off
constexpr double kSameNumbers = 1e-2;         // of two ways to the same probabilities

/// Weights that sum to 1 in each row, or in some rows to 0.
bool is_shares(const AttentionMap& map) {
  return map.layout == MapLayout::Dense &&
         (map.kind == MapKind::Distribution || map.kind == MapKind::Partial);
}

/// As much of each row as there is, in equal parts wherever it looks at all.
Tensor equal_weights(const AttentionMap& map) {
  const Tensor own = map.weights.detach();
  const Tensor there = (own > 0).to(own.dtype());
  return there / there.sum(-1, /*keepdim=*/true).clamp_min(1) * own.sum(-1, /*keepdim=*/true);
}

/// The log-probability of one class for each row, `answers` [B]: [B].
Tensor log_probability(const Model& model, const Batch& batch, const Tensor& answers,
                       int64_t classes, Tap& tap) {
  Predictions chosen;
  chosen.scores = at::one_hot(answers, classes).to(model.device(), at::kFloat);  // [B, C]
  return model.replay(batch, chosen, &tap).squeeze(1);
}

/// What a network answers, and where it looks.
struct Look {
  Tensor scores;                   // [B, C]
  std::vector<AttentionMap> maps;  // those that are shares
};

class Looker {
 public:
  explicit Looker(int64_t classes) : classes_(classes) {}
  /// From here on these maps have equal weights.
  void level(const std::vector<std::string>& maps) { levelled_ = maps; }

  Look look(const Model& model, const Batch& batch) const {
    Look look;
    std::vector<Tensor> columns;
    Tensor rest = at::ones({batch.size}, at::TensorOptions(model.device()));
    for (int64_t c = 0; c + 1 < classes_; ++c) {
      Tap tap;
      prepare(tap);
      const Tensor answers = at::full({batch.size}, c, at::TensorOptions(at::kLong));
      columns.push_back(log_probability(model, batch, answers, classes_, tap).exp());  // [B]
      rest = rest - columns.back();
      if (c > 0) continue;
      for (const AttentionMap& map : tap.maps())
        if (is_shares(map)) look.maps.push_back(map);
    }
    columns.push_back(rest.clamp_min(0));
    look.scores = at::stack(columns, 1);
    return look;
  }
  /// -log of the probability of what is right: [B].
  Tensor surprise(const Model& model, const Batch& batch) const {
    Tap tap;
    prepare(tap);
    const Tensor right = batch.at("target").to(at::kLong).cpu();  // [B]
    return -log_probability(model, batch, right, classes_, tap);
  }

 private:
  void prepare(Tap& tap) const {
    for (const std::string& map : levelled_) tap.replace(map, equal_weights);
  }

  int64_t classes_;
  std::vector<std::string> levelled_;
};

/// Of each row of the batch: what `divergence` of shares [B, H, Q, K] says, the mean over the heads
/// and queries that look at something.
template <class Divergence>
Tensor mean_of_rows(const AttentionMap& one, const AttentionMap& other, Divergence divergence) {
  const auto shares = [](const Tensor& weights) {
    return weights / weights.sum(-1, /*keepdim=*/true).clamp_min(kSmallestWeight);
  };
  const Tensor there = other.weights.sum(-1) > 0;  // [B, H, Q]
  const Tensor each = divergence(shares(one.weights), shares(other.weights));
  return (each * there).flatten(1).sum(1) / there.flatten(1).sum(1).clamp_min(1);  // [B]
}

Tensor kullback_leibler(const Tensor& from, const Tensor& to) {
  const Tensor ratio = from.clamp_min(kSmallestWeight) / to.clamp_min(kSmallestWeight);
  return (from * ratio.log()).sum(-1);
}

void check_same_maps(const Look& one, const Look& other) {
  require(one.maps.size() == other.maps.size(), ErrorKind::Internal, "adversary: ", one.maps.size(),
          " maps stand beside ", other.maps.size());
}

/// The second network as a model that the Trainer can train.
class SecondNetwork : public Model {
 public:
  SecondNetwork(const AdversarySubject& subject, const Looker& looker)
      : base_(subject.model), looker_(looker) {
    network_ = register_module("network", std::shared_ptr<Model>(subject.make()));
  }
  /// It learns to answer as the base does and to look elsewhere. Otherwise it learns the data.
  void oppose(double strength) { strength_ = strength; }

  void initialise(const Random& random) override { network_->initialise(random); }
  Schema schema() const override { return network_->schema(); }
  std::vector<LayerSummary> summary() const override { return network_->summary(); }
  ParameterRule rule_of(const std::string& name) const override {
    return network_->rule_of(name.substr(std::string_view("network.").size()));
  }
  Loss loss(const Batch& batch, const StepContext&) override {
    Loss loss;
    if (!strength_) {
      loss.objective = looker_.surprise(*network_, batch).mean();
      return loss;
    }
    const Look base = [&] {
      torch::NoGradGuard no_gradients;
      return looker_.look(base_, batch);
    }();
    const Look own = looker_.look(*network_, batch);
    check_same_maps(own, base);
    Tensor elsewhere = at::zeros_like(own.scores.select(1, 0));  // [B]
    for (size_t i = 0; i < own.maps.size(); ++i)
      elsewhere = elsewhere + mean_of_rows(own.maps[i], base.maps[i], kullback_leibler);
    if (!own.maps.empty()) elsewhere = elsewhere / double(own.maps.size());
    const Tensor distance = (own.scores - base.scores).abs().sum(1) / 2;  // [B]
    loss.objective = (distance - *strength_ * elsewhere).mean();
    return loss;
  }
  Predictions predict(const Batch& batch) const override {
    torch::NoGradGuard no_gradients;
    Predictions predictions;
    predictions.scores = looker_.look(*network_, batch).scores;
    return predictions;
  }
  Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override {
    return network_->replay(batch, predictions, tap);
  }
  const Model& network() const { return *network_; }

 private:
  const Model& base_;
  const Looker& looker_;
  std::shared_ptr<Model> network_;
  std::optional<double> strength_;
};

/// What can be asked of this network.
struct Subject {
  int64_t classes = 0;
  std::vector<std::string> maps;
};

Subject examine_subject(const Model& model, const Dataset& rows) {
  torch::NoGradGuard no_gradients;
  const int64_t first = 0;
  Batch batch = rows.batch({&first, 1});
  for (auto& [name, tensor] : batch.tensors) tensor = tensor.to(model.device());
  const Tensor scores = model.predict(batch).scores;
  const auto refuse = [](const std::string& found) {
    fail(ErrorKind::Unsupported, "adversary: this network ", found,
         "; a second network is trained where one class of at most ", kMostClasses,
         " is the answer and attention is weights that sum to 1, as for documents with "
         "model.name=han; fovea explain RUN --faithfulness judges all others");
  };
  if (!scores.defined() || scores.dim() != 2) refuse("gives no probabilities of classes");
  Subject subject;
  subject.classes = scores.size(1);
  if (subject.classes < 2 || subject.classes > kMostClasses)
    refuse(concat("has ", subject.classes, " classes"));
  if (std::abs(scores[0].sum().item<double>() - 1) > kSameNumbers)
    refuse("gives any of several labels");
  const Looker looker(subject.classes);
  const Look look = looker.look(model, batch);
  for (const AttentionMap& map : look.maps)
    if (std::ranges::find(subject.maps, map.name) == subject.maps.end())
      subject.maps.push_back(map.name);
  if (subject.maps.empty()) refuse("has no such map");
  const double off = (look.scores - scores.to(look.scores.device())).abs().max().item<double>();
  if (!(off < kSameNumbers)) refuse("does not replay other answers than its own");
  return subject;
}

AdversaryPoint compare_networks(const Model& base, const SecondNetwork& second, const Dataset& rows,
                                const Subject& subject) {
  const Looker looker(subject.classes);
  const RowBatches batches = batches_of_tokens(base, rows, kPositionsTogether);
  struct Sums {
    double rows = 0, distance = 0, agreement = 0;
    std::vector<double> divergence, layers;
  };
  std::vector<Sums> sums(batches.size());
  over_batches(
      base, rows, batches,
      [&](size_t index, const Batch& batch) {
        const Look one = looker.look(second.network(), batch), other = looker.look(base, batch);
        check_same_maps(one, other);
        Sums& own = sums[index];
        own.rows = double(batch.size);
        own.distance = ((one.scores - other.scores).abs().sum(1) / 2).sum().item<double>();
        own.agreement = one.scores.argmax(1).eq(other.scores.argmax(1)).sum().item<double>();
        own.divergence.resize(subject.maps.size());
        own.layers.resize(subject.maps.size());
        for (size_t i = 0; i < one.maps.size(); ++i) {
          const auto name = std::ranges::find(subject.maps, one.maps[i].name);
          if (name == subject.maps.end()) continue;
          const auto place = size_t(name - subject.maps.begin());
          own.divergence[place] +=
              mean_of_rows(one.maps[i], other.maps[i], faithfulness::jensen_shannon)
                  .sum()
                  .item<double>();
          own.layers[place] += double(batch.size);
        }
      },
      {});
  AdversaryPoint point;
  double count = 0;
  std::vector<double> layers(subject.maps.size());
  point.by_map.resize(subject.maps.size());
  for (const Sums& own : sums) {  // in this order, whatever thread was first
    count += own.rows;
    point.distance += own.distance;
    point.agreement += own.agreement;
    for (size_t i = 0; i < subject.maps.size(); ++i)
      point.by_map[i] += own.divergence[i], layers[i] += own.layers[i];
  }
  point.distance /= count;
  point.agreement /= count;
  for (size_t i = 0; i < subject.maps.size(); ++i) {
    point.by_map[i] /= std::max(layers[i], 1.0);
    point.divergence += point.by_map[i] / double(subject.maps.size());
  }
  return point;
}

}  // namespace

const AdversaryPoint* AdversaryResult::farthest() const {
  const AdversaryPoint* best = nullptr;
  for (const AdversaryPoint& point : points) {
    const bool same = point.distance <= kSameAnswers && point.agreement >= kSameShare;
    if (same && (!best || point.divergence > best->divergence)) best = &point;
  }
  return best;
}

AdversaryResult train_adversaries(const AdversarySubject& subject,
                                  const AdversaryRequest& request) {
  for (const double strength : request.strengths)
    require(std::isfinite(strength) && strength >= 0, ErrorKind::InvalidArgument,
            "adversary: lambda is at least 0, found ", strength);
  require(subject.train.size() > 0 && subject.rows.size() > 0, ErrorKind::InvalidArgument,
          "adversary: there are ", subject.train.size(), " rows to learn from and ",
          subject.rows.size(), " to measure on; expected at least one of each");
  const Subject examined = examine_subject(subject.model, subject.rows);
  TrainingOptions options = subject.training;
  if (request.epochs > 0) options.epochs = request.epochs;
  options.path = "auto";
  options.steps = options.patience = options.average_epochs = 0;
  options.seconds = options.ema = 0;

  AdversaryResult result;
  result.maps = examined.maps;
  result.rows = subject.rows.size();
  const auto measure = [&](const Model& model) {
    return subject.measure ? subject.measure(model) : Metrics();
  };
  result.base = measure(subject.model);
  int64_t training = 0;
  const auto train = [&](SecondNetwork& second) {
    second.initialise(Random(request.seed).split("adversary"));
    second.to(subject.model.device());
    TrainerHooks hooks;
    hooks.should_stop = request.should_stop;
    if (request.progress)
      hooks.progress = [&](int64_t rows, double loss) { request.progress(training, rows, loss); };
    Trainer(second, options, request.seed).train(subject.train, hooks);
    if (request.should_stop && request.should_stop()) throw Stopped();
    ++training;
  };
  for (const double strength : request.strengths) {
    const Looker looker(examined.classes);
    SecondNetwork second(subject, looker);
    second.oppose(strength);
    train(second);
    AdversaryPoint point = compare_networks(subject.model, second, subject.rows, examined);
    point.strength = strength;
    point.metrics = measure(second);
    result.points.push_back(std::move(point));
  }
  if (!request.uniform) return result;
  Looker looker(examined.classes);
  looker.level(examined.maps);
  SecondNetwork second(subject, looker);
  train(second);
  result.uniform = measure(second);
  return result;
}

}  // namespace fovea

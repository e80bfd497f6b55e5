// The task `glimpse`: which class a picture belongs to, found out by looking at small parts of it
// one after the other.
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/images/load.h"
#include "fovea/data/images/resize.h"
#include "fovea/data/media_input.h"
#include "fovea/metrics/classification.h"
#include "fovea/models/image_baselines.h"
#include "fovea/models/recurrent_glimpses.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/classes.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kPicturesTogether = 256;  // of a batch that is measured
constexpr const char* kGlimpseCoding = "pictures.json";

/// Pictures with a class, for networks that see them whole.
class PictureData : public DataKind {
 public:
  const GlimpseCoding& coding() const { return coding_; }
  PictureInput model_input() const {
    const PictureShape& shape = coding_.shape;
    return {int64_t(coding_.classes.size()),
            shape.channels,
            shape.height,
            shape.width,
            shape.grid_rows(),
            shape.grid_columns()};
  }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_glimpses(source, options_, coding_, glimpses(), seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_glimpse_data(folder, options_);
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset(kGlimpseCoding, coding_.to_json());
  }
  void restore(const RunFolder& folder) override {
    coding_ = GlimpseCoding::from_json(folder.read_asset(kGlimpseCoding),
                                       folder.asset(kGlimpseCoding).string());
  }

  /// A picture (data/media_input.h); it is resized to what the network sees.
  Example parse(const std::string& line) const override {
    const PictureShape& shape = coding_.shape;
    const Image image = image_of_input(line, options_.files.reading(shape.channels));
    return encoder().example(
        tensor_of(fit_image(image, shape.height, shape.width, options_.files.fit)));
  }
  Json input_schema() const override { return image_input_schema(); }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    return encoder().erase(example, axis, units);
  }

 protected:
  /// That the network takes.
  virtual int64_t glimpses() const { return 0; }

 private:
  PictureEncoder encoder() const { return {coding_.shape, glimpses()}; }

  GlimpseDataOptions options_;
  GlimpseCoding coding_;
};

/// The same, for a network that looks.
class GlimpsedPictureData : public PictureData {
 public:
  explicit GlimpsedPictureData(std::shared_ptr<const RecurrentGlimpsesOptions> model)
      : model_(std::move(model)) {}

 protected:
  int64_t glimpses() const override { return model_->glimpses; }

 private:
  std::shared_ptr<const RecurrentGlimpsesOptions> model_;
};

Metrics picture_metrics(const at::Tensor& scores, const at::Tensor& target) {
  const double right = accuracy(scores, target);
  return {{"loss", log_loss(scores, target)},
          {"accuracy", right, true},
          {"error_percent", 100 * (1 - right)}};
}

ClassesOutput::Classes classes_of(std::shared_ptr<const PictureData> data) {
  return [data]() -> const std::vector<std::string>& { return data->coding().classes; };
}

class PictureOutput : public ClassesOutput {
 public:
  using ClassesOutput::ClassesOutput;

 protected:
  Measured measure_scores(const Model& model, const Dataset& rows,
                          const RowProgress& progress) const override {
    const ClassScores scored =
        score_rows(model, rows, int64_t(classes().size()), kPicturesTogether, progress);
    return {picture_metrics(scored.scores, scored.target), scored};
  }
};

/// Which episodes were right, [B, M], and which glimpses had their middle in the box, [B, M, T].
struct JudgedEpisodes {
  at::Tensor rewards, inside;
};

JudgedEpisodes judge(const RecurrentGlimpses::Episodes& episodes, const Batch& batch) {
  const at::Tensor guesses = episodes.scores.select(2, -1).argmax(2);  // [B, M]
  JudgedEpisodes judged{guesses == batch.at("target").unsqueeze(1), {}};
  if (!batch.has("box")) return judged;
  const at::Tensor places = (episodes.draws.clamp(-1, 1) + 1) / 2;   // [B, M, T, 2]
  const at::Tensor box = batch.at("box").unsqueeze(1).unsqueeze(1);  // [B, 1, 1, 4]
  judged.inside = ((places >= box.narrow(3, 0, 2)) & (places <= box.narrow(3, 2, 2))).all(-1);
  return judged;
}

/// The share of the picture that the boxes [B, 4] take up.
at::Tensor box_area(const at::Tensor& box) {
  return (box.select(1, 2) - box.select(1, 0)) * (box.select(1, 3) - box.select(1, 1));
}

/// Rows of a batch to where they belong among all.
void put_rows(std::span<const int64_t> picked, const at::Tensor& from, at::Tensor to) {
  const at::Tensor rows = torch::tensor(c10::ArrayRef<int64_t>(picked.data(), picked.size()));
  to.index_copy_(0, rows, from.to(at::kCPU, to.scalar_type()));
}

/// The class, and "glimpses": [{"x": …, "y": …, "class": …, "probability": …}, …]: the places of
/// the first sample, and after each the likeliest class of all samples and the probability of the
/// answer.
class GlimpsesOutput : public PictureOutput {
 public:
  using PictureOutput::PictureOutput;

  Json answer(const Example& example, const Prediction& prediction) const override {
    Json json = PictureOutput::answer(example, prediction);
    if (!prediction.actions.defined()) return json;
    const at::Tensor places =
        ((prediction.actions[0] + 1) / 2).to(at::kCPU, at::kDouble).contiguous();  // [T, 2]
    const std::vector<Decoded>& outputs = prediction.outputs;  // the last one first
    json["glimpses"] = Json::array();
    for (int64_t step = 0; step < places.size(0); ++step) {
      const double* place = places.data_ptr<double>() + 2 * step;
      const Decoded& then = outputs.at(outputs.size() - 1 - size_t(step));
      json["glimpses"].push_back({{"x", place[0]},
                                  {"y", place[1]},
                                  {"class", classes().at(size_t(then.tokens.at(0)))},
                                  {"probability", std::exp(then.log_probability)}});
    }
    return json;
  }

  /// The probability of the answer becomes the value of each glimpse.
  Example describe_output(const Example& example, const Prediction& prediction) const override {
    Example described = example;
    const std::vector<Decoded>& outputs = prediction.outputs;
    for (Axis& axis : described.axes) {
      if (axis.name != "glimpses" || outputs.size() != axis.labels.size()) continue;
      axis.values.clear();
      for (auto then = outputs.rbegin(); then != outputs.rend(); ++then)
        axis.values.push_back(format_number(std::exp(then->log_probability), 3));
    }
    return described;
  }

 protected:
  /// Where objects are known also how many glimpses had their middle inside, and how many would by
  /// chance.
  Measured measure_scores(const Model& model, const Dataset& rows,
                          const RowProgress& progress) const override {
    const auto& eye = dynamic_cast<const RecurrentGlimpses&>(model);
    const at::Tensor scores = torch::zeros({rows.size(), int64_t(classes().size())});
    const at::Tensor target = torch::zeros({rows.size()}, torch::kLong);
    const at::Tensor reward = torch::zeros({rows.size()}), inside = torch::zeros({rows.size()});
    const at::Tensor area = torch::zeros({rows.size()});
    over_rows(
        model, rows, kPicturesTogether,
        [&](std::span<const int64_t> picked, const Batch& batch) {
          put_rows(picked, batch.at("target"), target);
          const RecurrentGlimpses::Episodes episodes = eye.play(batch);
          const JudgedEpisodes judged = judge(episodes, batch);
          put_rows(picked, episodes.scores.select(2, -1).mean(1), scores);
          put_rows(picked, judged.rewards.to(torch::kFloat).mean(1), reward);
          if (!judged.inside.defined()) return;
          put_rows(picked, judged.inside.to(torch::kFloat).mean({1, 2}), inside);
          put_rows(picked, box_area(batch.at("box")), area);
        },
        progress);
    Metrics metrics = picture_metrics(scores, target);
    metrics.push_back({"reward", reward.mean().item<double>(), true});
    if (rows.has_truth()) {
      metrics.push_back({"centres_inside", inside.mean().item<double>(), true});
      metrics.push_back({"inside_by_chance", area.mean().item<double>(), true});
    }
    return {metrics, {scores, target}};
  }
  /// The last glimpse says the same probability as the answer.
  bool can_calibrate() const override { return false; }
};

}  // namespace

static std::unique_ptr<Task> make_glimpse_task() {
  const auto ram = std::make_shared<RecurrentGlimpsesOptions>();
  const auto baseline = std::make_shared<ImageBaselineOptions>();
  const auto glimpsed = std::make_shared<GlimpsedPictureData>(ram);
  const auto whole = std::make_shared<PictureData>();
  TrainingOptions training;
  training.epochs = 20;
  training.batch_size = 128;
  training.micro_batches = 2;
  training.learning_rate = 1e-3;
  training.schedule = "linear";
  training.monitor = {"accuracy"};
  training.usual_steps = 4000;
  const auto titles = [] {
    return ExplainTitles{"Where the network looked",
                         {{"glimpses", "path, with the probability of the answer so far"},
                          {"looks", "what each glimpse saw"}}};
  };
  std::vector<ModelSpec> specs;
  specs.push_back(model_spec(
      {"ram"}, ram, training,
      [glimpsed](const RecurrentGlimpsesOptions& own) {
        return std::make_unique<RecurrentGlimpses>(own, glimpsed->model_input());
      },
      titles));
  specs.push_back(model_spec(
      {"plain", "cnn"}, baseline, training,
      [whole](const ImageBaselineOptions& own) {
        return std::make_unique<ImageBaseline>(own, whole->model_input());
      },
      titles));
  specs.back().data = whole;
  specs.back().output = std::make_shared<PictureOutput>(classes_of(whole));
  specs.back().has_attention = [] { return false; };
  return std::make_unique<Task>("glimpse", glimpsed,
                                std::make_shared<GlimpsesOutput>(classes_of(glimpsed)),
                                std::move(specs));
}

TaskRow glimpse_task() {
  return {
      "glimpse", "which class a picture belongs to, from a few small looks at it",
      "glimpse -> place in the picture",
      "idx files (MNIST and its relatives), perhaps with .gz; a folder of PNG or JPEG pictures by "
      "class; a CSV or TSV with columns image and label",
      make_glimpse_task};
}

}  // namespace fovea

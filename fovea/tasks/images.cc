// The task `images`: which class a picture belongs to, by patches that look at each other (ViT), by
// small glimpses one after the other (RAM), or all at once.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/images/load.h"
#include "fovea/data/images/resize.h"
#include "fovea/data/media_input.h"
#include "fovea/metrics/classification.h"
#include "fovea/models/image_baselines.h"
#include "fovea/models/recurrent_glimpses.h"
#include "fovea/models/vision_transformer.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/classes.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/pretrained_vision.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kPicturesTogether = 256;  // of a batch that is measured
constexpr int64_t kLongestShown = 512;      // pixels of a side, in reports
constexpr int64_t kLinearSide = 8;          // pixels of a side that a linear baseline sees

/// Pictures with a class, for networks that see them whole.
class PictureData : public CodedData<ImageDataOptions, ImageCoding> {
 public:
  PictureData() : CodedData("pictures.json") {}
  PictureInput model_input() const {
    const PictureShape& shape = coding_.shape;
    const PictureEncoder own = encoder_for(shape);
    const bool patched = own.patch_rows > 0;
    return {int64_t(coding_.classes.size()),
            shape.channels,
            shape.height,
            shape.width,
            patched ? own.patch_rows : shape.grid_rows(),
            patched ? own.patch_columns : shape.grid_columns()};
  }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    const auto encoder = [this](const PictureShape& shape) { return encoder_for(shape); };
    return load_images(source, options_, coding_, encoder, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_image_data(folder, options_);
  }

  /// A picture (data/media_input.h); it is resized to what the network sees.
  Example parse(const std::string& line) const override {
    const PictureShape& shape = coding_.shape;
    const Image image = image_of_input(line, options_.files.reading(shape.channels));
    const Image seen =
        fit_image(image, shape.height, shape.width, options_.files.fit, options_.files.resample);
    const Image shown = shown_to_people(image);
    Example example = encoder_for(shape).example(tensor_of(seen), &shown);
    const int64_t left_out = pixels_left_out(image, shape.height, shape.width, options_.files.fit);
    example.add_cut("pixels", image.height * image.width - left_out, left_out);
    return example;
  }
  Json input_schema() const override {
    const PictureShape& shape = coding_.shape;
    Json schema = image_input_schema();
    for (auto& [name, picture] : schema["properties"].items())
      picture["picture"] = {
          {"channels", shape.channels}, {"height", shape.height}, {"width", shape.width}};
    return schema;
  }
  /// Pictures of at most 8 x 8 pixels: what a linear baseline can learn from a few hundred.
  LinearInputs linear_inputs(const Dataset& rows) const override {
    return shrink_pictures(rows, "image", kLinearSide);
  }
  Batch collate(std::span<const Example> examples) const override { return stack(examples); }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    return encoder_for(coding_.shape).erase(example, axis, units);
  }

 protected:
  /// Of the network.
  virtual PictureEncoder encoder_for(const PictureShape& shape) const { return {shape}; }

 private:
  /// What the network sees of it, in the picture's own sharpness up to kLongestShown.
  Image shown_to_people(const Image& image) const {
    const PictureShape& shape = coding_.shape;
    const double longest = double(std::max(shape.height, shape.width));
    const double own = double(std::min(std::max(image.height, image.width), kLongestShown));
    const double scale = std::max(1.0, own / longest);
    return fit_image(image, std::llround(double(shape.height) * scale),
                     std::llround(double(shape.width) * scale), options_.files.fit,
                     options_.files.resample);
  }
};

/// The same, for a network that takes glimpses.
class GlimpsedPictureData : public PictureData {
 public:
  explicit GlimpsedPictureData(std::shared_ptr<const RecurrentGlimpsesOptions> model)
      : model_(std::move(model)) {}

 protected:
  PictureEncoder encoder_for(const PictureShape& shape) const override {
    return {shape, model_->glimpses};
  }

 private:
  std::shared_ptr<const RecurrentGlimpsesOptions> model_;
};

/// The same, for a network that sees patches.
class PatchedPictureData : public PictureData {
 public:
  explicit PatchedPictureData(std::shared_ptr<const VisionTransformerOptions> model)
      : model_(std::move(model)) {}

  /// Pictures as a network that was trained before wants them; what is asked for otherwise stays.
  void take_pictures(const PretrainedVision& start) {
    const ImageFileOptions usual;
    ImageFileOptions& files = options_.files;
    if (files.fit == usual.fit) files.fit = start.fit;
    if (files.resample == usual.resample) files.resample = start.resample;
    if (files.colours == usual.colours)
      files.colours = start.coding.shape.channels == 1 ? "grey" : "colour";
    if (files.side == usual.side) files.side = start.coding.shape.height;
  }

  /// The same with its classes: a folder that opens as a run. Another data.image_size may be asked
  /// for.
  void open(const PretrainedVision& start) {
    coding_ = start.coding;
    if (const int64_t asked = options_.files.side; asked > 0)
      coding_.shape.height = coding_.shape.width = asked;
    coding_.pictures = coding_.shape;
    take_pictures(start);
  }

 protected:
  PictureEncoder encoder_for(const PictureShape& shape) const override {
    const PatchGrid grid = patch_grid(*model_, shape.height, shape.width);
    return {shape, 0, grid.rows, grid.columns};
  }

 private:
  std::shared_ptr<const VisionTransformerOptions> model_;
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

namespace {

ExplainTitles titles_of_pictures() {
  return {"Where the network looked",
          {{"glimpses", "path, with the probability of the answer so far"},
           {"looks", "what each glimpse saw"},
           {VisionTransformer::kMap, "what the class token and each patch look at"}}};
}

/// As the tutorials and the published figures have it.
TrainingOptions picture_training() {
  TrainingOptions training;
  training.epochs = 20;
  training.batch_size = 128;
  training.micro_batches = 2;
  training.learning_rate = 1e-3;
  training.schedule = "linear";
  training.monitor = {"accuracy"};
  training.usual_steps = 4000;
  return training;
}

ModelSpec vision_transformer_spec() {
  const auto options = std::make_shared<VisionTransformerOptions>();
  const auto data = std::make_shared<PatchedPictureData>(options);
  TrainingOptions training = picture_training();
  training.optimiser = "adamw";
  training.weight_decay = 0.05;
  training.clip_norm = 1;
  training.warmup_steps = 100;
  training.usual_steps = 2500;
  ModelSpec spec = model_spec(
      {"vit"}, options, training,
      [data](const VisionTransformerOptions& own) {
        return std::make_unique<VisionTransformer>(own, data->model_input());
      },
      titles_of_pictures);
  spec.data = data;
  spec.output = std::make_shared<PictureOutput>(classes_of(data));
  spec.fine_tuning = [training] {
    TrainingOptions slow = training;
    slow.learning_rate = 1e-4;
    slow.usual_steps = 1500;
    return slow;
  };
  const auto start = std::make_shared<PretrainedVision>();
  const auto opened = std::make_shared<bool>(false);
  spec.load_pretrained = [=](const std::filesystem::path& run_or_folder) {
    *start = read_pretrained_vision(run_or_folder);
    take_sizes(*options, *start);
    data->take_pictures(*start);
  };
  spec.open_pretrained = [=](const std::filesystem::path& folder) {
    *start = read_pretrained_vision(folder);
    *opened = true;
    take_sizes(*options, *start);
    data->open(*start);
    return start->notes;
  };
  spec.copy_pretrained = of_network<VisionTransformer>([=](VisionTransformer& network) {
    if (!start->weights.empty()) take_weights(network, *start, /*with_head=*/*opened);
  });
  return spec;
}

ModelSpec baseline_spec() {
  const auto whole = std::make_shared<PictureData>();
  ModelSpec spec = model_spec(
      {"plain", "cnn"}, std::make_shared<ImageBaselineOptions>(), picture_training(),
      [whole](const ImageBaselineOptions& own) {
        return std::make_unique<ImageBaseline>(own, whole->model_input());
      },
      titles_of_pictures);
  spec.data = whole;
  spec.output = std::make_shared<PictureOutput>(classes_of(whole));
  spec.has_attention = [] { return false; };
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_images_task() {
  const auto ram = std::make_shared<RecurrentGlimpsesOptions>();
  const auto glimpsed = std::make_shared<GlimpsedPictureData>(ram);
  std::vector<ModelSpec> specs;
  specs.push_back(vision_transformer_spec());
  specs.push_back(model_spec(
      {"ram"}, ram, picture_training(),
      [glimpsed](const RecurrentGlimpsesOptions& own) {
        return std::make_unique<RecurrentGlimpses>(own, glimpsed->model_input());
      },
      titles_of_pictures));
  specs.push_back(baseline_spec());
  return std::make_unique<Task>(
      "images", glimpsed, std::make_shared<GlimpsesOutput>(classes_of(glimpsed)), std::move(specs));
}

TaskRow images_task() {
  TaskRow row{
      "images", "which class a picture belongs to", "class token -> patches, or glimpse -> place",
      "idx files (MNIST and its relatives), perhaps with .gz; a folder of PNG or JPEG pictures by "
      "class; a CSV or TSV with columns image and label",
      make_images_task};
  row.former_name = "glimpse";
  return row;
}

}  // namespace fovea

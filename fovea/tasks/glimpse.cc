#include "fovea/tasks/glimpse.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/images/image_input.h"
#include "fovea/data/images/resize.h"
#include "fovea/metrics/classification.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kPicturesTogether = 256;  // of a batch that is measured

/// Which episodes were right, [B, M], and which glimpses had their middle in the box, [B, M, T].
struct Episode {
  at::Tensor rewards, inside;
};

Episode judge(const RecurrentGlimpses::Episodes& episodes, const Batch& batch) {
  const at::Tensor guesses = episodes.scores.select(2, -1).argmax(2);  // [B, M]
  Episode episode{guesses == batch.at("target").unsqueeze(1), {}};
  if (!batch.has("box")) return episode;
  const at::Tensor places = (episodes.draws.clamp(-1, 1) + 1) / 2;   // [B, M, T, 2]
  const at::Tensor box = batch.at("box").unsqueeze(1).unsqueeze(1);  // [B, 1, 1, 4]
  episode.inside = ((places >= box.narrow(3, 0, 2)) & (places <= box.narrow(3, 2, 2))).all(-1);
  return episode;
}

/// The share of the picture that the boxes [B, 4] take up.
at::Tensor area_of(const at::Tensor& box) {
  return (box.select(1, 2) - box.select(1, 0)) * (box.select(1, 3) - box.select(1, 1));
}

/// Rows of a batch to where they belong among all.
void put(std::span<const int64_t> picked, const at::Tensor& from, at::Tensor to) {
  const at::Tensor rows = torch::tensor(c10::ArrayRef<int64_t>(picked.data(), picked.size()));
  to.index_copy_(0, rows, from.to(at::kCPU, to.scalar_type()));
}

}  // namespace

void GlimpseTask::describe(OptionList& list) {
  list.group("data", data_);
  if (looks()) {
    list.group("model", glimpses_);
  } else {
    baseline_.name = model_name();
    list.group("model", baseline_);
  }
  list.find("model.name").choices(models());
}

TrainingOptions GlimpseTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 20;
  options.batch_size = 128;
  options.micro_batches = 2;
  options.learning_rate = 1e-3;
  options.schedule = "linear";
  options.monitor = {"accuracy"};
  return options;
}

Splits GlimpseTask::load(const DataSource& source, uint64_t seed) {
  return load_glimpses(source, data_, coding_, glimpses(), seed);
}

void GlimpseTask::write_data(const std::filesystem::path& folder) const {
  write_glimpse_data(folder, data_);
}

std::unique_ptr<Model> GlimpseTask::make_model() const {
  const PictureShape& shape = coding_.shape;
  const PictureInput input{int64_t(coding_.classes.size()),
                           shape.channels,
                           shape.height,
                           shape.width,
                           shape.grid_rows(),
                           shape.grid_columns()};
  if (looks()) return std::make_unique<RecurrentGlimpses>(glimpses_, input);
  return std::make_unique<ImageBaseline>(baseline_, input);
}

void GlimpseTask::save(const RunFolder& folder) const {
  folder.write_asset("pictures.json", coding_.to_json());
}

void GlimpseTask::restore(const RunFolder& folder) {
  coding_ = GlimpseCoding::from_json(folder.read_asset("pictures.json"),
                                     folder.asset("pictures.json").string());
}

Metrics GlimpseTask::measure(const Model& model, const Dataset& rows) const {
  const auto classes = int64_t(coding_.classes.size());
  const bool knows_objects = looks() && dynamic_cast<const GlimpseDataset&>(rows).knows_objects();
  const at::Tensor scores = torch::zeros({rows.size(), classes});
  const at::Tensor target = torch::zeros({rows.size()}, torch::kLong);
  const at::Tensor reward = torch::zeros({rows.size()}), inside = torch::zeros({rows.size()});
  const at::Tensor area = torch::zeros({rows.size()});
  over_rows(
      model, rows, kPicturesTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        put(picked, batch.at("target"), target);
        const auto* eye = dynamic_cast<const RecurrentGlimpses*>(&model);
        if (!eye) return put(picked, model.predict(batch).scores, scores);
        const RecurrentGlimpses::Episodes episodes = eye->play(batch);
        const Episode episode = judge(episodes, batch);
        put(picked, episodes.scores.select(2, -1).mean(1), scores);
        put(picked, episode.rewards.to(torch::kFloat).mean(1), reward);
        if (!knows_objects) return;
        put(picked, episode.inside.to(torch::kFloat).mean({1, 2}), inside);
        put(picked, area_of(batch.at("box")), area);
      },
      progress);
  const double right = accuracy(scores, target);
  Metrics metrics{{"loss", log_loss(scores, target)},
                  {"accuracy", right, true},
                  {"error_percent", 100 * (1 - right)}};
  if (looks()) metrics.push_back({"reward", reward.mean().item<double>(), true});
  if (knows_objects) {
    metrics.push_back({"centres_inside", inside.mean().item<double>(), true});
    metrics.push_back({"inside_by_chance", area.mean().item<double>(), true});
  }
  return metrics;
}

Example GlimpseTask::parse(const std::string& line) const {
  ReadImageOptions reading;
  reading.channels = coding_.shape.channels;
  reading.largest_image = data_.largest_image;
  reading.background = 0;
  const Image image =
      resize(image_of_input(line, reading), coding_.shape.height, coding_.shape.width);
  return encoder().example(tensor_of(image));
}

Json GlimpseTask::input_schema() const {
  return image_input_schema();
}

Json GlimpseTask::answer(const Example& example, const Prediction& prediction) const {
  const auto best = size_t(prediction.scores.argmax().item<int64_t>());
  Json scores = Json::object();
  for (size_t c = 0; c < coding_.classes.size(); ++c)
    scores[coding_.classes[c]] = prediction.scores[int64_t(c)].item<double>();
  Json json{{"class", coding_.classes[best]},
            {"probability", scores[coding_.classes[best]]},
            {"scores", scores}};
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
                                {"class", coding_.classes.at(size_t(then.tokens.at(0)))},
                                {"probability", std::exp(then.log_probability)}});
  }
  return json;
}

std::string GlimpseTask::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["class"].get<std::string>(), "\t", format_number(json["probability"], 6));
}

Example GlimpseTask::describe_output(const Example& example, const Prediction& prediction) const {
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

Explanation GlimpseTask::overview(const Model& model, const Dataset& rows) const {
  require(looks(), ErrorKind::Unsupported, "explain: model.name=", model_name(),
          " sees a picture whole and has no attention to show; train ram");
  return Task::overview(model, rows);
}

ExplainOptions GlimpseTask::explain_options() const {
  ExplainOptions options;
  options.task = "glimpse";
  options.title = "Where the network looked";
  options.map_titles = {{"glimpses", "path, with the probability of the answer so far"},
                        {"looks", "what each glimpse saw"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    const Json json = answer(example, prediction);
    return concat(json["class"].get<std::string>(), " (", format_number(json["probability"], 3),
                  ")");
  };
  return options;
}

Example GlimpseTask::erase(const Example& example, const std::string& axis,
                           std::span<const int64_t> units) const {
  return encoder().erase(example, axis, units);
}

std::vector<Json> GlimpseTask::example_inputs(const Dataset& rows, int64_t count) const {
  std::vector<Json> inputs;
  for (int64_t row = 0; can_read_images() && row < std::min(count, rows.size()); ++row)
    inputs.push_back(image_input(encode_png(image_of(rows.example(row).tensors.at("image")))));
  return inputs;
}

}  // namespace fovea

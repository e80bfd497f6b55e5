#include "fovea/serving/model_host.h"

#include <algorithm>
#include <set>

#include "fovea/serving/http_error.h"

namespace fovea::serving {

const char* name_of(ModelStatus status) {
  switch (status) {
    case ModelStatus::Loading:
      return "loading";
    case ModelStatus::Ready:
      return "ready";
    case ModelStatus::Failed:
      return "failed";
  }
  return "failed";
}

HostedModel::HostedModel(ModelSource source, BatcherOptions options)
    : source_(std::move(source)), options_(std::move(options)) {}

void HostedModel::load() {
  try {
    model_ = source_.load();
    batcher_ = std::make_unique<Batcher>(*model_, options_);
    status_ = ModelStatus::Ready;
    return;
  } catch (const std::exception& error) {
    const std::string what = error.what();
    error_ = what.substr(0, what.find('\n'));  // LibTorch appends a stack trace
  } catch (...) {
    error_ = "an unknown exception";
  }
  status_ = ModelStatus::Failed;
}

Json HostedModel::to_json() const {
  const ModelStatus now = status_;
  const ModelCard card = now == ModelStatus::Ready ? model_->card() : ModelCard{source_.task, ""};
  Json json{{"name", source_.name},
            {"task", card.task},
            {"title", card.title},
            {"status", serving::name_of(now)},
            {"input_schema", card.input_schema},
            {"examples", card.examples},
            {"maps", card.maps},
            {"parameters", card.parameters}};
  if (!card.embeddings.empty()) json["embeddings"] = card.embeddings;
  if (!card.metric.is_null()) json["metric"] = card.metric;
  if (!card.note.empty()) json["note"] = card.note;
  if (now == ModelStatus::Failed) json["error"] = error_;
  return json;
}

ModelHost::ModelHost(std::vector<ModelSource> sources, const BatcherOptions& options,
                     Metrics& metrics, bool may_be_empty) {
  require(!sources.empty() || may_be_empty, ErrorKind::InvalidArgument,
          "there is no model to serve");
  std::set<std::string> names;
  for (ModelSource& source : sources) {
    require(names.insert(source.name).second, ErrorKind::InvalidArgument, "two models are called '",
            source.name, "'; give them names: --model NAME=RUN");
    BatcherOptions own = options;
    own.batch_done = [&metrics, name = source.name](size_t inputs) {
      metrics.batch_done(name, inputs);
    };
    models_.push_back(std::make_unique<HostedModel>(std::move(source), std::move(own)));
  }
  loader_ = std::thread([this] {
    for (const auto& model : models_)
      if (!ending_) model->load();
  });
}

ModelHost::~ModelHost() {
  ending_ = true;
  loader_.join();
}

bool ModelHost::all_are(ModelStatus status) const {
  return std::all_of(models_.begin(), models_.end(),
                     [&](const auto& model) { return model->status() == status; });
}

bool ModelHost::any_is(ModelStatus status) const {
  return std::any_of(models_.begin(), models_.end(),
                     [&](const auto& model) { return model->status() == status; });
}

HostedModel& ModelHost::find(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& model : models_) names.push_back(model->name());
  if (name.empty() && models_.size() > 1)
    refuse_field("model", "is missing; this server has several: ", join(names));
  if (models_.empty()) throw HttpError(404, "not_found", "this server has no models", "model");
  HostedModel* found = name.empty() ? models_[0].get() : nullptr;
  for (const auto& model : models_)
    if (model->name() == name) found = model.get();
  if (!found)
    throw HttpError(
        404, "not_found",
        concat("there is no model '", shorten_bytes(name, 64), "'",
               suggestion(shorten_bytes(name, 64), names), "; there are: ", join(names)),
        "model");
  const ModelStatus status = found->status();
  if (status == ModelStatus::Loading)
    throw HttpError(503, "loading", concat("the model '", found->name(), "' is still loading"));
  if (status == ModelStatus::Failed)
    throw HttpError(
        503, "failed",
        concat("the model '", found->name(), "' could not be loaded: ", found->error()));
  return *found;
}

}  // namespace fovea::serving

// The models of a server: loaded one after the other in the background, each with a worker of its
// own from then on.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fovea/serving/batcher.h"
#include "fovea/serving/metrics.h"

namespace fovea::serving {

enum class ModelStatus { Loading, Ready, Failed };
const char* name_of(ModelStatus status);

/// One model. What stands below "once it is ready" may be called only then.
class HostedModel {
 public:
  HostedModel(ModelSource source, BatcherOptions options);

  const std::string& name() const { return source_.name; }
  ModelStatus status() const { return status_; }
  /// Why it failed.
  const std::string& error() const { return error_; }
  int64_t waiting() const { return status_ == ModelStatus::Ready ? batcher_->waiting() : 0; }
  Json to_json() const;  // as in GET /v1/models

  /// Once it is ready.
  const ServedModel& model() const { return *model_; }
  Batcher& batcher() { return *batcher_; }

  void load();

 private:
  ModelSource source_;
  BatcherOptions options_;
  std::unique_ptr<ServedModel> model_;
  std::unique_ptr<Batcher> batcher_;  // ends before the model
  std::string error_;
  std::atomic<ModelStatus> status_{ModelStatus::Loading};  // set last
};

class ModelHost {
 public:
  /// Begins to load. InvalidArgument when two have one name, or without models unless that is
  /// meant.
  ModelHost(std::vector<ModelSource> sources, const BatcherOptions& options, Metrics& metrics,
            bool may_be_empty = false);
  /// Waits for the model that is being loaded.
  ~ModelHost();
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;

  const std::vector<std::unique_ptr<HostedModel>>& models() const { return models_; }
  bool all_are(ModelStatus status) const;
  bool any_is(ModelStatus status) const;

  /// The model of that name, ready; "" is the only one. HttpError 400, 404, 503.
  HostedModel& find(const std::string& name);

 private:
  std::vector<std::unique_ptr<HostedModel>> models_;
  std::atomic<bool> ending_{false};
  std::thread loader_;
};

}  // namespace fovea::serving

// What the server needs of a model, and nothing of what it is: tests serve a model of four lines.
// pipeline_model.h makes one of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/explanation.h"

namespace fovea::serving {

/// What `GET /v1/models` says of a model.
struct ModelCard {
  std::string task, title;
  Json input_schema = Json::object();
  Json examples = Json::array();  // inputs to try
  Json maps = Json::array();      // {"name", "title"} of each
  int64_t parameters = 0;
};

struct ExplainWish {
  HeadChoice heads = Heads::All;
  bool faithfulness = false;
};

class ServedModel {
 public:
  virtual ~ServedModel() = default;

  /// These three are called from any thread, many at once.
  virtual const ModelCard& card() const = 0;
  virtual Example parse(const std::string& line) const = 0;
  virtual Json answer(const Prediction& prediction) const = 0;

  /// These are called from the model's one worker thread only.
  virtual void enter_worker() {}  // once, before all else
  virtual std::vector<Prediction> predict(std::span<const Example> examples) = 0;
  virtual Explanation explain(const Example& example, const ExplainWish& wish) = 0;
};

/// A model that is yet to be loaded.
struct ModelSource {
  std::string name;
  std::string task;
  std::function<std::unique_ptr<ServedModel>()> load;
};

}  // namespace fovea::serving

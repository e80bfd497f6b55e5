// One network of a task: its options, the training that suits it, how it is made for what the data
// has. A task is a kind of data, a kind of output and a list of these.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fovea/explain/record/explanation.h"
#include "fovea/models/model.h"
#include "fovea/tasks/data_kind.h"
#include "fovea/tasks/outputs/output.h"
#include "fovea/training/options.h"

namespace fovea {

class Task;

/// Of the pictures of one prediction.
struct ExplainTitles {
  std::string title;
  std::map<std::string, std::string> maps;  // by the map's name
  std::vector<std::string> ensembles = {};  // maps whose heads are members of an ensemble
};

struct ModelSpec {
  std::vector<std::string> names;  // values of model.name; several share one list of options
  std::function<void(OptionList&)> describe;  // the group model.
  TrainingOptions training;                   // what suits the task's synthetic data
  std::function<std::unique_ptr<Model>()>
      make;  // for encodings that are fitted, with undecided weights
  std::function<ExplainTitles()> titles;

  // What is left empty means:
  /// A name that stands for a choice: the models to choose from, the preferred one first.
  std::vector<std::string> candidates = {};           // it is a model of its own
  std::function<bool()> has_attention = {};           // always
  std::shared_ptr<DataKind> data = {};                // the task's
  std::shared_ptr<OutputKind> output = {};            // the task's
  std::function<TrainingOptions()> fine_tuning = {};  // after --from: `training`
  /// --from: sizes, tokeniser and encoder come from a run or a Hugging Face folder, before load().
  std::function<void(const std::filesystem::path& run_or_folder)> load_pretrained =
      {};  // Unsupported
  /// Copies the weights that were read before into a model with fresh ones.
  std::function<void(Model&)> copy_pretrained = {};  // nothing
  /// Opens a Hugging Face folder as a run; returns what was left out, one sentence each.
  std::function<std::vector<std::string>(const std::filesystem::path&)> open_pretrained = {};
  /// The picture of the whole model over these rows.
  std::function<Explanation(const Task&, const Model&, const Dataset& rows)> overview =
      {};  // of the first row
  /// Keeps only the inputs that attention looks at most, for `fovea prune`; returns their names.
  std::function<std::vector<std::string>(const Model&, const Dataset& rows, int64_t count)>
      keep_most_attended = {};  // Unsupported
};

/// `options` has describe(), as model.name a field `name` and, where some names have no attention,
/// has_attention(); `make` is given the options.
template <class Options, class Make>
ModelSpec model_spec(std::vector<std::string> names, std::shared_ptr<Options> options,
                     TrainingOptions training, Make make, std::function<ExplainTitles()> titles) {
  ModelSpec spec;
  spec.names = std::move(names);
  spec.describe = [options](OptionList& list) { list.group("model", *options); };
  spec.training = std::move(training);
  spec.make = [options, make]() -> std::unique_ptr<Model> { return make(*options); };
  spec.titles = std::move(titles);
  if constexpr (requires { options->has_attention(); })
    spec.has_attention = [options] { return options->has_attention(); };
  return spec;
}

}  // namespace fovea

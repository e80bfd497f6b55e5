// One network of a task: its options, the training that suits it, how it is made for what the data
// has. A task is a kind of data, a kind of output and a list of these.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "fovea/base/progress.h"
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

/// An option that `fovea tune` varies: a number between two, or one of some texts.
struct Tunable {
  std::string key;  // "model.dropout"
  double low = 0, high = 0;
  enum class Scale { Linear, Log } scale = Scale::Linear;
  std::vector<std::string> values = {};  // instead of numbers
};

struct ModelSpec {
  std::vector<std::string> names;  // values of model.name; several share one list of options
  std::function<void(OptionList&)> describe;  // the group model.
  TrainingOptions training;                   // what suits data of any size
  std::function<std::unique_ptr<Model>()>
      make;  // for encodings that are fitted, with undecided weights
  std::function<ExplainTitles()> titles;

  /// Named settings for `--config NAME`, as a config file would hold them. "tutorial": what the
  /// tutorials use, a fixed number of epochs on the task's synthetic data.
  std::map<std::string, Json> configs = {};

  // What is left empty means:
  /// A name that stands for a choice: the models to choose from, the preferred one first.
  std::vector<std::string> candidates = {};  // it is a model of its own
  /// A step for these data, in steps of usual data. In a choice, what costs more is trained for
  /// fewer steps, or left out.
  std::function<double()> cost = {};                  // 1
  std::vector<Tunable> tunables = {};                 // what every model has (tune.h)
  std::function<bool()> has_attention = {};           // always
  std::shared_ptr<DataKind> data = {};                // the task's
  std::shared_ptr<OutputKind> output = {};            // the task's
  std::function<TrainingOptions()> fine_tuning = {};  // after --from, as `tutorial`: `training`
  /// --from: sizes, tokeniser and encoder come from a run or a Hugging Face folder, before load().
  std::function<void(const std::filesystem::path& run_or_folder)> load_pretrained =
      {};  // Unsupported
  /// Copies the weights that were read before into a model with fresh ones.
  std::function<void(Model&)> copy_pretrained = {};  // nothing
  /// Writes what a run holds besides model.safetensors, once the weights are decided.
  std::function<void(const Model&, const RunFolder&)> save_weights = {};  // nothing
  /// Finds the weights by these rows without steps; false where the options ask for what only steps
  /// can do. Not called where epochs, steps or a time are given.
  std::function<bool(Model&, const Dataset& train, const CountProgress&)> fit = {};  // steps alone
  /// Whether the rows that were held out are worth training on: then, once the model is judged by
  /// them, the run's weights are learned again from all rows (tasks/refit.h). `fitted`: without
  /// steps, so that it costs little.
  std::function<bool(bool fitted)> refits = {};  // never
  /// Opens a Hugging Face folder as a run; returns what was left out, one sentence each.
  std::function<std::vector<std::string>(const std::filesystem::path&)> open_pretrained = {};
  /// Writes a run's network, or only its low-rank adapters, as Hugging Face's libraries read it;
  /// returns what was left out, one sentence each.
  using Writer = std::function<std::vector<std::string>(const std::filesystem::path& run,
                                                        const std::filesystem::path& folder)>;
  Writer write_hugging_face = {};  // as a BERT encoder
  Writer write_adapter = {};       // InvalidArgument
  /// The picture of the whole model over these rows.
  std::function<Explanation(const Task&, const Model&, const Dataset& rows)> overview =
      {};  // of the first row
  /// Keeps only the inputs that attention looks at most, for `fovea prune`; returns their names.
  std::function<std::vector<std::string>(const Model&, const Dataset& rows, int64_t count)>
      keep_most_attended = {};  // Unsupported
};

/// What networks that read or write sequences share in their training; the rest is each task's own.
TrainingOptions sequence_training();

/// The settings of a tutorial as options: exactly these, whatever the data.
Json tutorial_config(const TrainingOptions& tutorial);
/// The settings of a tutorial for data of any size: its number of epochs and its size of a batch
/// become what suits the rows (training/plan.h), with early stopping, weight decay and a rate that
/// falls. A batch of 1 row, or of thousands, is meant: then only the epochs are open.
TrainingOptions fit_to_rows(TrainingOptions tutorial);

/// `tutorial` is the training that suits the task's synthetic data, and says how many steps and
/// epochs suit others. `options` has describe(), as model.name a field `name` and, where some names
/// have no attention, has_attention(); `make` is given the options.
template <class Options, class Make>
ModelSpec model_spec(std::vector<std::string> names, std::shared_ptr<Options> options,
                     const TrainingOptions& tutorial, Make make,
                     std::function<ExplainTitles()> titles) {
  ModelSpec spec;
  spec.names = std::move(names);
  spec.describe = [options](OptionList& list) { list.group("model", *options); };
  spec.training = fit_to_rows(tutorial);
  spec.configs["tutorial"] = tutorial_config(tutorial);
  spec.make = [options, make]() -> std::unique_ptr<Model> { return make(*options); };
  spec.titles = std::move(titles);
  if constexpr (requires { options->has_attention(); })
    spec.has_attention = [options] { return options->has_attention(); };
  return spec;
}

/// A function of the network that a ModelSpec makes, for its fields that are given a Model.
template <class Network, class Function>
auto of_network(Function function) {
  return [function](auto& model, const auto&... more) {
    constexpr bool is_const = std::is_const_v<std::remove_reference_t<decltype(model)>>;
    using Own = std::conditional_t<is_const, const Network, Network>;
    return function(dynamic_cast<Own&>(model), more...);
  };
}

}  // namespace fovea

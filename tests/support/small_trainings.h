// Every task of the registry in a training of a second or less. A new task adds one row, and is
// then held to the contract of predictors, served and fed with damaged files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "fovea/base/text.h"
#include "tests/support/train_run.h"

namespace fovea::testing {

/// A model of a task, as small as it can be and still have all its parts.
struct SmallTraining {
  std::string task;
  std::vector<std::string> assignments;
  std::string axis;  // that can lose units
  bool needs_icu = false, needs_sentencepiece = false;

  /// "documents", "documents_han".
  std::string name() const {
    const std::string& first = assignments[0];
    if (first.starts_with("data.target_kind=")) return concat(task, "_", first.substr(17));
    if (first.starts_with("data.kind=")) {
      std::string kind = first.substr(10);
      std::replace(kind.begin(), kind.end(), '-', '_');
      return concat(task, "_", kind);
    }
    return first.starts_with("model.name=") ? concat(task, "_", first.substr(11)) : task;
  }
  /// Whether this build has what the training needs.
  bool can_run() const {
#ifndef FOVEA_WITH_ICU
    if (needs_icu) return false;
#endif
#ifndef FOVEA_WITH_SENTENCEPIECE
    if (needs_sentencepiece) return false;
#endif
    return true;
  }
};

/// These options for 60 rows of built-in data and one epoch.
inline Assignments on_60_rows(Assignments options) {
  for (const char* few :
       {"data.rows=60", "data.validation_rows=8", "data.test_rows=8", "training.epochs=1"})
    options.push_back(few);
  return options;
}

inline const SmallTraining kSmallTrainings[] = {
    {"features", {"data.rows=400", "training.epochs=1", "model.name=tutorial"}, "columns"},
    {"features",
     {"model.name=attention", "model.hidden=8", "data.rows=400", "training.epochs=1"},
     "columns"},
    {"features",
     {"model.name=transformer", "model.heads=2", "data.rows=400", "training.epochs=1"},
     "columns"},
    {"context", {"training.epochs=1"}, "positions"},
    {"dates", on_60_rows({"model.hidden=8", "model.embedding=8"}), "source", true},
    {"dates", on_60_rows({"model.name=t5", "model.hidden=8", "model.heads=2", "model.layers=1"}),
     "source", true},
    {"translate", on_60_rows({"model.hidden=8", "model.embedding=8"}), "source", true, true},
    {"forecast", {"training.epochs=1"}, "source"},
    {"forecast", {"model.name=seq2seq", "training.epochs=1", "model.hidden=8"}, "source"},
    {"forecast",
     {"model.name=patches", "training.epochs=1", "model.hidden=8", "model.heads=2"},
     "source"},
    {"documents", on_60_rows({}), "words", true},
    {"documents", on_60_rows({"model.name=bert", "model.hidden=8", "model.heads=2"}), "tokens",
     true},
    {"documents", on_60_rows({"model.name=han", "model.hidden=8", "model.embedding=8"}), "words",
     true},
    {"documents", on_60_rows({"data.target_kind=labels"}), "words", true},
    {"documents", on_60_rows({"data.target_kind=number"}), "words", true},
    {"tag", on_60_rows({"model.hidden=8", "model.embedding=8"}), "words"},
    {"tag", on_60_rows({"model.name=bert", "model.hidden=8", "model.heads=2"}), "tokens", true},
    {"questions", on_60_rows({"model.hidden=8", "model.heads=2"}), "tokens", true},
    {"choices",
     on_60_rows({"model.hidden=8", "model.heads=2", "training.learning_rate=0.05",
                 "training.warmup_steps=0"}),
     "tokens", true},
    {"pretrain",
     {"data.rows=40", "data.validation_rows=8", "model.hidden=8", "model.heads=2",
      "training.epochs=1"},
     "tokens",
     true},
    {"ratings",
     {"data.users=20", "data.items=8", "data.ratings_each=6", "model.embedding=8",
      "training.epochs=1"},
     "user words"},
    {"ratings",
     {"model.name=dattn", "data.users=20", "data.items=8", "data.ratings_each=6",
      "model.embedding=8", "model.local_filters=4", "model.global_filters=4", "model.hidden=8",
      "training.epochs=1"},
     "item words"},
    {"graph",
     {"data.nodes=200", "data.train_each=10", "data.validation_nodes=20", "data.test_nodes=20",
      "model.hidden=4", "model.heads=2", "training.epochs=1"},
     "neighbours"},
    {"graph",
     {"data.target_kind=labels", "data.nodes=200", "data.train_each=10", "data.validation_nodes=20",
      "data.test_nodes=20", "model.hidden=4", "model.heads=2", "training.epochs=1"},
     "neighbours"},
    {"caption",
     {"data.rows=24", "data.validation_rows=8", "data.test_rows=8", "data.image_size=32",
      "model.channels=8,8", "model.convolutions=1", "model.hidden=8", "model.embedding=8",
      "training.epochs=1"},
     "cells",
     true},
    {"speech",
     {"data.rows=24", "data.validation_rows=6", "data.test_rows=6", "data.bands=12",
      "model.encoder_hidden=8", "model.hidden=12", "model.embedding=8", "model.score_hidden=8",
      "model.readout_size=8", "training.epochs=1"},
     "source",
     true},
    {"images",
     on_60_rows({"model.hidden=8", "model.heads=2", "model.layers=2", "training.batch_size=8"}),
     "patches"},
    {"images",
     {"model.name=ram", "data.rows=60", "data.validation_rows=8", "data.test_rows=8",
      "model.hidden=8", "model.scales=2", "training.epochs=1", "training.batch_size=8"},
     "cells"},
    {"visits",
     {"data.rows=200", "data.validation_rows=20", "data.test_rows=20", "model.embedding=8",
      "model.visit_hidden=8", "model.code_hidden=8", "training.epochs=1"},
     "codes"},
    {"visits",
     {"model.name=logistic", "data.rows=200", "data.validation_rows=20", "data.test_rows=20",
      "training.epochs=1"},
     "codes"},
    {"visits",
     {"data.target_kind=labels", "data.rows=200", "data.validation_rows=20", "data.test_rows=20",
      "model.embedding=8", "model.visit_hidden=8", "model.code_hidden=8", "training.epochs=1"},
     "codes"},
    {"copy",
     {"data.rows=40", "data.validation_rows=8", "data.test_rows=4", "data.longest=5",
      "data.test_lengths=5,6", "model.slots=8", "model.width=6", "model.hidden=12",
      "training.epochs=1"},
     "steps"},
    {"copy",
     {"data.kind=ngrams", "data.rows=40", "data.validation_rows=8", "data.test_rows=4",
      "data.longest=12", "data.test_lengths=12", "data.order=3", "model.slots=8", "model.width=6",
      "model.hidden=12", "training.epochs=1"},
     "steps"},
    {"copy",
     {"data.kind=priority-sort", "data.rows=40", "data.validation_rows=8", "data.test_rows=4",
      "data.longest=5", "data.test_lengths=5", "model.slots=8", "model.width=6", "model.hidden=12",
      "training.epochs=1"},
     "steps"},
    {"language",
     {"data.rows=60", "data.validation_rows=8", "data.test_rows=8", "model.hidden=8",
      "model.heads=2", "model.layers=2", "model.maximum_length=16", "training.epochs=1"},
     "tokens",
     true},
    {"prefetch",
     {"data.accesses=400", "data.window=6", "model.hidden=8", "model.page=8", "model.experts=3",
      "model.history=attention", "training.epochs=1"},
     "accesses"},
    // ./dev new task adds rows above
};

inline std::ostream& operator<<(std::ostream& out, const SmallTraining& training) {
  return out << training.task;
}

/// The options of the training, and `more`.
inline Setup setup_of_small(const SmallTraining& training,
                            const std::vector<std::string>& more = {}) {
  return setup_of(training.task, more, training.assignments);
}

/// Trains it into a run.
inline void train_small(const SmallTraining& training, const std::filesystem::path& run,
                        const std::vector<std::string>& more = {}) {
  train_run(setup_of_small(training, more), run);
}

/// Inputs as JSON objects, in every form that the task takes; `examples` are those of its run.
inline std::vector<Json> object_inputs(const SmallTraining& training, const Json& examples) {
  const Json& first = examples.at(0);
  const std::string& task = training.task;
  std::vector<Json> inputs;
  if (first.is_object()) inputs.push_back(first);
  if (task == "dates" || task == "translate") inputs.push_back({{"source", first}});
  if (task == "documents" || task == "language") inputs.push_back({{"text", first}});
  if (task == "tag") inputs.push_back({{"words", {"some", "words"}}});
  if (task == "copy") inputs.push_back({{"symbols", first}});
  if (task == "graph") {
    inputs.push_back({{"node", first}});
    inputs.push_back({{"features", Json::object()}, {"neighbours", {first}}});
  }
  if (task == "ratings") {
    const Json reviews{"a good one", {{"text", "a bad one"}, {"rating", 2}}};
    inputs.push_back({{"user_reviews", reviews}, {"item_reviews", reviews}});
  }
  if (task == "prefetch") {
    Json accesses = Json::array();
    for (const std::string& access : split(first.get<std::string>(), ';'))
      accesses.push_back(std::string(trim(access)));
    inputs.push_back({{"accesses", accesses}});
  }
  if (task == "visits") {
    const Json visits{{{"time", "2014-05-03"}, {"codes", {"A", 7}}},
                      {{"time", 3}, {"codes", "A B"}}};
    inputs.push_back({{"visits", visits}});
  }
  return inputs;
}

}  // namespace fovea::testing

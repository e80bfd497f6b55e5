// What tests of a task do with a training: load its run, look up a metric, ask for an answer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/tasks/pipeline.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"

namespace fovea::testing {

/// Trains on the data, or on built-in data, into FOLDER/run, and loads that.
inline Pipeline trained_pipeline(Setup setup, const TemporaryFolder& folder,
                                 const std::filesystem::path& data = {}) {
  if (!data.empty()) setup.set_source(data.string(), {});
  train_run(std::move(setup), folder / "run");
  return Pipeline::load(folder / "run");
}

inline bool has_metric(const Metrics& metrics, const std::string& name) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [&](const Metric& one) { return one.name == name; });
}

inline double metric(const Metrics& metrics, const std::string& name) {
  for (const Metric& one : metrics)
    if (one.name == name) return one.value;
  ADD_FAILURE() << "there is no metric " << name;
  return 0;
}

inline Json answer(const Pipeline& pipeline, const std::string& line) {
  const Example example = pipeline.parse(line);
  return pipeline.task().answer(example, pipeline.predict({&example, 1})[0]);
}

/// Built-in data of the task, prepared and written to a folder, trains to the loss of built-in
/// data.
inline void expect_prepared_and_written_data_train_the_same(
    const std::function<Setup()>& make_setup) {
  const TemporaryFolder folder, one, two, three;
  Setup setup = make_setup();
  setup.task().prepare({}, 0, folder / "a.safetensors");
  setup.task().write_data(folder / "written");
  const auto loss = [&](const TemporaryFolder& own, const std::filesystem::path& data) {
    Pipeline pipeline = trained_pipeline(make_setup(), own, data);
    return metric(pipeline.measure(*pipeline.load_data("").validation), "loss");
  };
  const double drawn = loss(one, {});
  EXPECT_EQ(loss(two, folder / "a.safetensors"), drawn);
  EXPECT_EQ(loss(three, folder / "written"), drawn);
}

}  // namespace fovea::testing

// Small tables, networks and settings to train with.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

#include "fovea/base/file.h"
#include "fovea/models/context_attention.h"
#include "fovea/models/feature_attention.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/training/trainer.h"

namespace fovea::testing {

class Rows : public ColumnDataset {
 public:
  using ColumnDataset::ColumnDataset;
  Example example(int64_t row) const override { return row_example(row); }
};

/// x in U(-1, 1), y = [x1 + x2 > 0].
inline Rows table_rows(int64_t rows) {
  const at::Tensor inputs = Random(1).uniform_tensor({rows, 4}, -1, 1, torch::kFloat32);
  return Rows({{"inputs", inputs},
               {"target", (inputs.select(1, 1) + inputs.select(1, 2) > 0).to(torch::kFloat32)}});
}

inline Rows context_rows(int64_t rows) {
  const at::Tensor inputs = Random(2).uniform_tensor({rows, 6}, 0, 1, torch::kFloat32),
                   context = torch::arange(rows) % 3;
  return Rows({{"inputs", inputs},
               {"context", context},
               {"target", inputs.gather(1, context.unsqueeze(1) + 2).squeeze(1)}});
}

inline std::unique_ptr<Model> table_model(double dropout = 0) {
  FeatureAttentionOptions options;
  options.hidden = {6};
  options.dropout = dropout;
  auto model = std::make_unique<FeatureAttention>(
      options,
      FeatureShape{
          {"a", "b", "c", "d"}, {0, 1, 2, 3}, 1, kernels::TabularLoss::BinaryCrossEntropy});
  model->initialise(Random(5));
  return model;
}

inline std::unique_ptr<Model> context_model() {
  auto model =
      std::make_unique<ContextAttention>(ContextAttentionOptions{}, ContextAttentionShape{3, 6});
  model->initialise(Random(5));
  return model;
}

inline TrainingOptions quick(int64_t epochs, int64_t batch_size, const std::string& path = "auto") {
  TrainingOptions options;
  options.epochs = epochs;
  options.batch_size = batch_size;
  options.learning_rate = 0.01;
  options.path = path;
  options.checkpoint_seconds = 0;
  return options;
}

/// Validation loss that only depends on the weights.
inline TrainerHooks hooks_for(Model& model, const Dataset& rows) {
  TrainerHooks hooks;
  hooks.evaluate = [&] {
    torch::NoGradGuard no_gradients;
    return Metrics{
        {"loss",
         model.loss({rows.columns(), rows.size()}, {Random(0), 0}).objective.item<double>()}};
  };
  return hooks;
}

/// The lines of the run's log of metrics, without how long they took.
inline std::vector<Json> metrics_without_seconds(const RunFolder& folder) {
  std::vector<Json> lines;
  std::ifstream file(folder.metrics());
  for (std::string line; std::getline(file, line);) {
    lines.push_back(parse_json(line, "metrics"));
    lines.back().erase("seconds");
  }
  return lines;
}

/// Both runs ended with the same checkpoint and the same model, bit for bit.
inline void expect_same_weights(const RunFolder& one, const RunFolder& other) {
  const SafetensorsFile a = read_safetensors(one.last()), b = read_safetensors(other.last());
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors)
    EXPECT_TRUE(tensor.equal(b.tensors.at(name))) << name;
  EXPECT_EQ(read_file(one.model()), read_file(other.model()));
}

}  // namespace fovea::testing

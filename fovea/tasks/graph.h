// The task `graph`: which class a node belongs to, from its features and from the nodes around it.
#pragma once

#include "fovea/data/graph/load.h"
#include "fovea/models/graph_attention.h"
#include "fovea/tasks/task.h"

namespace fovea {

class GraphTask : public Task {
 public:
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  /// {"node": "…"}, or the name of a node alone: the run keeps the graph. Or a node that is not in
  /// it: {"features": ["word", …] or {"column": number, …}, "neighbours": ["…", …]}.
  Example parse(const std::string& line) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  NodeEncoder encoder() const { return known_.encoder(model_.layers); }
  int64_t node_in(const Json& name) const;
  FeatureRow features_in(const Json& features) const;

  GraphDataOptions data_;
  GraphAttentionOptions model_;
  KnownGraph known_;
};

}  // namespace fovea

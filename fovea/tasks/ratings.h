// The task `ratings`: how highly a user will rate an item, from the reviews of both.
#pragma once

#include "fovea/data/ratings/load.h"
#include "fovea/models/dual_attention.h"
#include "fovea/models/multi_pointer.h"
#include "fovea/models/rating_baselines.h"
#include "fovea/tasks/task.h"

namespace fovea {

class RatingsTask : public Task {
 public:
  std::vector<std::string> models() const override {
    return {"mpcn", "dattn", "mf", "biases", "mean"};
  }
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  /// {"user": …, "item": …}, or a user and an item with a tab or comma between them: the reviews
  /// are those that the run keeps. Instead, or of a side alone, reviews of one's own:
  /// {"user_reviews": ["a text", {"text": …, "rating": 4}], "item_reviews": […]}.
  Example parse(const std::string& line) const override;
  InputColumns input_columns(const Roles& roles) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  /// Notes how many reviews each side has, and whether the run knows it: answers tell.
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  /// {"rating": …, "user": {"known": …, "reviews": …}, "item": {…}}
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  ReviewReading reading() const;
  bool is_baseline() const { return reading() == ReviewReading::Nothing; }
  HistoryLimits limits() const { return data_.limits(reading()); }
  RatingEncoder encoder() const { return coding_.encoder(limits()); }

  RatingsDataOptions data_;
  MultiPointerOptions pointers_;
  DualAttentionOptions dual_;
  RatingBaselineOptions baseline_;
  RatingCoding coding_;
};

}  // namespace fovea

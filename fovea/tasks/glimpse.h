// The task `glimpse`: which class a picture belongs to, found out by looking at small parts of it
// one after the other.
#pragma once

#include "fovea/data/images/load.h"
#include "fovea/models/image_baselines.h"
#include "fovea/models/recurrent_glimpses.h"
#include "fovea/tasks/task.h"

namespace fovea {

class GlimpseTask : public Task {
 public:
  std::vector<std::string> models() const override { return {"ram", "plain", "cnn"}; }
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  /// Where objects are known also how many glimpses had their middle inside, and how many would by
  /// chance.
  Metrics measure(const Model& model, const Dataset& rows) const override;
  /// A picture (data/images/image_input.h); it is resized to what the network sees.
  Example parse(const std::string& line) const override;
  Json input_schema() const override;
  /// {"class": …, "probability": …, "scores": {…}, "glimpses": [{"x": …, "y": …, "class": …,
  /// "probability": …}, …]}: the places of the first sample, and after each the likeliest class of
  /// all samples and the probability of the answer.
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// The probability of the answer becomes the value of each glimpse.
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  bool looks() const { return model_name() == "ram"; }
  int64_t glimpses() const { return looks() ? glimpses_.glimpses : 0; }
  PictureEncoder encoder() const { return {coding_.shape, glimpses()}; }

  GlimpseDataOptions data_;
  RecurrentGlimpsesOptions glimpses_;
  ImageBaselineOptions baseline_;
  GlimpseCoding coding_;
};

}  // namespace fovea

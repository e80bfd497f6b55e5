// The task `prefetch`: which line of memory is accessed next, from the accesses before.
#pragma once

#include "fovea/data/traces/load.h"
#include "fovea/data/traces/prefetchers.h"
#include "fovea/models/prefetch_baseline.h"
#include "fovea/models/voyager.h"
#include "fovea/tasks/task.h"

namespace fovea {

class PrefetchTask : public Task {
 public:
  std::vector<std::string> models() const override {
    return {"voyager", "last_successor", "stride", "next_line"};
  }
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  /// accuracy and coverage at degree 1 and, of rows without gaps, at model.degree
  /// (metrics/prefetching.h).
  Metrics measure(const Model& model, const Dataset& rows) const override;
  std::vector<std::string> metric_notes(const Dataset& rows) const override;
  /// {"accesses": ["L 04acfa68 8 00109200", …]}, or the accesses with semicolons between them, the
  /// oldest first.
  Example parse(const std::string& line) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  /// Names the lines: their addresses in hexadecimal digits, "" for one that has none.
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  /// {"lines": [{"address": "4acfa40", "probability": 0.93}, …]}, the likeliest first.
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

  /// Of every access that a prefetcher sees: its line, a tab, what answer_line() says.
  bool streams() const override { return true; }
  StreamReport stream(const Model& model, const std::filesystem::path& path, bool json,
                      const std::function<void(const std::string& line)>& answer) const override;

 private:
  bool is_network() const { return model_name() == "voyager"; }
  int64_t degree() const { return is_network() ? voyager_.degree : baseline_.degree; }
  TraceUse use() const;
  TraceEncoder encoder() const { return {known_.coding, {data_.window, use().experts}}; }
  std::unique_ptr<Prefetcher> prefetcher() const;
  /// The line that an output means after an access to line `now`, or kNoLine.
  int64_t line_named(const Decoded& output, int64_t now) const;
  /// In their order; kNoLine for one that has no line, or was named before.
  std::vector<int64_t> lines_named(const std::vector<Decoded>& outputs, int64_t now) const;

  TracesDataOptions data_;
  VoyagerOptions voyager_;
  PrefetchBaselineOptions baseline_;
  KnownTrace known_;
};

}  // namespace fovea

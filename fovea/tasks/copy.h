// The task `copy`: hear symbols, then say them again (Graves et al. 2014). Not useful in itself: it
// shows whether a network has learned to store and to fetch, by how it does on sequences longer
// than any that it was trained on. A neural Turing machine, and an LSTM beside it.
#pragma once

#include "fovea/data/copies/dataset.h"
#include "fovea/models/copy_lstm.h"
#include "fovea/models/turing_machine.h"
#include "fovea/tasks/task.h"

namespace fovea {

class CopyTask : public Task {
 public:
  std::vector<std::string> models() const override { return {"ntm", "lstm"}; }
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  /// Where all rows together have few lengths, errors also by length: bit_error_20, ….
  Metrics measure(const Model& model, const Dataset& rows) const override;
  LengthCurve measure_by_length(const Model& model, const Dataset& rows) const override;
  /// Symbols with blanks between them, "0110 1011", or {"symbols": "0110 1011"}.
  Example parse(const std::string& line) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// Steps of the output are called by what was put out; the slots of the memory are an axis.
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  /// "steps" become silence; what lies in "slots" cannot be read.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  bool is_ntm() const { return model_name() == "ntm"; }

  CopyDataOptions data_;
  TuringMachineOptions machine_;
  CopyLstmOptions lstm_;
  int64_t bits_ = 0;  // of a symbol; 0: nothing was loaded yet
};

}  // namespace fovea

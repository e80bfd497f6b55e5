// What the tasks on pairs of texts share (dates, translate): a model between two
// tokenisers, decoding, metrics over texts, alignments for pictures.
#pragma once

#include "fovea/data/draw.h"
#include "fovea/data/pairs/load.h"
#include "fovea/decoding/search.h"
#include "fovea/metrics/translation.h"
#include "fovea/models/seq2seq.h"
#include "fovea/models/transformer.h"
#include "fovea/tasks/task.h"

namespace fovea {

struct WritingOptions : SearchOptions {
  bool copy_unknown = true;
  void describe(OptionList& list);
};

class PairsTask : public Task {
 public:
  std::vector<std::string> models() const override { return {"seq2seq", "transformer"}; }
  Splits load(const DataSource& source, uint64_t seed) override;
  void prepare(const DataSource& source, uint64_t seed, const std::filesystem::path& path) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  std::vector<std::string> metric_notes(const Dataset& rows) const override;
  LengthCurve measure_by_length(const Model& model, const Dataset& rows) const override;
  Example parse(const std::string& line) const override;
  bool takes_plain_text() const override { return true; }
  Batch collate(std::span<const Example> examples) const override;
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  InputColumns input_columns(const Roles& roles) const override;
  Json input_schema() const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 protected:
  virtual std::string name() const = 0;
  virtual SplitRows<TextPair> built_in() const = 0;
  virtual Json built_in_options() const = 0;  // what decides the built-in data, for its hash
  virtual bool is_translation() const = 0;    // BLEU and chrF are reported

  /// The groups data. (the generator's options, then those of files), model. and decoding.
  template <class Generator>
  void describe_with(Generator& generator, OptionList& list) {
    struct Data {
      Generator& generator;
      PairsOptions& pairs;
      void describe(OptionList& own) { generator.describe(own), pairs.describe(own); }
    } data{generator, pairs_};
    list.group("data", data);
    if (is_transformer())
      list.group("model", transformer_);
    else
      list.group("model", model_);
    list.find("model.name").choices(models());
    list.group("decoding", search_);
  }
  bool is_transformer() const { return model_name() == "transformer"; }

  PairsOptions pairs_;
  Seq2SeqOptions model_;
  TransformerOptions transformer_;
  WritingOptions search_;

 private:
  /// Decoded and wanted texts, and what the model thinks of the wanted ones.
  struct Outcome {
    std::vector<std::string> outputs;
    std::vector<References> references;
    std::vector<std::vector<int64_t>> output_tokens, target_tokens;  // without the end symbol
    std::vector<int64_t> source_lengths;
    double nats = 0;
    int64_t symbols = 0;
    double truth_sum = 0, truth_rows = 0;  // share of attention on what is planted
  };
  Outcome decode(const Model& model, const PairDataset& rows) const;
  std::vector<std::string> pieces(const std::vector<int64_t>& tokens) const;

  struct Written {
    const Example* example;
    Decoded* output;
  };
  /// An unknown word is copied from where the decoder looked when it wrote it (Luong 2015).
  void copy_unknown(const Model& model, std::span<const Written> written) const;
  PairTokenisers tokenisers_;
};

}  // namespace fovea

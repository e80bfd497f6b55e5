// What comes after a prompt: {"text": …, "log_probability": …, "tokens": …}, and "outputs" where
// there are several. Measured by how well the next token of a text is known.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/language/load.h"
#include "fovea/decoding/search.h"
#include "fovea/tasks/outputs/output.h"

namespace fovea {

/// The group decoding.
struct ContinuationOptions {
  SearchOptions search;
  std::vector<std::string> stop;
  void describe(OptionList& list);
};

/// Whether the text of the tokens has one of the words in it, which end a text. Empty words end
/// nothing.
std::function<bool(std::span<const int64_t>)> ends_with_any(
    std::shared_ptr<const HuggingFaceTokeniser> tokeniser, std::vector<std::string> words);
/// The text up to the first of the words.
std::string cut_at(const std::string& text, const std::vector<std::string>& words);

class ContinuationOutput : public OutputKind {
 public:
  ContinuationOutput(std::shared_ptr<const LanguageCoding> coding,
                     std::shared_ptr<ContinuationOptions> options)
      : coding_(std::move(coding)), options_(std::move(options)) {}

  void describe(OptionList& list) override { list.group("decoding", *options_); }
  /// loss in nats a token, perplexity, bits_per_character, bits_per_byte.
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  /// With the interval of the loss: windows of the text are resampled.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  std::vector<std::string> metric_notes(const Dataset& rows) const override;
  /// Counts of one, two and three tokens in a row (metrics/ngram_model.h).
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override;
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override;

  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// All tokens but the last: what places look at.
  Example describe_output(const Example& example, const Prediction& prediction) const override;

 private:
  /// measure(), with what each window adds to the loss where that is asked for.
  Metrics measure_windows(const Model& model, const Dataset& rows, const RowProgress& progress,
                          SummedMetric* loss) const;
  std::shared_ptr<const LanguageCoding> coding_;
  std::shared_ptr<ContinuationOptions> options_;
};

}  // namespace fovea

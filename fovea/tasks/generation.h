// What tasks that write texts symbol by symbol share: translations, captions, transcripts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/tokeniser.h"
#include "fovea/metrics/translation.h"
#include "fovea/tasks/task.h"

namespace fovea {

/// A tokeniser as the assets NAME.json and, for the kinds that have SentencePiece's bytes,
/// NAME.model.
void save_tokeniser(const RunFolder& folder, const std::string& name, const Tokeniser& tokeniser);
std::shared_ptr<const Tokeniser> load_tokeniser(const RunFolder& folder, const std::string& name);

/// Symbols as a text, without the end.
std::string text_of(const std::vector<int64_t>& tokens, const Tokeniser& tokeniser);
/// {"text": …, "log_probability": …}, and "outputs" where there are several.
Json generation_json(const Prediction& prediction);
/// The texts of all outputs, tabs between them.
std::string generation_line(const Prediction& prediction);
/// The first output as an axis, a unit for each symbol; the end is special.
Axis generated_axis(const Prediction& prediction, const Tokeniser& tokeniser,
                    const std::string& name, const std::string& unit);

/// Rows to write about.
struct RowsToWrite {
  const Dataset& rows;
  int64_t tokens_together;  // padded positions of a batch
  std::function<References(int64_t row)> references;
  std::function<std::vector<int64_t>(int64_t row)> target_ids;  // with the end symbol
  /// bool [T, units]: what each symbol of the target should look at. Empty: nothing is known.
  std::function<at::Tensor(int64_t row)> truth = {};
};

/// What was written, in the order of the rows.
struct GeneratedRows {
  std::vector<std::string> outputs;
  std::vector<References> references;
  double nats = 0, symbols = 0;  // of the targets
  /// Sums over the symbols of which it is known what they should look at, of the map "attention"
  /// while the right target is written: whose strongest place lies there, the share of their
  /// attention that does, and their number.
  double pointed = 0, inside = 0, known = 0;

  double exact_match() const;  // share of outputs that are one of their references
  /// The metrics pointing and attention_truth, where something is known.
  void add_truth(Metrics& metrics) const;
};

/// Decodes every row, side by side on a CPU. `model` must be a SequenceModel.
GeneratedRows write_rows(const Model& model, const RowsToWrite& rows, const Tokeniser& tokeniser,
                         const std::function<void(int64_t rows)>& progress);

}  // namespace fovea

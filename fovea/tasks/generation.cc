#include "fovea/tasks/generation.h"

#include <algorithm>

#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/models/sequence_model.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

Json json_of(const Decoded& output) {
  return {{"text", output.text}, {"log_probability", output.log_probability}};
}

/// A symbol for people: of words without the mark that says that a blank stands before them.
std::string label_of(int64_t token, const Tokeniser& tokeniser) {
  constexpr std::string_view kBlank = "\u2581";
  const std::string& text = tokeniser.vocabulary().token(token);
  const bool marked = tokeniser.kind() == "words" && text.starts_with(kBlank);
  return marked ? text.substr(kBlank.size()) : text;
}

/// As in GeneratedRows, of one row.
struct Looked {
  double pointed = 0, inside = 0, known = 0;
};

/// weights [T, units], truth bool [T, units]
Looked looked_at(const at::Tensor& weights, const at::Tensor& truth) {
  const at::Tensor known = truth.any(1);                                // [T]
  const at::Tensor most = weights.argmax(1, true);                      // [T, 1]
  const at::Tensor pointed = truth.gather(1, most).squeeze(1) & known;  // [T]
  const at::Tensor all = weights.sum(1).clamp_min(1e-12);               // [T]
  const at::Tensor inside = (weights * truth).sum(1) / all;             // [T]
  return {pointed.sum().item<double>(), (inside * known).sum().item<double>(),
          known.sum().item<double>()};
}

/// Of the right targets: only of those it is known what they should look at.
std::vector<Looked> looks_of(const Model& model, const RowsToWrite& rows,
                             std::span<const int64_t> picked, const Batch& batch) {
  Predictions right;
  for (const int64_t row : picked) right.outputs.push_back({{rows.target_ids(row), 0, ""}});
  Tap tap;
  model.replay(batch, right, &tap);
  std::vector<Looked> looks(picked.size());
  if (!has_map(tap, "attention")) return looks;
  const at::Tensor weights = tap.map("attention").weights.squeeze(1).cpu();  // [B, T, units]
  for (size_t i = 0; i < picked.size(); ++i) {
    const at::Tensor truth = rows.truth(picked[i]);
    looks[i] = looked_at(
        weights[int64_t(i)].narrow(0, 0, truth.size(0)).narrow(1, 0, truth.size(1)), truth);
  }
  return looks;
}

}  // namespace

void save_tokeniser(const RunFolder& folder, const std::string& name, const Tokeniser& tokeniser) {
  const TokeniserState state = tokeniser.state();
  folder.write_asset(name + ".json", state.description);
  if (!state.model.empty()) write_file(folder.new_asset(name + ".model"), state.model);
}

std::shared_ptr<const Tokeniser> load_tokeniser(const RunFolder& folder, const std::string& name) {
  TokeniserState state{folder.read_asset(name + ".json"), ""};
  if (std::filesystem::exists(folder.asset(name + ".model")))
    state.model = read_file(folder.asset(name + ".model"));
  return Tokeniser::restore(state, folder.asset(name + ".json").string());
}

std::string text_of(const std::vector<int64_t>& tokens, const Tokeniser& tokeniser) {
  std::vector<std::string> pieces;
  for (const int64_t token : tokens)
    if (token != Vocabulary::kEnd) pieces.push_back(tokeniser.vocabulary().token(token));
  return tokeniser.join(pieces);
}

Json generation_json(const Prediction& prediction) {
  if (prediction.outputs.empty()) return {{"text", ""}};
  Json json = json_of(prediction.outputs[0]);
  if (prediction.outputs.size() == 1) return json;
  json["outputs"] = Json::array();
  for (const Decoded& output : prediction.outputs) json["outputs"].push_back(json_of(output));
  return json;
}

std::string generation_line(const Prediction& prediction) {
  std::vector<std::string> texts;
  for (const Decoded& output : prediction.outputs) texts.push_back(output.text);
  return join(texts, "\t");
}

Axis generated_axis(const Prediction& prediction, const Tokeniser& tokeniser,
                    const std::string& name, const std::string& unit) {
  Axis axis{name, unit, {}};
  axis.output = true;
  if (prediction.outputs.empty()) return axis;
  for (const int64_t token : prediction.outputs[0].tokens) {
    const bool is_end = token == Vocabulary::kEnd;
    if (is_end) axis.special.push_back(int64_t(axis.labels.size()));
    axis.labels.push_back(is_end ? "</s>" : label_of(token, tokeniser));
  }
  return axis;
}

double GeneratedRows::exact_match() const {
  double right = 0;
  for (size_t i = 0; i < outputs.size(); ++i)
    right += std::count(references[i].begin(), references[i].end(), outputs[i]) > 0;
  return right / double(outputs.size());
}

void GeneratedRows::add_truth(Metrics& metrics) const {
  if (known == 0) return;
  metrics.push_back({"pointing", pointed / known, true});
  metrics.push_back({"attention_truth", inside / known, true});
}

GeneratedRows write_rows(const Model& model, const RowsToWrite& rows, const Tokeniser& tokeniser,
                         const std::function<void(int64_t rows)>& progress) {
  const auto& writer = dynamic_cast<const SequenceModel&>(model);
  const auto count = static_cast<size_t>(rows.rows.size());
  GeneratedRows written;
  written.outputs.resize(count);
  written.references.resize(count);
  std::vector<Looked> looks(count);
  std::vector<std::pair<double, double>> nats(count);  // of a batch, where its first row is
  over_rows(
      model, rows.rows, rows.tokens_together,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const Predictions answers = model.predict(batch);
        const auto [sum, symbols] = writer.negative_log_likelihood(batch);
        nats[size_t(picked[0])] = {sum, double(symbols)};
        std::vector<Looked> own(picked.size());
        if (rows.truth) own = looks_of(model, rows, picked, batch);
        for (size_t i = 0; i < picked.size(); ++i) {
          const auto row = size_t(picked[i]);
          written.outputs[row] = text_of(answers.outputs[i].at(0).tokens, tokeniser);
          written.references[row] = rows.references(picked[i]);
          looks[row] = own[i];
        }
      },
      progress);
  for (size_t row = 0; row < count; ++row) {  // in this order, whatever thread was first
    written.nats += nats[row].first;
    written.symbols += nats[row].second;
    written.pointed += looks[row].pointed;
    written.inside += looks[row].inside;
    written.known += looks[row].known;
  }
  return written;
}

}  // namespace fovea

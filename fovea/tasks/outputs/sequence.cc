#include "fovea/tasks/outputs/sequence.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/metrics/sequences.h"
#include "fovea/models/sequence_model.h"
#include "fovea/tasks/outputs/nearest_row.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr const char* kMostFrequent = "most_frequent";  // target, of a baseline

Json output_json(const Decoded& output) {
  return {{"text", output.text}, {"log_probability", output.log_probability}};
}

std::vector<int64_t> without_end(std::vector<int64_t> tokens, int64_t end) {
  if (!tokens.empty() && tokens.back() == end) tokens.pop_back();
  return tokens;
}

/// Sums over the tokens of which it is known what they should look at.
struct Pointing {
  double pointed = 0, inside = 0, known = 0;
};

/// weights [T, units], truth bool [T, units]
Pointing pointing_of(const at::Tensor& weights, const at::Tensor& truth) {
  const at::Tensor known = truth.any(1);                                // [T]
  const at::Tensor most = weights.argmax(1, true);                      // [T, 1]
  const at::Tensor pointed = truth.gather(1, most).squeeze(1) & known;  // [T]
  const at::Tensor all = weights.sum(1).clamp_min(1e-12);               // [T]
  const at::Tensor inside = (weights * truth).sum(1) / all;             // [T]
  return {pointed.sum().item<double>(), (inside * known).sum().item<double>(),
          known.sum().item<double>()};
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

void save_tokenisers(const RunFolder& folder, const PairTokenisers& tokenisers) {
  save_tokeniser(folder, "source", *tokenisers.source);
  if (tokenisers.target != tokenisers.source) save_tokeniser(folder, "target", *tokenisers.target);
}

PairTokenisers load_tokenisers(const RunFolder& folder) {
  PairTokenisers tokenisers;
  tokenisers.source = load_tokeniser(folder, "source");
  const bool shared = !std::filesystem::exists(folder.asset("target.json"));
  tokenisers.target = shared ? tokenisers.source : load_tokeniser(folder, "target");
  return tokenisers;
}

std::vector<std::vector<int64_t>> target_tokens(const Batch& batch) {
  const at::Tensor ids = batch.at("target").cpu().contiguous();     // [B, T]
  const at::Tensor lengths = batch.at("target.keep").sum(1).cpu();  // [B]
  std::vector<std::vector<int64_t>> tokens;
  for (int64_t row = 0; row < ids.size(0); ++row) {
    const int64_t* first = ids.data_ptr<int64_t>() + row * ids.size(1);
    tokens.emplace_back(first, first + lengths.data_ptr<int64_t>()[row]);
  }
  return tokens;
}

at::Tensor target_attention(const Model& model, const Batch& batch) {
  Predictions right;
  for (std::vector<int64_t>& tokens : target_tokens(batch))
    right.outputs.push_back({{std::move(tokens), 0, ""}});
  Tap tap;
  model.replay(batch, right, &tap);
  return has_map(tap, "attention") ? tap.map("attention").weights.mean(1).cpu() : at::Tensor();
}

double GeneratedRows::exact_match() const {
  double right = 0;
  for (size_t i = 0; i < outputs.size(); ++i)
    right += std::count(references[i].begin(), references[i].end(), outputs[i]) > 0;
  return right / double(outputs.size());
}

double GeneratedRows::character_error_rate() const {
  std::vector<Symbols> found, wanted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    found.push_back(code_points(outputs[i]));
    wanted.push_back(code_points(references[i].at(0)));
  }
  return error_rate(found, wanted);
}

Metrics SequenceOutput::metrics_of(const Model& model, const Dataset& rows,
                                   const GeneratedRows& all) const {
  Metrics metrics{{"loss", all.loss()}};
  for (Metric& metric : text_metrics(all)) metrics.push_back(std::move(metric));
  add_metrics(model, rows, all, metrics);
  return metrics;
}

Metrics SequenceOutput::measure(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const {
  const auto longer = lengthened(rows);
  const Dataset& measured = longer ? *longer : rows;
  return metrics_of(model, measured, generate(model, measured, progress));
}

Evaluation SequenceOutput::evaluate(const Model& model, const Dataset& rows,
                                    const RowProgress& progress) const {
  const auto longer = lengthened(rows);
  const Dataset& measured = longer ? *longer : rows;
  const GeneratedRows all = generate(model, measured, progress);
  Evaluation evaluation;
  evaluation.metrics = metrics_of(model, measured, all);
  evaluation.main = main_metric();
  const SummedMetric sums = main_sums(all);
  evaluation.interval =
      sums.rows.empty() ? wilson_interval(evaluation.find(evaluation.main)->value, measured.size())
                        : bootstrap_interval(sums);
  return evaluation;
}

NamedTensors SequenceOutput::fit_baselines(const Dataset& train, const LinearInputs& inputs) const {
  NamedTensors fitted = fit_nearest_row(train, inputs);
  std::map<std::string, int64_t> counts;
  const std::string* most = nullptr;  // the first of several
  int64_t largest = 0;
  for (int64_t row = 0; row < train.size(); ++row)
    for (const std::string& text : train.references(row)) {
      const auto place = counts.try_emplace(text, 0).first;
      if (++place->second > largest) largest = place->second, most = &place->first;
    }
  if (most && (largest > 1 || fitted.empty())) put_texts(kMostFrequent, {*most}, fitted);
  return fitted;
}

std::vector<BaselineResult> SequenceOutput::measure_baselines(const NamedTensors& fitted,
                                                              const Dataset& rows,
                                                              const LinearInputs& inputs) const {
  if (rows.size() == 0 || lengthened(rows)) return {};  // nobody learned these
  GeneratedRows texts;
  for (int64_t row = 0; row < rows.size(); ++row) texts.references.push_back(rows.references(row));
  std::vector<BaselineResult> results;
  const auto add = [&](const char* name, std::vector<std::string> outputs) {
    texts.outputs = std::move(outputs);
    results.push_back({name, text_metrics(texts)});
  };
  if (has_texts(kMostFrequent, fitted))
    add("most frequent", std::vector(size_t(rows.size()), kept_texts(kMostFrequent, fitted).at(0)));
  if (has_nearest_row(fitted) && !inputs.empty())
    add(nearest_row_name(inputs), targets_of_nearest_rows(fitted, inputs));
  return results;
}

void SequenceOutput::finish(const Model&, std::span<const Example>,
                            std::vector<Prediction>& predictions) const {
  for (Prediction& prediction : predictions)
    for (Decoded& output : prediction.outputs) output.text = target().decode(output.tokens);
}

void SequenceOutput::finish_rows(const Model& model, const Dataset&, std::span<const int64_t>,
                                 std::vector<Prediction>& predictions) const {
  finish(model, {}, predictions);
}

Json SequenceOutput::answer(const Example&, const Prediction& prediction) const {
  if (prediction.outputs.empty()) return {{"text", ""}};
  Json json = output_json(prediction.outputs[0]);
  if (prediction.outputs.size() == 1) return json;
  json["outputs"] = Json::array();
  for (const Decoded& output : prediction.outputs) json["outputs"].push_back(output_json(output));
  return json;
}

Json SequenceOutput::answer_row(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return {{"prediction", json["text"]}, {"log_probability", json.value("log_probability", Json())}};
}

std::string SequenceOutput::answer_line(const Example&, const Prediction& prediction) const {
  std::vector<std::string> texts;
  for (const Decoded& output : prediction.outputs) texts.push_back(output.text);
  return join(texts, "\t");
}

std::string SequenceOutput::headline(const Example&, const Prediction& prediction) const {
  return prediction.outputs.empty() ? "" : prediction.outputs[0].text;
}

std::string SequenceOutput::label(int64_t token) const {
  constexpr std::string_view kBlank = "\u2581";  // says that a blank stands before a word
  const std::string& text = target().vocabulary().token(token);
  const bool marked = target().kind() == "words" && text.starts_with(kBlank);
  return marked ? text.substr(kBlank.size()) : text;
}

Axis SequenceOutput::output_axis(const Prediction& prediction) const {
  Axis axis{axis_, unit(), {}};
  axis.output = true;
  if (prediction.outputs.empty()) return axis;
  for (const int64_t token : prediction.outputs[0].tokens) {
    const bool is_end = token == target().vocabulary().special().end;
    if (is_end) axis.special.push_back(int64_t(axis.labels.size()));
    axis.labels.push_back(is_end ? "</s>" : label(token));
  }
  return axis;
}

Example SequenceOutput::describe_output(const Example& example,
                                        const Prediction& prediction) const {
  Example described = example;
  described.axes.push_back(output_axis(prediction));
  return described;
}

std::vector<RowAnswer> SequenceOutput::judge_rows(const PredictedRows& rows) const {
  Predictions targets;
  for (std::vector<int64_t>& tokens : target_tokens(rows.batch))
    targets.outputs.push_back({{std::move(tokens), 0, ""}});
  const at::Tensor likelihoods =
      rows.model.replay(rows.batch, targets, nullptr).to(at::kCPU, at::kDouble).sum(1);  // [B]
  std::vector<RowAnswer> judged(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    RowAnswer& row = judged[i];
    const References references = rows.rows.references(rows.picked[i]);
    if (!rows.predictions[i].outputs.empty()) {
      row.answer = rows.predictions[i].outputs[0].text;
      row.probability = std::exp(rows.predictions[i].outputs[0].log_probability);
    }
    row.surprisal = -likelihoods[int64_t(i)].item<double>() /
                    double(std::max<size_t>(1, targets.outputs[i][0].tokens.size()));
    if (references.empty()) continue;
    row.truth = references[0];
    row.right = std::ranges::find(references, row.answer) != references.end();
    const Symbols found = code_points(row.answer);
    for (const std::string& reference : references) {
      const Symbols wanted = code_points(reference);
      const double off =
          double(edit_distance(found, wanted)) / double(std::max<size_t>(1, wanted.size()));
      if (!(off >= row.distance)) row.distance = off;
    }
  }
  return judged;
}

GeneratedRows SequenceOutput::generate(const Model& model, const Dataset& rows,
                                       const RowProgress& progress) const {
  const auto& writer = dynamic_cast<const SequenceModel&>(model);
  const RowBatches batches = this->batches(model, rows);
  const int64_t end = target().vocabulary().special().end;
  const auto count = static_cast<size_t>(rows.size());
  GeneratedRows all;
  all.outputs.resize(count);
  all.references.resize(count);
  all.output_tokens.resize(count);
  all.target_tokens.resize(count);
  std::vector<std::pair<double, int64_t>> likelihoods(batches.size());
  over_batches(
      model, rows, batches,
      [&](size_t index, const Batch& batch) {
        const Predictions answers = model.predict(batch);
        likelihoods[index] = writer.negative_log_likelihood(batch);
        std::vector<Prediction> predictions;
        for (int64_t i = 0; i < batch.size; ++i) predictions.push_back(answers.at(i));
        finish_rows(model, rows, batches[index], predictions);
        std::vector<std::vector<int64_t>> targets = target_tokens(batch);
        for (size_t i = 0; i < predictions.size(); ++i) {
          const auto row = static_cast<size_t>(batches[index][i]);
          all.outputs[row] = predictions[i].outputs.at(0).text;
          all.references[row] = rows.references(batches[index][i]);
          all.output_tokens[row] = without_end(predictions[i].outputs[0].tokens, end);
          all.target_tokens[row] = without_end(std::move(targets[i]), end);
        }
      },
      progress);
  for (const auto& [nats, tokens] : likelihoods) {  // in this order, whatever thread was first
    all.nats += nats;
    all.tokens += tokens;
  }
  return all;
}

void SequenceOutput::add_truth(const Model& model, const Dataset& rows, Metrics& metrics) const {
  if (!rows.has_truth()) return;
  const RowBatches batches = this->batches(model, rows);
  std::vector<Pointing> of_row(static_cast<size_t>(rows.size()));
  over_batches(model, rows, batches,
               [&](size_t index, const Batch& batch) {
                 const at::Tensor weights = target_attention(model, batch);  // [B, T, units]
                 for (size_t i = 0; weights.defined() && i < batches[index].size(); ++i) {
                   const at::Tensor truth = rows.map_truth(batches[index][i], "attention");
                   if (!truth.defined()) continue;
                   of_row[size_t(batches[index][i])] = pointing_of(
                       weights[int64_t(i)].narrow(0, 0, truth.size(0)).narrow(1, 0, truth.size(1)),
                       truth);
                 }
               },
               {});
  Pointing sum;
  for (const Pointing& own : of_row) {  // in this order, whatever thread was first
    sum.pointed += own.pointed;
    sum.inside += own.inside;
    sum.known += own.known;
  }
  if (sum.known == 0) return;
  metrics.push_back({"pointing", sum.pointed / sum.known, true});
  metrics.push_back({"attention_truth", sum.inside / sum.known, true});
}

}  // namespace fovea

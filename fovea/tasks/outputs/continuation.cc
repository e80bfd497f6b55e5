#include "fovea/tasks/outputs/continuation.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/language/text_stream.h"
#include "fovea/metrics/ngram_model.h"
#include "fovea/models/language_model.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kTokensTogether = 4096;    // of a batch that is measured
constexpr int64_t kMostToCount = 5'000'000;  // tokens, for the baselines
constexpr int64_t kRowsToCount = 256;        // at once

/// Sums over some rows.
struct TextScore {
  double nats = 0, tokens = 0, characters = 0, bytes = 0;

  void add_sizes(const Batch& batch) {
    characters += batch.at("characters").sum().item<double>();
    bytes += batch.at("bytes").sum().item<double>();
  }
  void add(const TextScore& other) {
    nats += other.nats, tokens += other.tokens;
    characters += other.characters, bytes += other.bytes;
  }
  Metrics metrics() const {
    const double loss = nats / tokens, bits = nats / std::log(2.0);
    return {{"loss", loss},
            {"perplexity", std::exp(loss)},
            {"bits_per_character", bits / characters},
            {"bits_per_byte", bits / bytes}};
  }
};

/// visit(tokens, batch) with the real tokens of each row, and at the end of each batch.
template <class Visit>
void for_each_window(const Dataset& rows, const Visit& visit) {
  for (int64_t begin = 0; begin < rows.size(); begin += kRowsToCount) {
    std::vector<int64_t> picked;
    for (int64_t row = begin; row < std::min(rows.size(), begin + kRowsToCount); ++row)
      picked.push_back(row);
    const Batch batch = rows.batch(picked);
    const at::Tensor tokens = batch.at("tokens").contiguous();  // [B, N]
    const std::vector<int64_t> lengths = to_vector<int64_t>(batch.at("tokens.keep").sum(1));
    std::vector<std::span<const int64_t>> windows;
    for (int64_t row = 0; row < batch.size; ++row)
      windows.emplace_back(tokens.data_ptr<int64_t>() + row * tokens.size(1),
                           size_t(lengths[size_t(row)]));
    if (!visit(batch, windows)) return;
  }
}

}  // namespace

void ContinuationOptions::describe(OptionList& list) {
  search.describe(list);
  list.add("stop", stop, "texts that end what is written; they are not part of it");
}

std::function<bool(std::span<const int64_t>)> ends_with_any(
    std::shared_ptr<const HuggingFaceTokeniser> tokeniser, std::vector<std::string> words) {
  std::erase(words, "");
  if (words.empty()) return {};
  size_t longest = 0;
  for (const std::string& word : words) longest = std::max(longest, word.size());
  // A token has a byte at least; some more, since what stands before decides about blanks.
  const size_t window = longest + 8;
  return [=](std::span<const int64_t> tokens) {
    const std::string text = tokeniser->decode(tokens.last(std::min(tokens.size(), window)));
    return std::ranges::any_of(
        words, [&](const std::string& word) { return text.find(word) != std::string::npos; });
  };
}

std::string cut_at(const std::string& text, const std::vector<std::string>& words) {
  size_t end = text.size();
  for (const std::string& word : words)
    if (!word.empty()) end = std::min(end, text.find(word));
  return text.substr(0, end);
}

Metrics ContinuationOutput::measure(const Model& model, const Dataset& rows,
                                    const RowProgress& progress) const {
  return measure_windows(model, rows, progress, nullptr);
}

Evaluation ContinuationOutput::evaluate(const Model& model, const Dataset& rows,
                                        const RowProgress& progress) const {
  SummedMetric loss;
  Evaluation evaluation;
  evaluation.metrics = measure_windows(model, rows, progress, &loss);
  evaluation.main = "loss";
  evaluation.interval = bootstrap_interval(loss);
  return evaluation;
}

Metrics ContinuationOutput::measure_windows(const Model& model, const Dataset& rows,
                                            const RowProgress& progress, SummedMetric* loss) const {
  const auto& language = dynamic_cast<const LanguageModel&>(model);
  const RowBatches batches = batches_of_tokens(model, rows, kTokensTogether);
  std::vector<TextScore> scores(batches.size());
  if (loss) loss->rows.resize(size_t(rows.size()));
  over_batches(
      model, rows, batches,
      [&](size_t index, const Batch& batch) {
        const TextLikelihood text = language.negative_log_likelihood(batch);
        scores[index].nats = text.nats;
        scores[index].tokens = double(text.tokens);
        scores[index].add_sizes(batch);
        for (size_t i = 0; loss && i < batches[index].size(); ++i)
          loss->rows[size_t(batches[index][i])] = {text.row_nats[int64_t(i)].item<double>(),
                                                   text.row_tokens[int64_t(i)].item<double>()};
      },
      progress);
  TextScore all;
  for (const TextScore& one : scores) all.add(one);  // in this order, whoever was first
  return all.metrics();
}

std::vector<std::string> ContinuationOutput::metric_notes(const Dataset&) const {
  return {concat("the text is read in windows of ", coding_->window,
                 " tokens; each token is predicted from those of its window before it")};
}

NamedTensors ContinuationOutput::fit_baselines(const Dataset& train, const LinearInputs&) const {
  NgramModel model(coding_->tokeniser->size());
  for_each_window(train, [&](const Batch&, const auto& windows) {
    for (const auto window : windows) model.add(window);
    return model.tokens() < kMostToCount;
  });
  return model.to_tensors();
}

std::vector<BaselineResult> ContinuationOutput::measure_baselines(const NamedTensors& fitted,
                                                                  const Dataset& rows,
                                                                  const LinearInputs&) const {
  const NgramModel model = NgramModel::from_tensors(fitted);
  std::array<TextScore, NgramModel::kOrder> scores;
  for_each_window(rows, [&](const Batch& batch, const auto& windows) {
    for (int64_t order = 1; order <= NgramModel::kOrder; ++order) {
      TextScore& score = scores[size_t(order - 1)];
      score.add_sizes(batch);
      for (const auto window : windows) {
        for (size_t end = 2; end <= window.size(); ++end)
          score.nats += model.nats(window.first(end), order);
        score.tokens += double(window.size()) - 1;
      }
    }
    return true;
  });
  std::vector<BaselineResult> results;
  for (const char* name : {"unigram", "bigram", "trigram"})
    results.push_back({name, scores[results.size()].metrics()});
  return results;
}

void ContinuationOutput::finish(const Model&, std::span<const Example> examples,
                                std::vector<Prediction>& predictions) const {
  for (size_t i = 0; i < predictions.size(); ++i) {
    const auto prompt = to_vector<int64_t>(examples[i].tensors.at("tokens"));
    for (Decoded& output : predictions[i].outputs)
      output.text =
          cut_at(continued_text(*coding_->tokeniser, prompt, output.tokens), options_->stop);
  }
}

Json ContinuationOutput::answer(const Example&, const Prediction& prediction) const {
  const auto to_json = [](const Decoded& output) {
    return Json{{"text", output.text},
                {"log_probability", output.log_probability},
                {"tokens", output.tokens.size()}};
  };
  if (prediction.outputs.empty()) return {{"text", ""}};
  Json json = to_json(prediction.outputs[0]);
  if (prediction.outputs.size() > 1)
    for (const Decoded& output : prediction.outputs) json["outputs"].push_back(to_json(output));
  return json;
}

std::string ContinuationOutput::answer_line(const Example&, const Prediction& prediction) const {
  std::vector<std::string> texts;
  for (const Decoded& output : prediction.outputs) texts.push_back(output.text);
  return join(texts, "\t");
}

Example ContinuationOutput::describe_output(const Example& example,
                                            const Prediction& prediction) const {
  Example described = example;
  if (prediction.outputs.empty() || prediction.outputs[0].tokens.empty()) return described;
  const HuggingFaceTokeniser& tokeniser = *coding_->tokeniser;
  const std::vector<int64_t>& made = prediction.outputs[0].tokens;
  const auto prompt = to_vector<int64_t>(example.tensors.at("tokens"));
  for (Axis& axis : described.axes) {
    if (axis.name != "tokens") continue;
    axis.output = true;
    const bool has_text = !axis.spans.empty();
    int64_t end = count_code_points(axis.text);
    TextStream stream(tokeniser, prompt);
    for (size_t i = 0; i < made.size(); ++i) {
      const std::string piece = has_text ? stream.add(made[i]) : "";
      const int64_t begin = end;
      end += count_code_points(piece);
      axis.text += piece;
      if (i + 1 == made.size()) break;  // nothing looks at the last one
      if (tokeniser.is_special(made[i])) axis.special.push_back(int64_t(axis.labels.size()));
      axis.labels.push_back(token_label(tokeniser, made[i]));
      if (has_text) axis.spans.push_back(piece.empty() ? Span{} : Span{begin, end});
    }
    if (has_text) axis.text += stream.finish();
  }
  return described;
}

}  // namespace fovea

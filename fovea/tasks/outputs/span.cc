#include "fovea/tasks/outputs/span.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/questions/encoder.h"
#include "fovea/metrics/answers.h"
#include "fovea/tasks/outputs/word_overlap.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kTokensOfBatch = 8192;
constexpr const char* kMostFrequentAnswer = "answer";  // of a baseline
constexpr double kNever = 1e9;                         // a preference that no threshold reaches

/// Whether an output says that there is no answer; `pieces` of its row.
bool is_refusal(const Decoded& output, const at::Tensor& pieces) {
  return pieces[output.tokens.at(0)].item<int64_t>() == kNoAnswer;
}

/// Of the outputs of a row the best span and "no answer"; null where there is none.
struct SpanChoice {
  const Decoded *span = nullptr, *none = nullptr;
};
SpanChoice choices_of(const std::vector<Decoded>& outputs, const at::Tensor& pieces) {
  SpanChoice choice;
  for (const Decoded& output : outputs) {
    const Decoded*& place = is_refusal(output, pieces) ? choice.none : choice.span;
    const bool better = !place || output.log_probability > place->log_probability;
    if (better) place = &output;
  }
  return choice;
}

/// How much more likely no answer is than the best span.
double preference_of(const SpanChoice& choice) {
  if (!choice.span) return kNever;
  return choice.none ? choice.none->log_probability - choice.span->log_probability : -kNever;
}

/// The code points of the text that an output covers; `spans` of its row.
Span span_of(const Decoded& output, const at::Tensor& spans) {
  return {spans[output.tokens.at(0)][0].item<int64_t>(),
          spans[output.tokens.at(1)][1].item<int64_t>()};
}

/// The right answers of a batch as if they were predicted: where the first window that holds it
/// does, or at the first place that says that there is none.
Predictions target_spans(const Batch& batch) {
  const at::Tensor pieces = batch.at("pieces").cpu(), starts = batch.at("starts").cpu(),
                   ends = batch.at("ends").cpu();
  Predictions targets;
  for (int64_t row = 0; row < batch.size; ++row) {
    const at::Tensor windows =
        (pieces[row] == kNoAnswer).nonzero().flatten();  // their first tokens
    Decoded target{{0, 0}, 0, ""};
    for (int64_t w = windows.size(0) - 1; w >= 0; --w) {
      const int64_t first = windows[w].item<int64_t>(), begin = starts[row][w].item<int64_t>();
      if (begin > 0 || w == 0)
        if (begin > 0 || target.tokens[1] == 0)
          target.tokens = {first + begin, first + ends[row][w].item<int64_t>()};
    }
    targets.outputs.push_back({target});
  }
  return targets;
}

/// The sentence with most words of the question; the first of several.
std::string likeliest_sentence(const std::string& text, const std::set<std::string>& asked) {
  std::string best;
  double most = -1;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find_first_of(".!?\n", begin);
    // A point within a number or a name ends nothing.
    while (end != std::string::npos && end + 1 < text.size() && text[end] != '\n' &&
           text[end + 1] != ' ' && text[end + 1] != '\n')
      end = text.find_first_of(".!?\n", end + 1);
    end = end == std::string::npos ? text.size() : end + 1;
    const std::string sentence(trim(std::string_view(text).substr(begin, end - begin)));
    const std::set<std::string> words = different_words(sentence);
    const auto shared = double(std::ranges::count_if(
        asked, [&](const std::string& word) { return words.contains(word); }));
    if (shared > most && !sentence.empty()) most = shared, best = sentence;
    begin = end;
  }
  return best;
}

/// Where the text begins in the axis's, behind the question and a line end.
int64_t begin_of_text(const Example& example) {
  const at::Tensor &pieces = example.tensors.at("pieces"), &spans = example.tensors.at("spans");
  const Axis& axis = example.axis("tokens");
  for (int64_t i = 0; i < pieces.size(0); ++i)
    if (pieces[i].item<int64_t>() >= 0)
      return axis.spans[size_t(i)].begin - spans[i][0].item<int64_t>();
  return 0;
}

}  // namespace

void SpanOptions::describe(OptionList& list) {
  list.add("no_answer", no_answer,
           "whether \"no answer\" is an answer; auto: where training questions had none")
      .choices({"auto", "yes", "no"});
  list.add("threshold", threshold,
           "no answer where its log-score is larger than the best span's by more than this; empty: "
           "as gives the best F1 on the validation rows, decided after training, else 0");
}

bool SpanOutput::may_refuse() const {
  return options_.no_answer == "yes" || (options_.no_answer == "auto" && trained_());
}

SpanOutput::AnsweredRows SpanOutput::answer_rows(const Model& model, const Dataset& rows,
                                                 const RowProgress& progress) const {
  AnsweredRows answered;
  answered.rows.resize(size_t(rows.size()));
  std::vector<double> nats(size_t(rows.size()), 0);  // by the first row of a batch
  over_rows(
      model, rows, kTokensOfBatch,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const Predictions predictions = model.predict(batch);
        const at::Tensor pieces = batch.at("pieces").cpu(), spans = batch.at("spans").cpu();
        for (size_t i = 0; i < picked.size(); ++i) {
          const SpanChoice choice = choices_of(predictions.outputs[i], pieces[int64_t(i)]);
          Answered& row = answered.rows[size_t(picked[i])];
          if (choice.span)
            row.text = cut_code_points(rows.input(picked[i])["text"].get<std::string>(),
                                       span_of(*choice.span, spans[int64_t(i)]));
          row.preference = preference_of(choice);
          row.right = rows.references(picked[i]);
        }
        nats[size_t(picked[0])] =
            -model.replay(batch, target_spans(batch), nullptr).sum().item<double>();
      },
      progress);
  double sum = 0;
  for (const double part : nats) sum += part;  // in this order, whatever thread was first
  answered.loss = sum / (2 * std::max(1.0, double(rows.size())));
  return answered;
}

Metrics SpanOutput::metrics_of(const AnsweredRows& answered) const {
  AnswerScore sum;
  for (const Answered& row : answered.rows) {
    const AnswerScore score =
        score_answer(refuses(row.preference) ? "" : row.text, row.right, may_refuse());
    sum.exact_match += score.exact_match, sum.f1 += score.f1;
  }
  const double count = std::max(1.0, double(answered.rows.size()));
  return {{"loss", answered.loss},
          {"exact_match", sum.exact_match / count, true},
          {"f1", sum.f1 / count, true}};
}

Metrics SpanOutput::measure(const Model& model, const Dataset& rows,
                            const RowProgress& progress) const {
  return metrics_of(answer_rows(model, rows, progress));
}

Evaluation SpanOutput::evaluate(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const {
  const AnsweredRows answered = answer_rows(model, rows, progress);
  Evaluation evaluation;
  evaluation.metrics = metrics_of(answered);
  evaluation.main = "f1";
  SummedMetric f1;
  AnsweredRows with, without;
  for (const Answered& row : answered.rows) {
    const std::string found = refuses(row.preference) ? "" : row.text;
    f1.rows.push_back({score_answer(found, row.right, may_refuse()).f1, 1});
    (row.right.empty() ? without : with).rows.push_back(row);
  }
  if (!without.rows.empty() && !with.rows.empty())
    for (const auto& [name, part] :
         {std::pair("answerable_", &with), std::pair("impossible_", &without)})
      for (const Metric& metric : metrics_of(*part))
        if (metric.name != "loss")
          evaluation.metrics.push_back({name + metric.name, metric.value, true});
  evaluation.interval = bootstrap_interval(f1);
  return evaluation;
}

NamedTensors SpanOutput::fit_baselines(const Dataset& train, const LinearInputs&) const {
  std::map<std::string, int64_t> counts;
  std::string most;
  int64_t largest = 0;
  for (int64_t row = 0; row < train.size(); ++row)
    for (const std::string& answer : train.references(row))
      if (const int64_t count = ++counts[answer]; count > largest) largest = count, most = answer;
  NamedTensors fitted;
  put_texts(kMostFrequentAnswer, {most}, fitted);
  return fitted;
}

std::vector<BaselineResult> SpanOutput::measure_baselines(const NamedTensors& fitted,
                                                          const Dataset& rows,
                                                          const LinearInputs&) const {
  if (rows.size() == 0) return {};
  AnsweredRows frequent, nothing, overlapping;
  const std::string most = kept_texts(kMostFrequentAnswer, fitted).at(0);
  for (int64_t row = 0; row < rows.size(); ++row) {
    const Json input = rows.input(row);
    const std::vector<std::string> right = rows.references(row);
    frequent.rows.push_back({most, -kNever, right});
    nothing.rows.push_back({"", kNever, right});
    overlapping.rows.push_back(
        {likeliest_sentence(input.at("text").get<std::string>(),
                            different_words(input.at("question").get<std::string>())),
         -kNever, right});
  }
  std::vector<BaselineResult> results;
  const auto add = [&](const char* name, const AnsweredRows& answered) {
    Metrics metrics = metrics_of(answered);
    metrics.erase(metrics.begin());  // a rule has no loss
    results.push_back({name, std::move(metrics)});
  };
  if (may_refuse()) add("no answer", nothing);
  add("most frequent answer", frequent);
  add("sentence with most words of the question", overlapping);
  return results;
}

void SpanOutput::check_options(bool) const {
  double ignored = 0;
  require(options_.threshold.empty() || parse_number(options_.threshold, ignored),
          ErrorKind::InvalidArgument, "output.threshold=", options_.threshold,
          ": expected a number, or nothing");
}

bool SpanOutput::fit_answers(Model& model, const Dataset& validation) {
  restore_answers({});
  if (!may_refuse() || !options_.threshold.empty() || validation.size() == 0) return false;
  // From refusing every question on: each row in turn is answered.
  struct Change {
    double preference, gain;  // of F1, once the row is answered
  };
  std::vector<Change> changes;
  for (const Answered& row : answer_rows(model, validation, {}).rows)
    changes.push_back({row.preference, score_answer(row.text, row.right, true).f1 -
                                           score_answer("", row.right, true).f1});
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.preference < b.preference; });
  double sum = 0, best = 0;
  threshold_ = changes.front().preference - 1;
  for (size_t i = 0; i < changes.size(); ++i) {
    sum += changes[i].gain;
    const bool last = i + 1 == changes.size();
    if (sum <= best || (!last && changes[i + 1].preference == changes[i].preference)) continue;
    best = sum;
    threshold_ =
        last ? changes[i].preference + 1 : (changes[i].preference + changes[i + 1].preference) / 2;
  }
  threshold_ = std::clamp(threshold_, -1e3, 1e3);
  return false;
}

Json SpanOutput::fitted_answers() const {
  return {{"no_answer", {{"threshold", threshold_}}}};
}

bool SpanOutput::restore_answers(const std::optional<Field>& fitted) {
  threshold_ = 0;
  check_options(/*has_validation=*/true);
  if (!options_.threshold.empty()) return parse_number(options_.threshold, threshold_);
  const auto known = fitted ? fitted->find("no_answer") : std::nullopt;
  if (known) threshold_ = known->at("threshold").finite();
  return true;
}

void SpanOutput::finish(const Model&, std::span<const Example> examples,
                        std::vector<Prediction>& predictions) const {
  for (size_t i = 0; i < predictions.size(); ++i) {
    const at::Tensor &pieces = examples[i].tensors.at("pieces"),
                     &spans = examples[i].tensors.at("spans");
    std::vector<Decoded>& outputs = predictions[i].outputs;
    const std::string& text = examples[i].axis("tokens").text;
    const int64_t begin = begin_of_text(examples[i]);
    for (Decoded& output : outputs) {
      if (is_refusal(output, pieces)) continue;
      const Span span = span_of(output, spans);
      output.text = cut_code_points(text, {span.begin + begin, span.end + begin});
    }
    const auto none = std::find_if(outputs.begin(), outputs.end(), [&](const Decoded& output) {
      return is_refusal(output, pieces);
    });
    if (none == outputs.end()) continue;
    if (refuses(preference_of(choices_of(outputs, pieces))))
      std::rotate(outputs.begin(), none, none + 1);
  }
}

std::string SpanOutput::truth(const Dataset& rows, int64_t row) const {
  const std::vector<std::string> right = rows.references(row);
  const bool agree = std::ranges::all_of(right, [&](const std::string& one) {
    return normalise_answer(one) == normalise_answer(right.front());
  });
  return right.empty() || !agree ? "" : right.front();
}

Json SpanOutput::answer(const Example& example, const Prediction& prediction) const {
  const at::Tensor &pieces = example.tensors.at("pieces"), &spans = example.tensors.at("spans");
  Json json{{"answer", nullptr}}, others = Json::array();
  bool first = true;
  for (const Decoded& output : prediction.outputs) {
    const double score = std::exp(output.log_probability);
    if (is_refusal(output, pieces)) {
      if (first) json["score"] = score;
      if (may_refuse()) json["no_answer"] = score;
    } else {
      const Span span = span_of(output, spans);
      const Json found{
          {"answer", output.text}, {"start", span.begin}, {"end", span.end}, {"score", score}};
      if (first)
        json.update(found);
      else
        others.push_back(found);
    }
    first = false;
  }
  if (!others.empty()) json["others"] = others;
  return json;
}

std::string SpanOutput::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  const bool answered = json["answer"].is_string();
  return concat(answered ? json["answer"].get<std::string>() : "no answer", "\t",
                format_number(json.value("score", 0.0), 6));
}

Json SpanOutput::answer_row(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  Json row{{"prediction", json["answer"]}};
  for (const char* key : {"start", "end", "score", "no_answer"})
    row[key] = json.contains(key) ? json[key] : Json();
  return row;
}

std::string SpanOutput::headline(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  const bool answered = json["answer"].is_string();
  return concat(answered ? json["answer"].get<std::string>() : "no answer", " (",
                format_number(json.value("score", 0.0), 3), ")");
}

std::vector<RowAnswer> SpanOutput::judge_rows(const PredictedRows& rows) const {
  const at::Tensor likelihoods = rows.model.replay(rows.batch, target_spans(rows.batch), nullptr)
                                     .to(at::kCPU, at::kDouble)
                                     .sum(1);  // [B]
  std::vector<RowAnswer> judged;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Json answered = answer(rows.examples[i], rows.predictions[i]);
    const std::string found = answered["answer"].is_string() ? answered["answer"] : Json("");
    const std::vector<std::string> right = rows.rows.references(rows.picked[i]);
    const AnswerScore score = score_answer(found, right, may_refuse());
    RowAnswer row;
    row.answer = answered["answer"].is_string() ? found : "no answer";
    row.truth = right.empty() ? "no answer" : right[0];
    row.probability = answered.value("score", RowAnswer::kUnknown);
    row.surprisal = -likelihoods[int64_t(i)].item<double>();
    row.distance = 1 - score.f1;
    row.right = score.exact_match == 1;
    judged.push_back(std::move(row));
  }
  return judged;
}

Example SpanOutput::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  if (prediction.outputs.empty()) return described;
  const std::vector<int64_t>& tokens = prediction.outputs[0].tokens;
  for (Axis& axis : described.axes) {
    if (axis.name != "tokens") continue;
    axis.values.assign(axis.labels.size(), "");
    for (int64_t i = tokens.at(0); i <= tokens.at(1); ++i) axis.values.at(size_t(i)) = "answer";
  }
  return described;
}

}  // namespace fovea

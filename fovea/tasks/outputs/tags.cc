#include "fovea/tasks/outputs/tags.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/metrics/entities.h"
#include "fovea/models/tagger.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kTokensTogether = 4096;  // of a batch that is measured
constexpr int64_t kOutside = 0;            // the tag O, where the tags spell entities
constexpr int64_t kEntitiesToFit = 30;     // fewer say nothing about the best F1
constexpr double kAsGood = 0.97;  // of the best F1: less than its standard error on 1,000 entities
// The nearest to 0 first: of several that are as good, it is taken.
constexpr double kShifts[] = {0,    0.25, -0.25, 0.5, -0.5, 0.75, -0.75, 1, -1,
                              1.25, 1.5,  1.75,  2,   2.25, 2.5,  2.75,  3};

constexpr const char *kWord = "word", *kWordTags = "word_tags";  // of a baseline

/// visit(words, tags) of every row.
template <class Visit>
void for_each_sentence(const Dataset& rows, const Visit& visit) {
  for (int64_t row = 0; row < rows.size(); ++row) {
    const at::Tensor tags = rows.batch({&row, 1}).at("target")[0].contiguous();  // [W]
    visit(rows.example(row).axis("words").labels, tags.data_ptr<int64_t>());
  }
}

/// Code points begin … end-1 of valid UTF-8.
std::string cut_span(const std::string& text, const Span& span) {
  std::string cut;
  int64_t position = -1;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) ++position;
    if (position >= span.begin && position < span.end) cut += byte;
  }
  return cut;
}

Json entities_json(const Axis& words, const std::vector<std::string>& tags) {
  Json entities = Json::array();
  for (const Entity& entity : to_entities(tags)) {
    const Span span{words.spans[size_t(entity.begin)].begin,
                    words.spans[size_t(entity.end - 1)].end};
    entities.push_back({{"type", entity.type},
                        {"text", cut_span(words.text, span)},
                        {"span", {span.begin, span.end}}});
  }
  return entities;
}

}  // namespace

void TagsOptions::describe(OptionList& list) {
  list.add("threshold", threshold,
           "how sure an entity must be: f1: as gives the best F1 on the validation rows, decided "
           "after training; none: likelier than no entity")
      .choices({"f1", "none"});
}

std::vector<std::string> TagsOutput::tag_names(std::span<const int64_t> tags) const {
  std::vector<std::string> names;
  for (const int64_t tag : tags) names.push_back(coding_().tags.at(size_t(tag)));
  return names;
}

TagsOutput::TaggedRows TagsOutput::tag_rows(const Model& model, const Dataset& rows,
                                            const RowProgress& progress) const {
  const auto& tagger = dynamic_cast<const Tagger&>(model);
  TaggedRows tagged;
  tagged.outputs.resize(size_t(rows.size()));
  tagged.targets.resize(size_t(rows.size()));
  std::vector<double> nats(size_t(rows.size()), 0);  // by the first row of a batch
  over_rows(
      model, rows, kTokensTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const Predictions answers = model.predict(batch);
        const at::Tensor target = batch.at("target").cpu().contiguous();  // [B, W]
        nats[size_t(picked[0])] = tagger.negative_log_likelihood(batch);
        for (size_t i = 0; i < picked.size(); ++i) {
          const std::vector<int64_t>& tags = answers.outputs[i][0].tokens;
          tagged.outputs[size_t(picked[i])] = tag_names(tags);
          tagged.targets[size_t(picked[i])] =
              tag_names({target.data_ptr<int64_t>() + int64_t(i) * target.size(1), tags.size()});
        }
      },
      progress);
  for (const double sum : nats) tagged.nats += sum;  // in this order, whatever thread was first
  return tagged;
}

Metrics TagsOutput::tag_metrics(std::span<const Tags> outputs,
                                std::span<const Tags> targets) const {
  double words = 0, right = 0;
  for (size_t row = 0; row < outputs.size(); ++row) {
    words += double(targets[row].size());
    for (size_t w = 0; w < outputs[row].size(); ++w) right += outputs[row][w] == targets[row][w];
  }
  require(words > 0, ErrorKind::BadData, "there are no words to measure on");
  Metrics metrics{{"token_accuracy", right / words, true}};
  if (coding_().entities) {
    const EntityScore found = score_entities(outputs, targets).all;
    metrics.push_back({"precision", found.precision(), true});
    metrics.push_back({"recall", found.recall(), true});
    metrics.push_back({"f1", found.f1(), true});
  }
  return metrics;
}

Metrics TagsOutput::measure(const TaggedRows& tagged, const Model& model,
                            const Dataset& rows) const {
  Metrics metrics = tag_metrics(tagged.outputs, tagged.targets);
  double words = 0;
  for (const Tags& target : tagged.targets) words += double(target.size());
  metrics.insert(metrics.begin(), {"loss", tagged.nats / words});
  if (rows.has_truth())
    if (const auto share = planted_truth(model, rows, "attention"))
      metrics.push_back({"attention_truth", *share, true});
  return metrics;
}

Metrics TagsOutput::measure(const Model& model, const Dataset& rows,
                            const RowProgress& progress) const {
  return measure(tag_rows(model, rows, progress), model, rows);
}

Evaluation TagsOutput::evaluate(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const {
  const TaggedRows tagged = tag_rows(model, rows, progress);
  Evaluation evaluation;
  evaluation.metrics = measure(tagged, model, rows);
  // Sentences are drawn, not words: those of one sentence depend on each other.
  SummedMetric metric;  // F1 is 2 right / (found + wanted)
  for (size_t row = 0; row < tagged.outputs.size(); ++row) {
    const Tags &output = tagged.outputs[row], &target = tagged.targets[row];
    double right = 0, both = 0;
    if (coding_().entities && !target.empty()) {
      const EntityScore own = score_entities({&output, 1}, {&target, 1}).all;
      right = 2 * double(own.right), both = double(own.found + own.wanted);
    } else if (!coding_().entities) {
      for (size_t w = 0; w < target.size(); ++w) right += output[w] == target[w];
      both = double(target.size());
    }
    metric.rows.push_back({right, both});
  }
  evaluation.main = coding_().entities ? "f1" : "token_accuracy";
  evaluation.interval = bootstrap_interval(metric);
  if (coding_().entities)
    for (const auto& [type, score] : score_entities(tagged.outputs, tagged.targets).by_type)
      evaluation.entities.emplace_back(type, score);
  return evaluation;
}

NamedTensors TagsOutput::fit_baselines(const Dataset& train, const LinearInputs&) const {
  const size_t count = coding_().tags.size();
  std::map<std::string, std::vector<int64_t>> counts;  // of each tag, by word
  std::vector<int64_t> of_all(count, 0);
  for_each_sentence(train, [&](const std::vector<std::string>& words, const int64_t* tags) {
    for (size_t w = 0; w < words.size(); ++w) {
      ++counts.try_emplace(words[w], count, 0).first->second.at(size_t(tags[w]));
      ++of_all.at(size_t(tags[w]));
    }
  });
  if (counts.empty()) return {};
  const auto most = [](const std::vector<int64_t>& own) {
    return int64_t(std::ranges::max_element(own) - own.begin());
  };
  std::vector<std::string> words;
  std::vector<int64_t> tags{most(of_all)};  // of an unknown word, then of each
  for (const auto& [word, own] : counts) {
    words.push_back(word);
    tags.push_back(most(own));
  }
  NamedTensors fitted{{kWordTags, torch::tensor(tags)}};
  put_texts(kWord, words, fitted);
  return fitted;
}

std::vector<BaselineResult> TagsOutput::measure_baselines(const NamedTensors& fitted,
                                                          const Dataset& rows,
                                                          const LinearInputs&) const {
  if (rows.size() == 0) return {};
  const std::vector<std::string> words = kept_texts(kWord, fitted);
  const std::vector<int64_t> known = to_vector<int64_t>(fitted.at(kWordTags));
  std::unordered_map<std::string, int64_t> tag_of;
  for (size_t w = 0; w < words.size(); ++w) tag_of[words[w]] = known.at(w + 1);
  std::vector<Tags> outputs, targets;
  for_each_sentence(rows, [&](const std::vector<std::string>& sentence, const int64_t* tags) {
    std::vector<int64_t> own;
    for (const std::string& word : sentence) {
      const auto found = tag_of.find(word);
      own.push_back(found == tag_of.end() ? known.at(0) : found->second);
    }
    outputs.push_back(tag_names(own));
    targets.push_back(tag_names({tags, sentence.size()}));
  });
  return {{"most frequent tag", tag_metrics(outputs, targets)}};
}

bool TagsOutput::fit_answers(Model& model, const Dataset& validation) {
  outside_shift_ = 0;
  if (options_.threshold == "none" || !coding_().entities) return false;
  auto& tagger = dynamic_cast<Tagger&>(model);
  std::vector<std::vector<EntityScore>> by_row(size_t(validation.size()));  // one for each shift
  over_rows(model, validation, kTokensTogether,
            [&](std::span<const int64_t> picked, const Batch& batch) {
              const at::Tensor target = batch.at("target").cpu().contiguous();  // [B, W]
              for (const Predictions& shifted : tagger.predict_shifted(batch, kOutside, kShifts))
                for (size_t i = 0; i < picked.size(); ++i) {
                  const std::vector<int64_t>& tags = shifted.outputs[i][0].tokens;
                  if (tags.empty()) continue;
                  const Tags found = tag_names(tags),
                             right =
                                 tag_names({target[int64_t(i)].data_ptr<int64_t>(), tags.size()});
                  by_row[size_t(picked[i])].push_back(score_entities({&found, 1}, {&right, 1}).all);
                }
            },
            {});
  std::vector<EntityScore> scores(std::size(kShifts));
  for (const std::vector<EntityScore>& row : by_row)
    for (size_t s = 0; s < row.size(); ++s) {
      scores[s].right += row[s].right;
      scores[s].found += row[s].found;
      scores[s].wanted += row[s].wanted;
    }
  if (scores[0].wanted < kEntitiesToFit) return false;
  double best = 0;
  for (const EntityScore& score : scores) best = std::max(best, score.f1());
  const auto chosen = std::find_if(scores.begin(), scores.end(), [&](const EntityScore& score) {
    return score.f1() >= kAsGood * best;
  });
  outside_shift_ = kShifts[chosen - scores.begin()];
  if (outside_shift_ == 0) return false;
  tagger.shift_tag(kOutside, outside_shift_);
  return true;
}

Json TagsOutput::fitted_answers() const {
  return {{"threshold", {{"rule", options_.threshold}, {"outside_shift", outside_shift_}}}};
}

bool TagsOutput::restore_answers(const std::optional<Field>& fitted) {
  outside_shift_ = 0;
  const auto known = fitted ? fitted->find("threshold") : std::nullopt;
  if (!known) return true;
  const std::string rule = known->at("rule").text();
  require(rule == options_.threshold, ErrorKind::InvalidArgument,
          "output.threshold=", options_.threshold, ": this run was trained with ", rule,
          ", which is part of its weights; train again");
  outside_shift_ = known->at("outside_shift").finite();
  return true;
}

Json TagsOutput::answer_row(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  Json row{{"prediction", join(json["tags"].get<std::vector<std::string>>(), " ")},
           {"words", join(json["words"].get<std::vector<std::string>>(), " ")}};
  if (json.contains("entities")) row["entities"] = json["entities"].dump();
  return row;
}

Json TagsOutput::answer(const Example& example, const Prediction& prediction) const {
  const Axis& words = example.axis("words");
  const std::vector<std::string> tags = tag_names(prediction.outputs.at(0).tokens);
  Json json = Json::object();
  if (coding_().entities) json["entities"] = entities_json(words, tags);
  json["words"] = words.labels;
  json["tags"] = tags;
  return json;
}

std::string TagsOutput::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  std::vector<std::string> parts;
  if (coding_().entities) {
    for (const Json& entity : json["entities"])
      parts.push_back(
          concat(entity["text"].get<std::string>(), " (", entity["type"].get<std::string>(), ")"));
    return parts.empty() ? "no entities" : join(parts, "\t");
  }
  for (size_t w = 0; w < json["words"].size(); ++w)
    parts.push_back(
        concat(json["words"][w].get<std::string>(), "/", json["tags"][w].get<std::string>()));
  return join(parts, " ");
}

std::string TagsOutput::headline(const Example& example, const Prediction& prediction) const {
  std::string line;
  for (const char letter : answer_line(example, prediction)) {
    if (letter == '\t')
      line += ", ";
    else
      line += letter;
  }
  return line;
}

std::vector<RowAnswer> TagsOutput::judge_rows(const PredictedRows& rows) const {
  const at::Tensor target = rows.batch.at("target").cpu().contiguous();  // [B, W]
  Predictions right;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t* first = target.data_ptr<int64_t>() + int64_t(i) * target.size(1);
    const size_t words = rows.predictions[i].outputs.at(0).tokens.size();
    right.outputs.push_back({{{first, first + words}, 0, ""}});
  }
  const at::Tensor likelihoods =
      rows.model.replay(rows.batch, right, nullptr).to(at::kCPU, at::kDouble).sum(1);  // [B]
  std::vector<RowAnswer> judged;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Decoded& found = rows.predictions[i].outputs[0];
    const std::vector<int64_t>& wanted = right.outputs[i][0].tokens;
    Prediction truth;
    truth.outputs = right.outputs[i];
    RowAnswer row;
    row.answer = headline(rows.examples[i], rows.predictions[i]);
    row.truth = headline(rows.examples[i], truth);
    row.probability = std::exp(found.log_probability);
    row.surprisal =
        -likelihoods[int64_t(i)].item<double>() / double(std::max<size_t>(1, wanted.size()));
    row.distance = 0;
    for (size_t w = 0; w < wanted.size(); ++w) row.distance += found.tokens[w] != wanted[w];
    row.right = row.distance == 0;
    judged.push_back(std::move(row));
  }
  return judged;
}

Example TagsOutput::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  if (prediction.outputs.empty()) return described;
  const std::vector<std::string> tags = tag_names(prediction.outputs[0].tokens);
  for (Axis& axis : described.axes) {
    axis.values.assign(axis.labels.size(), "");
    for (size_t w = 0; w < tags.size(); ++w) {
      const size_t unit = axis.name == "words"
                              ? w
                              : size_t(example.tensors.at("words")[int64_t(w)].item<int64_t>());
      if (tags[w] != "O") axis.values.at(unit) = tags[w];
    }
  }
  return described;
}

}  // namespace fovea

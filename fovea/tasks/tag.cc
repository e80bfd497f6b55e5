#include "fovea/tasks/tag.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/metrics/entities.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kTokensTogether = 4096;  // of a batch that is measured

/// Code points begin … end-1 of valid UTF-8.
std::string part_of_text(const std::string& text, const Span& span) {
  std::string part;
  int64_t position = -1;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) ++position;
    if (position >= span.begin && position < span.end) part += byte;
  }
  return part;
}

/// As a text where that is cut into the same words again.
Json input_of(const Sentence& sentence) {
  try {
    if (cut_sentence(sentence.text).words == sentence.words) return sentence.text;
  } catch (const Error&) {  // a build that cannot cut
  }
  return {{"words", sentence.words}};
}

Json entities_json(const Axis& words, const std::vector<std::string>& tags) {
  Json entities = Json::array();
  for (const Entity& entity : entities_of(tags)) {
    const Span span{words.spans[size_t(entity.begin)].begin,
                    words.spans[size_t(entity.end - 1)].end};
    entities.push_back({{"type", entity.type},
                        {"text", part_of_text(words.text, span)},
                        {"span", {span.begin, span.end}}});
  }
  return entities;
}

}  // namespace

TagTask::TagTask() {
  data_.packing.too_long = "windows";
  data_.packing.longest = 128;
  data_.packing.overlap = 32;
}

void TagTask::describe(OptionList& list) {
  struct Data {
    TaggingDataOptions& options;
    bool pieces;
    void describe(OptionList& own) { options.describe(own, pieces); }
  } data{data_, is_bert()};
  list.group("data", data);
  if (is_bert()) {
    list.find("data.too_long").choices({"windows", "refuse"});  // every word needs a tag
    list.group("model", bert_);
  } else {
    list.group("model", lstm_);
  }
  list.find("model.name").choices(models());
}

TrainingOptions TagTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 20;
  options.batch_size = 32;
  options.pool_batches = 20;
  options.micro_batches = 2;
  options.learning_rate = 2e-3;
  options.schedule = "cosine";
  options.warmup_steps = 50;
  options.clip_norm = 1;
  options.monitor = {"f1"};
  if (is_bert()) {
    options.epochs = 10;
    options.optimiser = "adamw";
    options.learning_rate = 3e-4;
    options.weight_decay = 0.01;
    options.schedule = "linear";
  }
  return options;
}

TrainingOptions TagTask::fine_tuning_defaults() const {
  TrainingOptions options = training_defaults();
  options.epochs = 8;
  options.learning_rate = 1e-4;
  return options;
}

Splits TagTask::load(const DataSource& source, uint64_t seed) {
  return noted(load_tagging(source, data_, is_bert(), coding_, seed));
}

void TagTask::write_data(const std::filesystem::path& folder) const {
  write_tagging_data(folder, data_);
}

void TagTask::load_pretrained(const std::filesystem::path& run_or_folder) {
  require(is_bert(), ErrorKind::InvalidArgument,
          "--from: model.name=lstm starts from nothing; add --set model.name=bert");
  BertTask::load_pretrained(run_or_folder);
}

TagRules TagTask::rules() const {
  return coding_.entities ? iob_rules(coding_.tags) : free_rules(int64_t(coding_.tags.size()));
}

std::unique_ptr<Model> TagTask::make_model() const {
  if (is_bert())
    return std::make_unique<BertTagger>(bert_, coding_.tokeniser->size(), data_.packing.longest,
                                        rules());
  const WordEncoder& words = *coding_.words;
  return std::make_unique<LstmTagger>(
      lstm_, LstmTaggerShape{words.words().size(), words.letters().size(), Vocabulary::kUnknown},
      rules());
}

void TagTask::save(const RunFolder& folder) const {
  folder.write_asset("tags.json", coding_.to_json());
  if (is_bert())
    save_wordpiece(folder, *coding_.tokeniser);
  else
    folder.write_asset("words.json", coding_.words->to_json());
}

void TagTask::restore(const RunFolder& folder) {
  coding_ =
      TagCoding::from_json(folder.read_asset("tags.json"), folder.asset("tags.json").string());
  if (is_bert())
    coding_.tokeniser = load_wordpiece(folder);
  else
    coding_.words = std::make_shared<const WordEncoder>(WordEncoder::from_json(
        folder.read_asset("words.json"), folder.asset("words.json").string()));
}

std::vector<std::string> TagTask::names_of(const std::vector<int64_t>& tags) const {
  std::vector<std::string> names;
  for (const int64_t tag : tags) names.push_back(coding_.tags.at(size_t(tag)));
  return names;
}

Metrics TagTask::measure(const Model& model, const Dataset& rows) const {
  const auto& sentences = dynamic_cast<const SentenceDataset&>(rows);
  const auto& tagger = dynamic_cast<const Tagger&>(model);
  std::vector<Tags> outputs(size_t(rows.size())), targets(size_t(rows.size()));
  std::vector<double> nats(size_t(rows.size()), 0);  // by the first row of a batch
  over_rows(
      model, rows, kTokensTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const Predictions answers = model.predict(batch);
        nats[size_t(picked[0])] = tagger.negative_log_likelihood(batch);
        for (size_t i = 0; i < picked.size(); ++i) {
          outputs[size_t(picked[i])] = names_of(answers.outputs[i][0].tokens);
          targets[size_t(picked[i])] = names_of(sentences.sentence(picked[i]).tags);
        }
      },
      progress);
  double sum = 0, words = 0, right = 0;
  for (size_t row = 0; row < outputs.size(); ++row) {
    sum += nats[row];
    words += double(targets[row].size());
    for (size_t w = 0; w < outputs[row].size(); ++w) right += outputs[row][w] == targets[row][w];
  }
  require(words > 0, ErrorKind::BadData, "there are no words to measure on");
  Metrics metrics{{"loss", sum / words}, {"token_accuracy", right / words, true}};
  if (coding_.entities) {
    const EntityScore found = score_entities(outputs, targets).all;
    metrics.push_back({"precision", found.precision(), true});
    metrics.push_back({"recall", found.recall(), true});
    metrics.push_back({"f1", found.f1(), true});
  }
  if (sentences.has_truth())
    if (const auto share = planted_truth(model, rows, "attention"))
      metrics.push_back({"attention_truth", *share, true});
  return metrics;
}

Example TagTask::parse(const std::string& line) const {
  Sentence sentence;
  if (is_json_object(line)) {
    const Json json = parse_json(line, "input");
    const bool fits = json.contains("words") && json["words"].is_array() &&
                      std::all_of(json["words"].begin(), json["words"].end(),
                                  [](const Json& word) { return word.is_string(); });
    require(fits, ErrorKind::BadData, "input: expected {\"words\": [\"a\", \"list\", …]}");
    sentence = sentence_of(json["words"].get<std::vector<std::string>>());
  } else {
    sentence = cut_sentence(line);
  }
  return coding_.encoder(data_)->example(sentence);
}

Json TagTask::input_schema() const {
  return {{"type", "string"}, {"description", "a sentence, or {\"words\": […]}"}};
}

Batch TagTask::collate(std::span<const Example> examples) const {
  return coding_.encoder(data_)->collate(examples);
}

void TagTask::finish(const Model& model, std::span<const Example> examples,
                     std::vector<Prediction>& predictions) const {
  for (size_t i = 0; i < predictions.size(); ++i)
    for (Decoded& output : predictions[i].outputs) {
      const Axis& words = examples[i].axis("words");
      const std::vector<std::string> tags = names_of(output.tokens);
      Json answer = Json::object();
      if (coding_.entities) answer["entities"] = entities_json(words, tags);
      answer["words"] = words.labels;
      answer["tags"] = tags;
      output.text = answer.dump();
    }
}

Json TagTask::answer(const Example& example, const Prediction& prediction) const {
  return parse_json(prediction.outputs.at(0).text, "answer");
}

std::string TagTask::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  std::vector<std::string> parts;
  if (coding_.entities) {
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

Example TagTask::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  if (prediction.outputs.empty()) return described;
  const std::vector<std::string> tags = names_of(prediction.outputs[0].tokens);
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

ExplainOptions TagTask::explain_options() const {
  ExplainOptions options;
  options.task = "tag";
  options.title = "Where the tagger looks";
  options.map_titles = {{"attention", is_bert() ? "tokens look at tokens" : "words look at words"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    return answer_line(example, prediction);
  };
  return options;
}

Example TagTask::erase(const Example& example, const std::string& axis,
                       std::span<const int64_t> units) const {
  const auto encoder = coding_.encoder(data_);
  if (axis != encoder->axis()) return Task::erase(example, axis, units);
  return encoder->erase(example, units);
}

std::vector<Json> TagTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& sentences = dynamic_cast<const SentenceDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row)
    inputs.push_back(input_of(sentences.sentence(row)));
  return inputs;
}

}  // namespace fovea

#include "fovea/tasks/pairs_task.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/data/pairs/prepared.h"
#include "fovea/data/pairs/reader.h"
#include "fovea/tasks/generation.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/task_predictor.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

const std::string kBlank = "\u2581";  // marks the beginning of a word
constexpr size_t kCopiedAtOnce = 32;  // outputs whose attention is looked at together

/// Which source token each output token looks at most: [B, T], or undefined without attention.
at::Tensor most_attended(const Tap& tap) {
  if (!has_map(tap, "attention")) return {};
  return dense_weights(tap.map("attention")).mean(1).argmax(-1).cpu();
}

}  // namespace

void WritingOptions::describe(OptionList& list) {
  SearchOptions::describe(list);
  list.add("copy_unknown", copy_unknown,
           "a word that the vocabulary lacks is copied from where the decoder looked");
}

Splits PairsTask::load(const DataSource& source, uint64_t seed) {
  pairs_.task = name();
  if (!source.path.empty()) return load_pairs(source, pairs_, tokenisers_, seed);
  check_roles(source, {});
  require(pairs_.direction.empty() && pairs_.test.empty(), ErrorKind::InvalidArgument,
          "data.direction and data.test choose among files; the built-in data has none");
  SplitRows<TextPair> drawn = built_in();
  PairTexts texts{std::move(drawn.train), std::move(drawn.validation), std::move(drawn.test)};
  if (pairs_.swap)
    for (auto* part : {&texts.train, &texts.validation, &texts.test})
      for (TextPair& pair : *part) swap_sides(pair);
  Splits splits = encode_splits(texts, pairs_, tokenisers_);
  ContentHash hash;
  hash.add(concat(name(), " ", built_in_options().dump()));
  for (const TextPair& pair : texts.train) hash.add(pair.source), hash.add(pair.references[0]);
  splits.hash = hash.text();
  splits.notes.insert(splits.notes.begin(), drawn.notes.begin(), drawn.notes.end());
  return splits;
}

void PairsTask::prepare(const DataSource& source, uint64_t seed,
                        const std::filesystem::path& path) {
  const Splits splits = load(source, seed);
  write_prepared(path, splits, tokenisers_, name(), options_json(pairs_));
}

void PairsTask::write_data(const std::filesystem::path& folder) const {
  SplitRows<TextPair> drawn = built_in();
  write_pairs(folder, {std::move(drawn.train), std::move(drawn.validation), std::move(drawn.test)},
              name(), built_in_options());
}

std::unique_ptr<Model> PairsTask::make_model() const {
  SequenceShape shape;
  shape.source_symbols = tokenisers_.source->vocabulary().size();
  shape.target_symbols = tokenisers_.target->vocabulary().size();
  shape.shared_vocabulary = tokenisers_.source == tokenisers_.target;
  shape.padding = Vocabulary::kPadding;
  shape.begin = Vocabulary::kBegin;
  shape.end = Vocabulary::kEnd;
  if (is_transformer()) return std::make_unique<Transformer>(transformer_, search_, shape);
  return std::make_unique<Seq2Seq>(model_, search_, shape);
}

void PairsTask::save(const RunFolder& folder) const {
  save_tokeniser(folder, "source", *tokenisers_.source);
  if (tokenisers_.target != tokenisers_.source)
    save_tokeniser(folder, "target", *tokenisers_.target);
}

void PairsTask::restore(const RunFolder& folder) {
  tokenisers_.source = load_tokeniser(folder, "source");
  const bool shared = !std::filesystem::exists(folder.asset("target.json"));
  tokenisers_.target = shared ? tokenisers_.source : load_tokeniser(folder, "target");
}

std::vector<std::string> PairsTask::pieces(const std::vector<int64_t>& tokens) const {
  const bool words = tokenisers_.target->kind() == "words";
  std::vector<std::string> texts;
  for (const int64_t token : tokens) {
    if (token == Vocabulary::kEnd) continue;
    const std::string& text = tokenisers_.target->vocabulary().token(token);
    texts.push_back(words && token == Vocabulary::kUnknown ? kBlank + text : text);
  }
  return texts;
}

void PairsTask::finish(const Model& model, std::span<const Example> examples,
                       std::vector<Prediction>& predictions) const {
  std::vector<Written> unknown;  // outputs with words that the vocabulary lacks
  for (size_t i = 0; i < predictions.size(); ++i)
    for (Decoded& output : predictions[i].outputs) {
      const auto& tokens = output.tokens;
      output.text = tokenisers_.target->join(pieces(tokens));
      const bool has_unknown =
          std::find(tokens.begin(), tokens.end(), Vocabulary::kUnknown) != tokens.end();
      if (has_unknown && search_.copy_unknown) unknown.push_back({&examples[i], &output});
    }
  for (size_t begin = 0; begin < unknown.size(); begin += kCopiedAtOnce)
    copy_unknown(
        model, std::span(unknown).subspan(begin, std::min(kCopiedAtOnce, unknown.size() - begin)));
}

void PairsTask::copy_unknown(const Model& model, std::span<const Written> written) const {
  torch::NoGradGuard no_gradients;
  std::vector<Example> examples;
  Predictions chosen;
  for (const Written& one : written) {
    examples.push_back(*one.example);
    const auto& tokens = one.output->tokens;  // those behind the last unknown one do not matter
    const auto last = std::find(tokens.rbegin(), tokens.rend(), Vocabulary::kUnknown).base();
    chosen.outputs.push_back({{{tokens.begin(), last}, 0, ""}});
  }
  Tap tap(Record::OnDemand);
  model.replay(collate(examples).to(model.device()), chosen, &tap);
  const at::Tensor looked_at = most_attended(tap);  // [B, T]
  if (!looked_at.defined()) return;
  for (size_t row = 0; row < written.size(); ++row) {
    Decoded& output = *written[row].output;
    const std::vector<std::string>& labels = examples[row].axis("source").labels;
    std::vector<std::string> texts = pieces(output.tokens);
    const int64_t* place = looked_at[int64_t(row)].data_ptr<int64_t>();
    for (size_t t = 0; t < texts.size(); ++t)
      if (output.tokens[t] == Vocabulary::kUnknown && size_t(place[t]) < labels.size())
        texts[t] = (tokenisers_.target->kind() == "words" ? kBlank : "") + labels[size_t(place[t])];
    output.text = tokenisers_.target->join(texts);
  }
}

Example PairsTask::parse(const std::string& line) const {
  std::string text = line;
  if (is_json_object(line)) {
    const Json json = parse_json(line, "input");
    require(json.contains("source") && json["source"].is_string(), ErrorKind::BadData,
            "input: expected {\"source\": \"a text\"}");
    text = json["source"].get<std::string>();
  }
  return encode_source(*tokenisers_.source, text);
}

Batch PairsTask::collate(std::span<const Example> examples) const {
  return collate_sources(examples);
}

InputColumns PairsTask::input_columns(const Roles& roles) const {
  if (pairs_.swap) return {};  // the columns of such files have no names of their own
  Direction names{"source", "target"};
  if (!pairs_.direction.empty()) names = parse_direction(pairs_.direction);
  InputColumns columns{{single_role(roles, "source", names.source)}, {names.target}, {"source"}};
  if (const auto targets = roles.find("target"); targets != roles.end())
    columns.known = targets->second;
  for (const char* role : {"links", "split"})
    columns.known.push_back(single_role(roles, role, role));
  columns.quotes = "no";
  columns.texts = true;
  return columns;
}

Json PairsTask::input_schema() const {
  return {{"type", "string"}};
}

Json PairsTask::answer(const Example& example, const Prediction& prediction) const {
  return generation_json(prediction);
}

std::string PairsTask::answer_line(const Example& example, const Prediction& prediction) const {
  return generation_line(prediction);
}

Example PairsTask::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  Axis axis{"target", "token", {}};
  axis.output = true;
  if (!prediction.outputs.empty())
    for (const int64_t token : prediction.outputs[0].tokens) {
      const bool is_end = token == Vocabulary::kEnd;
      if (is_end) axis.special.push_back(int64_t(axis.labels.size()));
      axis.labels.push_back(is_end ? "</s>" : tokenisers_.target->vocabulary().token(token));
    }
  if (is_transformer()) {  // what a position sees of the output: begin, and all before itself
    Axis written{"written", "token", {"<s>"}};
    written.output = true;
    written.special = {0};
    if (!axis.labels.empty())
      written.labels.insert(written.labels.end(), axis.labels.begin(), axis.labels.end() - 1);
    described.axes.push_back(std::move(written));
  }
  described.axes.push_back(std::move(axis));
  return described;
}

Example PairsTask::erase(const Example& example, const std::string& axis,
                         std::span<const int64_t> units) const {
  if (axis != "source") return Task::erase(example, axis, units);
  return erase_symbols(example, "source", units);
}

std::vector<Json> PairsTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& pairs = dynamic_cast<const PairDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, pairs.size()); ++row)
    inputs.push_back(pairs.source_text(row));
  return inputs;
}

ExplainOptions PairsTask::explain_options() const {
  ExplainOptions options;
  options.task = name();
  options.title = "Where the decoder looks while it writes";
  if (is_transformer())
    options.map_titles = {{"attention", "output looks at source"},
                          {"encoder", "source looks at itself"},
                          {"decoder", "output looks at what is written"}};
  else
    options.map_titles = {{"attention", concat(model_.score.name, ", ", model_.alignment.name)}};
  options.describe = [](const Example& example, const Prediction& prediction) {
    return prediction.outputs.empty() ? std::string() : prediction.outputs[0].text;
  };
  return options;
}

}  // namespace fovea

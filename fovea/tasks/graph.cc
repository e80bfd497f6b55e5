#include "fovea/tasks/graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/metrics/classification.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsTogether = 4096;  // nodes that are measured at once
constexpr int64_t kRowsOfTruth = 1000;
constexpr const char* kGraphAsset = "graph.safetensors";

std::vector<int64_t> first_rows(const Dataset& rows, int64_t most) {
  std::vector<int64_t> picked(size_t(std::min(rows.size(), most)));
  std::iota(picked.begin(), picked.end(), int64_t{0});
  return picked;
}

/// How much of the attention lies on neighbours that are known to matter. None where nothing is
/// known.
std::optional<double> planted_share(const Model& model, const NodeDataset& rows) {
  if (!rows.has_truth()) return {};
  torch::NoGradGuard no_gradients;
  const std::vector<int64_t> picked = first_rows(rows, kRowsOfTruth);
  const Batch batch = rows.batch(picked).to(model.device());
  Tap tap;
  model.replay(batch, model.predict(batch), &tap);
  const at::Tensor weights = tap.map("neighbours").weights.mean(1).flatten(1).cpu();  // [B, K]
  return attention_truth(weights, rows.truth(picked));
}

std::string text_of(const Json& name) {
  require(name.is_string() || name.is_number(), ErrorKind::BadData, "input: a node is ",
          name.type_name(), "; expected its name");
  return name.is_string() ? name.get<std::string>() : name.dump();
}

}  // namespace

void GraphTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
}

TrainingOptions GraphTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 200;
  options.batch_size = 1 << 20;  // all nodes at once
  options.learning_rate = 1e-2;
  options.weight_decay = 5e-4;
  options.monitor = {"loss", "accuracy"};
  options.patience = 100;
  return options;
}

Splits GraphTask::load(const DataSource& source, uint64_t seed) {
  return load_graph(source, data_, model_.layers, known_, seed);
}

void GraphTask::write_data(const std::filesystem::path& folder) const {
  write_graph_data(folder, data_);
}

std::unique_ptr<Model> GraphTask::make_model() const {
  const GraphCoding& coding = *known_.coding;
  return std::make_unique<GraphAttention>(
      model_,
      GraphShape{coding.features.width(), int64_t(coding.classes.size()), coding.class_counts});
}

void GraphTask::save(const RunFolder& folder) const {
  Json json = known_.coding->to_json();
  json["directed"] = known_.graph->directed;
  json["nodes"] = known_.graph->names_json();
  folder.write_asset("graph.json", json);
  write_safetensors(folder.new_asset(kGraphAsset), known_.graph->to_tensors());
}

void GraphTask::restore(const RunFolder& folder) {
  const std::string where = folder.asset("graph.json").string();
  const Json json = folder.read_asset("graph.json");
  known_.coding = std::make_shared<const GraphCoding>(GraphCoding::from_json(json, where));
  const Field root = Field::root(json, where);
  const bool directed = root.at("directed").mark();
  std::vector<std::string> names;
  root.at("nodes").each({}, [&](const Field& name) {
    name.expect(name.value().is_string() || name.value().is_number(), "the name of a node");
    names.push_back(text_of(name.value()));
  });
  const std::filesystem::path tensors = folder.asset(kGraphAsset);
  Graph graph = Graph::from_tensors(std::move(names), directed, read_safetensors(tensors).tensors,
                                    tensors.string());
  const auto classes = int64_t(known_.coding->classes.size());
  require(graph.width() == known_.coding->features.width() &&
              std::all_of(graph.labels.begin(), graph.labels.end(),
                          [&](int64_t label) { return label >= -1 && label < classes; }),
          ErrorKind::BadData, tensors.string(), ": does not fit ", where);
  known_.graph = std::make_shared<const Graph>(std::move(graph));
}

Metrics GraphTask::measure(const Model& model, const Dataset& given) const {
  const NodeDataset& rows = dynamic_cast<const NodeDataset&>(given).complete();
  std::vector<at::Tensor> scores, targets;
  const std::vector<int64_t> all = first_rows(rows, rows.size());
  for (int64_t begin = 0; begin < rows.size(); begin += kRowsTogether) {
    const auto picked =
        std::span(all).subspan(size_t(begin), size_t(std::min(kRowsTogether, rows.size() - begin)));
    const Batch batch = rows.batch(picked).to(model.device());
    scores.push_back(model.predict(batch).scores.cpu());  // [B, C]
    targets.push_back(batch.at("target").cpu());          // [B]
    if (progress) progress(begin + int64_t(picked.size()));
  }
  const at::Tensor score = torch::cat(scores), target = torch::cat(targets);
  Metrics metrics{{"loss", log_loss(score, target)},
                  {"accuracy", accuracy(score, target), true},
                  {"macro_f1", macro_f1(predicted_classes(score), target, score.size(1)), true}};
  if (const auto share = planted_share(model, rows))
    metrics.push_back({"attention_truth", *share, true});
  return metrics;
}

int64_t GraphTask::node_in(const Json& json) const {
  const std::string name = text_of(json);
  const int64_t node = known_.graph->find(name);
  require(node >= 0, ErrorKind::BadData, "input: the run's graph has no node '", name,
          "'; a new one is described by {\"features\": …, \"neighbours\": [nodes]}");
  return node;
}

FeatureRow GraphTask::features_in(const Json& json) const {
  const FeatureCoding& coding = known_.coding->features;
  std::map<int64_t, float> entries;
  const auto add = [&](const std::string& column, const Json& value) {
    require(value.is_number() && std::isfinite(value.get<float>()), ErrorKind::BadData,
            "input: the feature '", column, "' is ",
            value.is_number() ? "too large" : value.type_name(), "; expected a number");
    const int64_t place = coding.find(column);
    if (place >= 0) entries[place] += value.get<float>();  // others say nothing to this network
  };
  require(json.is_array() || json.is_object(), ErrorKind::BadData, "input: \"features\" is ",
          json.type_name(), "; expected a list, or {column: number}");
  if (json.is_object()) {
    for (const auto& [column, value] : json.items()) add(column, value);
  } else if (coding.dense) {
    require(int64_t(json.size()) == coding.width(), ErrorKind::BadData, "input: ", json.size(),
            " features, expected ", coding.width());
    for (size_t i = 0; i < json.size(); ++i) add(coding.columns[i], json[i]);
  } else {
    for (const Json& column : json) {
      require(column.is_string() || column.is_number(), ErrorKind::BadData, "input: a feature is ",
              column.type_name(), "; expected its name");
      add(column.is_string() ? column.get<std::string>() : column.dump(), 1);
    }
  }
  FeatureRow row;
  if (coding.dense) {
    require(int64_t(entries.size()) == coding.width(), ErrorKind::BadData,
            "input: ", entries.size(), " known features, expected ", coding.width(), ": ",
            join(coding.columns));
    for (const auto& [place, value] : entries) row.value.push_back(value);
  } else {
    for (const auto& [place, value] : entries)
      row.index.push_back(place), row.value.push_back(value);
  }
  coding.scale(row);
  return row;
}

Example GraphTask::parse(const std::string& line) const {
  const NodeEncoder encoder = this->encoder();
  if (!is_json_object(line)) {
    require(!trim(line).empty(), ErrorKind::BadData,
            "the input is empty; expected the name of a node, or a JSON object");
    return encoder.example(node_in(std::string(trim(line))));
  }
  const Json json = parse_json(line, "input");
  if (json.contains("node")) {
    require(!json.contains("features") && !json.contains("neighbours"), ErrorKind::BadData,
            "input: a node of the graph has its features and neighbours there; leave out \"node\" ",
            "to describe a new one");
    return encoder.example(node_in(json["node"]));
  }
  require(json.contains("features"), ErrorKind::BadData,
          "input: has neither \"node\" nor \"features\"; expected {\"node\": name}, or a new node, "
          "{\"features\": …, \"neighbours\": [nodes]}");
  DescribedNode node;
  node.features = features_in(json["features"]);
  const Json neighbours = json.value("neighbours", Json::array());
  require(neighbours.is_array(), ErrorKind::BadData, "input: \"neighbours\" is ",
          neighbours.type_name(), "; expected a list of nodes");
  for (const Json& name : neighbours) node.neighbours.push_back(node_in(name));
  std::sort(node.neighbours.begin(), node.neighbours.end());
  node.neighbours.erase(std::unique(node.neighbours.begin(), node.neighbours.end()),
                        node.neighbours.end());
  return encoder.example(node);
}

Json GraphTask::input_schema() const {
  const Json names{{"type", "array"}, {"items", {{"type", "string"}}}};
  return {
      {"type", "object"},
      {"properties", {{"node", {{"type", "string"}}}, {"features", names}, {"neighbours", names}}}};
}

Batch GraphTask::collate(std::span<const Example> examples) const {
  return encoder().collate(examples);
}

Json GraphTask::answer(const Example& example, const Prediction& prediction) const {
  const std::vector<std::string>& classes = known_.coding->classes;
  const auto best = size_t(prediction.scores.argmax().item<int64_t>());
  Json scores = Json::object();
  for (size_t c = 0; c < classes.size(); ++c)
    scores[classes[c]] = prediction.scores[int64_t(c)].item<double>();
  return {{"class", classes[best]}, {"probability", scores[classes[best]]}, {"scores", scores}};
}

std::string GraphTask::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["class"].get<std::string>(), "\t", format_number(json["probability"], 6));
}

ExplainOptions GraphTask::explain_options() const {
  ExplainOptions options;
  options.task = "graph";
  options.title = "Which neighbours the class of a node rests on";
  options.map_titles = {{"attention", "Who looks at whom"},
                        {"neighbours", "Neighbours that the answer rests on"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    const Json json = answer(example, prediction);
    return concat(json["class"].get<std::string>(), " (", format_number(json["probability"], 3),
                  ")");
  };
  return options;
}

Example GraphTask::erase(const Example& example, const std::string& axis,
                         std::span<const int64_t> units) const {
  return encoder().erase(example, axis, units);
}

std::vector<Json> GraphTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& nodes = dynamic_cast<const NodeDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row)
    inputs.push_back(nodes.name(row));
  return inputs;
}

}  // namespace fovea

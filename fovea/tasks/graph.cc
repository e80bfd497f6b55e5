// The task `graph`: which class a node belongs to, or which labels it has, from its features and
// from the nodes around it.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/graph/load.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/metrics/classification.h"
#include "fovea/models/graph_attention.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/by_kind.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsTogether = 4096;  // nodes that are measured at once
constexpr int64_t kRowsOfTruth = 1000;
constexpr const char* kGraphAsset = "graph.safetensors";

std::string node_name(const Json& name) {
  require(name.is_string() || name.is_number(), ErrorKind::BadData, "input: a node is ",
          name.type_name(), "; expected its name");
  return name.is_string() ? name.get<std::string>() : name.dump();
}

/// A list, or {column: number}.
FeatureRow features_in(const Json& json, const FeatureCoding& coding) {
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

/// {"node": "n3", "weight": 2}: what is known of the edge, scaled; what is not given is the mean.
std::vector<float> edge_in(const Json& json, const EdgeCoding& coding) {
  std::vector<float> values(coding.columns.size(), 0);
  for (const auto& [column, value] : json.items()) {
    if (column == "node") continue;
    const auto found = std::find(coding.columns.begin(), coding.columns.end(), column);
    require(found != coding.columns.end(), ErrorKind::BadData, "input: a neighbour has '", column,
            "', which the edges of this run do not have", suggestion(column, coding.columns));
    require(value.is_number() && std::isfinite(value.get<float>()), ErrorKind::BadData, "input: '",
            column, "' of a neighbour is ", value.type_name(), "; expected a number");
    const auto place = size_t(found - coding.columns.begin());
    values[place] = coding.scaled(value.get<float>(), place);
  }
  return values;
}

class GraphData : public DataKind {
 public:
  explicit GraphData(std::shared_ptr<const GraphAttentionOptions> model)
      : model_(std::move(model)) {}
  const GraphCoding& coding() const { return *known_.coding; }

  void describe(OptionList& list) override { options_.describe(list); }
  bool has_folds() const override { return false; }  // nodes are known by their neighbours
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_graph(source, options_, model_->layers, known_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_graph_data(folder, options_);
  }
  void save(const RunFolder& folder) const override {
    Json json = coding().to_json();
    json["directed"] = known_.graph->directed;
    json["nodes"] = known_.graph->names_json();
    folder.write_asset("graph.json", json);
    write_safetensors(folder.new_asset(kGraphAsset), known_.graph->to_tensors());
  }
  void restore(const RunFolder& folder) override {
    const std::string where = folder.asset("graph.json").string();
    const Json json = folder.read_asset("graph.json");
    known_.coding = std::make_shared<const GraphCoding>(GraphCoding::from_json(json, where));
    const Field root = Field::root(json, where);
    const bool directed = root.at("directed").mark();
    std::vector<std::string> names;
    root.at("nodes").each({}, [&](const Field& name) {
      name.expect(name.value().is_string() || name.value().is_number(), "the name of a node");
      names.push_back(node_name(name.value()));
    });
    const std::filesystem::path tensors = folder.asset(kGraphAsset);
    Graph graph = Graph::from_tensors(std::move(names), directed, read_safetensors(tensors).tensors,
                                      tensors.string());
    const auto classes = int64_t(coding().classes.size());
    require(graph.width() == coding().features.width() &&
                std::all_of(graph.labels.begin(), graph.labels.end(),
                            [&](int64_t label) { return label >= -1 && label < classes; }) &&
                std::all_of(graph.label_sets.begin(), graph.label_sets.end(),
                            [&](const auto& own) {
                              return std::all_of(own.begin(), own.end(), [&](int64_t label) {
                                return label >= 0 && label < classes;
                              });
                            }) &&
                (coding().kind == AnswerKind::Labels) != graph.label_sets.empty() &&
                graph.edge_width() == (graph.edges() > 0 ? coding().edges.width() : 0),
            ErrorKind::BadData, tensors.string(), ": does not fit ", where);
    known_.graph = std::make_shared<const Graph>(std::move(graph));
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"features", coding().features.width()}, {"classes", int64_t(coding().classes.size())}};
  }

  /// {"node": "…"}, or the name of a node alone: the run keeps the graph. Or a node that is not in
  /// it: {"features": ["word", …] or {"column": number, …}, "neighbours": ["…", …]}, where edges
  /// have features {"node": "…", "weight": 2} in place of a name.
  Example parse(const std::string& line) const override {
    if (!is_json_object(line)) {
      require(!trim(line).empty(), ErrorKind::BadData,
              "the input is empty; expected the name of a node, or a JSON object");
      return encoder().example(find_node(std::string(trim(line))));
    }
    const Json json = parse_json(line, "input");
    if (json.contains("node")) {
      require(!json.contains("features") && !json.contains("neighbours"), ErrorKind::BadData,
              "input: a node of the graph has its features and neighbours there; leave out ",
              "\"node\" to describe a new one");
      return encoder().example(find_node(json["node"]));
    }
    require(json.contains("features"), ErrorKind::BadData,
            "input: has neither \"node\" nor \"features\"; expected {\"node\": name}, or a new ",
            "node, {\"features\": …, \"neighbours\": [nodes]}");
    check_slips(json, {"neighbours"});
    DescribedNode node;
    node.features = features_in(json["features"], coding().features);
    const Json neighbours = json.value("neighbours", Json::array());
    require(neighbours.is_array(), ErrorKind::BadData, "input: \"neighbours\" is ",
            neighbours.type_name(), "; expected a list of nodes");
    const EdgeCoding& edges = coding().edges;
    std::map<int64_t, std::vector<float>> around;  // what is known of the edges, by neighbour
    for (const Json& one : neighbours) {
      const bool described = one.is_object() && one.contains("node");
      around.emplace(find_node(described ? one["node"] : one),
                     described ? edge_in(one, edges) : std::vector<float>(edges.columns.size(), 0));
    }
    for (const auto& [other, values] : around) {
      node.neighbours.push_back(other);
      node.edges.insert(node.edges.end(), values.begin(), values.end());
    }
    return encoder().example(node);
  }
  /// A .csv or .tsv with the names of nodes in a column.
  InputColumns input_columns(const Roles&) const override {
    InputColumns columns{{"node"}, {}, {}};
    columns.texts = true;  // a name may hold a comma
    return columns;
  }
  std::vector<std::string> input_notes(const Example& example) const override {
    const std::vector<std::string> known{"node", "features", "neighbours"};
    const std::string unknown = unknown_names_note(example.given, known);
    return unknown.empty() ? std::vector<std::string>() : std::vector{unknown};
  }
  Json input_schema() const override {
    const Json names{{"type", "array"}, {"items", {{"type", "string"}}}};
    Json node{{"type", "string"}, {"known", known_.graph->names_json()}}, features = names;
    features["known"] = coding().features.columns;
    if (coding().features.dense) features["additionalProperties"] = {{"type", "number"}};
    return {{"type", "object"},
            {"properties", {{"node", node}, {"features", features}, {"neighbours", names}}}};
  }
  /// The node's own features: what it is worth to look at others.
  LinearInputs linear_inputs(const Dataset& rows) const override {
    LinearInputs inputs;
    const auto* nodes = dynamic_cast<const NodeDataset*>(&rows);
    if (!nodes) return inputs;
    inputs.width = coding().features.width();
    inputs.weighs = false;
    for (int64_t row = 0; row < rows.size(); ++row) {
      const FeatureRow own = nodes->features(row);
      std::vector<std::pair<int64_t, float>> cells;
      for (size_t i = 0; i < own.value.size(); ++i)
        cells.emplace_back(own.index.empty() ? int64_t(i) : own.index[i], own.value[i]);
      inputs.add_row(cells);
    }
    return inputs;
  }
  Batch collate(std::span<const Example> examples) const override {
    return encoder().collate(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    return encoder().erase(example, axis, units);
  }

 private:
  NodeEncoder encoder() const { return known_.encoder(model_->layers); }
  int64_t find_node(const Json& json) const {
    const std::string name = node_name(json);
    const int64_t node = known_.graph->find(name);
    require(node >= 0, ErrorKind::BadData, "input: the run's graph has no node '", name,
            "'; a new one is described by {\"features\": …, \"neighbours\": [nodes]}");
    return node;
  }

  std::shared_ptr<const GraphAttentionOptions> model_;
  GraphDataOptions options_;
  KnownGraph known_;
};

/// How much of the attention lies on neighbours that are known to matter.
std::optional<double> share_on_informative(const Model& model, const Dataset& rows) {
  torch::NoGradGuard no_gradients;
  const std::vector<int64_t> picked = rows_from(rows, 0, kRowsOfTruth);
  const Batch batch = rows.batch(picked).to(model.device());
  Tap tap;
  model.replay(batch, model.predict(batch), &tap);
  const at::Tensor weights = tap.map("neighbours").weights.mean(1).flatten(1).cpu();  // [B, K]
  const at::Tensor keep = torch::zeros(weights.sizes(), torch::kBool);                // [B, K]
  for (size_t i = 0; i < picked.size(); ++i)
    if (const at::Tensor own = rows.map_truth(picked[i], "neighbours"); own.defined())
      keep[int64_t(i)].narrow(0, 0, own.size(1)).copy_(own[0]);
  return attention_truth(weights, keep);
}

/// Scores and targets of all rows. Nodes are measured many at a time, since they share what they
/// see.
std::pair<at::Tensor, at::Tensor> score_nodes(const Model& model, const Dataset& rows,
                                              const RowProgress& progress) {
  std::vector<at::Tensor> scores, targets;
  for (int64_t begin = 0; begin < rows.size(); begin += kRowsTogether) {
    const std::vector<int64_t> picked = rows_from(rows, begin, kRowsTogether);
    const Batch batch = rows.batch(picked).to(model.device());
    scores.push_back(model.predict(batch).scores.cpu());  // [B, C]
    targets.push_back(batch.at("target").cpu());          // [B] or [B, C]
    if (progress) progress(begin + int64_t(picked.size()));
  }
  return {torch::cat(scores), torch::cat(targets)};
}

/// The class of a node.
class NodeClassOutput : public ClassesOutput {
 public:
  using ClassesOutput::ClassesOutput;

 protected:
  Measured measure_scores(const Model& model, const Dataset& rows,
                          const RowProgress& progress) const override {
    const auto [score, target] = score_nodes(model, rows, progress);
    Metrics metrics{{"loss", log_loss(score, target)},
                    {"accuracy", accuracy(score, target), true},
                    {"macro_f1", macro_f1(predicted_classes(score), target, score.size(1)), true}};
    if (rows.has_truth())
      if (const auto share = share_on_informative(model, rows))
        metrics.push_back({"attention_truth", *share, true});
    return {metrics, {score, target}};
  }
};

/// The labels of a node.
class NodeLabelsOutput : public LabelsOutput {
 public:
  using LabelsOutput::LabelsOutput;
  /// As the paper does on PPI.
  std::vector<std::string> monitors(const std::vector<std::string>&) const override {
    return {"loss", "micro_f1"};
  }

 protected:
  LabelScores score(const Model& model, const Dataset& rows,
                    const RowProgress& progress) const override {
    const auto [scores, target] = score_nodes(model, rows, progress);
    return {scores.to(at::kFloat), target};
  }
  void add_truth(const Model& model, const Dataset& rows, Metrics& metrics) const override {
    if (!rows.has_truth()) return;
    if (const auto share = share_on_informative(model, rows))
      metrics.push_back({"attention_truth", *share, true});
  }
};

}  // namespace

static std::unique_ptr<Task> make_graph_task() {
  const auto options = std::make_shared<GraphAttentionOptions>();
  const auto data = std::make_shared<GraphData>(options);
  TrainingOptions training;
  training.epochs = 200;
  training.batch_size = 1 << 20;  // all nodes at once
  training.learning_rate = 1e-2;
  training.weight_decay = 5e-4;
  training.monitor = {"loss", "accuracy"};
  training.patience = 100;
  training.usual_steps = 300;
  ModelSpec spec = model_spec(
      {"gat"}, options, training,
      [data](const GraphAttentionOptions& own) {
        const GraphCoding& coding = data->coding();
        return std::make_unique<GraphAttention>(
            own, GraphShape{coding.features.width(), int64_t(coding.classes.size()),
                            coding.class_counts, coding.edges.width(), coding.kind, coding.rows});
      },
      [] {
        return ExplainTitles{"Which neighbours the class of a node rests on",
                             {{"attention", "Who looks at whom"},
                              {"neighbours", "Neighbours that the answer rests on"}}};
      });
  spec.tunables = {{"model.heads", 0, 0, {}, {"1", "2", "4", "8"}}};
  const auto classes = [data]() -> const std::vector<std::string>& {
    return data->coding().classes;
  };
  const auto output = std::make_shared<NodeClassOutput>(classes);
  return std::make_unique<Task>(
      "graph", data,
      std::make_shared<KindOutput>([data] { return data->coding().kind; }, output,
                                   std::make_shared<NodeLabelsOutput>(classes, output->options())),
      std::vector{std::move(spec)});
}

TaskRow graph_task() {
  return {
      "graph", "which class a node of a graph belongs to, or which labels it has",
      "node -> neighbours",
      "a folder: edges.tsv (two nodes a line), features.tsv (a node and its features), labels.tsv, "
      "split.tsv",
      make_graph_task};
}

}  // namespace fovea

#include "fovea/tasks/embeddings.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/explain/record/json.h"
#include "fovea/explain/record/labels.h"
#include "fovea/tasks/nearest.h"
#include "fovea/tensor/principal_components.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kNeighbours = 10;
constexpr int64_t kFewestClasses = 3;  // of two the points would lie on a line
constexpr size_t kRowsTogether = 64;
constexpr size_t kLongestLabel = 120;  // bytes

/// An embedding of the network and what its rows stand for.
struct NamedTable {
  std::string name;
  Tensor vectors;  // [V, D]
  std::vector<std::string> labels;
};

/// How well the symbols fit a table of that name: 0 not at all. A table may have rows that stand
/// for nothing, behind those of a vocabulary with its name.
int fit_of(const SymbolTable& symbols, const std::string& table, int64_t rows) {
  const auto count = int64_t(symbols.labels.size());
  const bool named = table.find(symbols.name) != std::string::npos;
  if (count == 0 || count > rows) return 0;
  return count == rows ? (named ? 3 : 2) : (named ? 1 : 0);
}

std::vector<NamedTable> tables_of(const Pipeline& pipeline) {
  const std::vector<SymbolTable> all = pipeline.task().symbols();
  std::vector<NamedTable> tables;
  for (const auto& module : pipeline.model().named_modules("", /*include_self=*/false)) {
    const auto* embedding = module.value()->as<torch::nn::EmbeddingImpl>();
    if (!embedding) continue;
    const Tensor vectors = embedding->weight.detach();
    const SymbolTable* best = nullptr;
    int best_fit = 0;
    for (const SymbolTable& symbols : all)
      if (const int fit = fit_of(symbols, module.key(), vectors.size(0)); fit > best_fit)
        best = &symbols, best_fit = fit;
    if (best) tables.push_back({best->name, vectors, best->labels});
  }
  return tables;
}

std::string short_text(const Json& input) {
  return shorten_bytes(input.is_string() ? input.get<std::string>() : input.dump(), kLongestLabel);
}

/// Rows of length 1; of length 0 they stay.
Tensor directions_of(const Tensor& vectors) {
  return vectors / vectors.norm(2, 1, true).clamp_min(1e-12);
}

}  // namespace

std::vector<std::string> embedding_names(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const NamedTable& table : tables_of(pipeline)) names.push_back(table.name);
  return names;
}

LabelledPoints vocabulary_points(const Pipeline& pipeline, const std::string& of, int64_t most) {
  const std::vector<NamedTable> tables = tables_of(pipeline);
  require(!tables.empty(), ErrorKind::Unsupported, "a ", pipeline.task().model_name(),
          " network of the task ", pipeline.task_name(), " has no embeddings of a vocabulary");
  const auto found = std::ranges::find_if(
      tables, [&](const NamedTable& table) { return of.empty() || table.name == of; });
  if (found == tables.end()) {
    const std::vector<std::string> names = embedding_names(pipeline);
    fail(ErrorKind::NotFound, "there are no embeddings of '", of, "'", suggestion(of, names),
         "; there are those of: ", join(names));
  }
  const auto all = int64_t(found->labels.size()), count = std::min(all, most);
  return {found->name,
          {found->labels.begin(), found->labels.begin() + count},
          {},
          found->vectors.narrow(0, 0, count).to(at::kCPU, at::kFloat),
          all};
}

LabelledPoints row_points(const Pipeline& pipeline, const Dataset& rows, int64_t most) {
  torch::NoGradGuard no_gradients;
  const Task& task = pipeline.task();
  const int64_t count = std::min(rows.size(), most);
  require(count > 0, ErrorKind::BadData, "the data set has no rows");
  LabelledPoints points{"rows", {}, {}, {}, rows.size()};
  std::vector<Tensor> blocks;
  for (int64_t first = 0; first < count;) {
    stop_if_asked();
    std::vector<Example> some;
    for (; first < count && some.size() < kRowsTogether; ++first) {
      some.push_back(rows.example(first));
      const Json input = task.input(rows, first);
      points.labels.push_back(input.is_null() ? concat("row ", first + 1) : short_text(input));
      points.groups.push_back(task.embeds() ? "" : task.truth(rows, first));
    }
    if (task.embeds()) {
      blocks.push_back(embed(pipeline, some));
      continue;
    }
    for (const Prediction& prediction : pipeline.predict(some)) {
      require(prediction.scores.defined() && prediction.scores.numel() >= kFewestClasses,
              ErrorKind::Unsupported, "rows are shown as points where a task gives embeddings or ",
              "chooses among three classes or more; a run of the task ", pipeline.task_name(),
              " does neither");
      blocks.push_back(
          prediction.scores.to(at::kCPU, at::kDouble).clamp_min(1e-12).log().view({1, -1}));
    }
  }
  if (std::ranges::all_of(points.groups, [](const std::string& group) { return group.empty(); }))
    points.groups.clear();
  points.vectors = torch::cat(blocks).to(at::kFloat);
  return points;
}

Json points_to_json(const LabelledPoints& points, const Pipeline& pipeline) {
  const PrincipalComponents found = principal_components(points.vectors, 2);
  const Tensor directions = directions_of(points.vectors);
  Json json{
      {"format", "fovea-embeddings"},
      {"version", 1},
      {"task", pipeline.task_name()},
      {"run", valid_utf8(pipeline.card().is_object() ? pipeline.card().value("name", "") : "")},
      {"name", points.name},
      {"of", points.of},
      {"numbers", points.vectors.size(1)},
      {"explained", numbers_to_json(found.explained)},
      {"labels", texts_to_json(points.labels)}};
  if (!points.groups.empty()) json["groups"] = texts_to_json(points.groups);
  const std::vector<double> places = to_vector<double>(found.coordinates);  // x, y, x, y, …
  json["points"] = Json::array();
  for (size_t i = 0; i < places.size(); i += 2)
    json["points"].push_back(
        {std::round(places[i] * 1e5) / 1e5, std::round(places[i + 1] * 1e5) / 1e5});
  json["neighbours"] = Json::array();
  const auto nearest = nearest_neighbours(directions, directions, kNeighbours + 1);
  for (size_t i = 0; i < nearest.size(); ++i) {
    Json own = Json::array();
    for (const Neighbour& neighbour : nearest[i])
      if (neighbour.index != int64_t(i) && own.size() < size_t(kNeighbours))
        own.push_back({neighbour.index, std::round(neighbour.cosine * 1e4) / 1e4});
    json["neighbours"].push_back(std::move(own));
  }
  return json;
}

Json embeddings_json(const Pipeline& pipeline, const std::string& of) {
  return points_to_json(vocabulary_points(pipeline, of), pipeline);
}

}  // namespace fovea

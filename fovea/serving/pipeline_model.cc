#include "fovea/serving/pipeline_model.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/explain/record/json.h"
#include "fovea/serving/http_error.h"
#include "fovea/serving/known_names.h"
#include "fovea/tasks/embeddings.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/train.h"
#include "fovea/tensor/to_vector.h"

namespace fovea::serving {

namespace {

/// Each model has a worker, which computes with LibTorch's threads (enter_worker). Those of
/// run_parallel() are one set for the whole program: they would serve whichever worker came first.
std::vector<std::string> with_one_thread(std::vector<std::string> assignments) {
  assignments.push_back("threads=1");
  return assignments;
}

/// Of each layer the mean of its heads: a weight for each of the last tokens.
Json attention_json(const std::vector<at::Tensor>& layers) {
  Json all = Json::array();
  for (const at::Tensor& layer : layers) {  // [H, K]
    Json row = Json::array();
    for (const double weight : to_vector<double>(layer.mean(0)))
      row.push_back(std::round(weight * 1e4) / 1e4);
    all.push_back(std::move(row));
  }
  return all;
}

GenerateOptions options_of(const GenerateRequest& request) {
  GenerateOptions options;
  SearchOptions& search = options.search;
  search.method = request.beam > 0 ? "beam" : request.temperature > 0 ? "sample" : "greedy";
  search.maximum_length = request.tokens;
  search.repetition_penalty = request.repetition_penalty;
  if (request.beam > 0) search.beam = request.beam;
  if (request.temperature > 0) search.temperature = request.temperature;
  search.top_k = request.top_k;
  search.top_p = request.top_p;
  search.seed = request.seed;
  options.stop = request.stop;
  options.attention = request.attention;
  return options;
}

int64_t units_along(const Example& example, const std::string& name) {
  for (const Axis& axis : example.axes)
    if (axis.name == name) return static_cast<int64_t>(axis.labels.size());
  return 1;
}

bool is_chosen(const std::vector<int64_t>& wanted, int64_t number) {
  return wanted.empty() || number == 0 ||
         std::find(wanted.begin(), wanted.end(), number) != wanted.end();
}

class PipelineModel : public ServedModel {
 public:
  PipelineModel(const std::filesystem::path& run, const PipelineOptions& options)
      : pipeline_(Pipeline::load(run, options.device, with_one_thread(options.assignments))),
        threads_(options.threads) {
    const Task& task = pipeline_.setup().task();
    const ExplainOptions shown = task.explain_options();
    card_.task = pipeline_.task_name();
    card_.title = shown.title;
    card_.input_schema = task.input_schema();
    names_.take(card_.input_schema);
    const Json measured = pipeline_.card().value("measured", Json::object());
    if (measured.contains("value") && measured["value"].is_number())
      card_.metric = {{"name", measured.value("metric", Json())},
                      {"value", measured["value"]},
                      {"rows", measured.value("split", Json())}};
    card_.note = pipeline_.unfinished();
    card_.embeddings = embedding_names(pipeline_);
    card_.parameters = count_parameters(pipeline_.model());
    if (std::filesystem::exists(pipeline_.folder().asset("examples.json")))
      card_.examples = pipeline_.folder().read_asset("examples.json");
    if (!card_.examples.is_array()) card_.examples = Json::array();
    for (const auto& [name, title] : shown.map_titles)
      card_.maps.push_back({{"name", name}, {"title", title}});
    if (!card_.examples.empty()) try_first_example();
    if (fovea::generates(pipeline_)) generator_.emplace(pipeline_);
  }

  const ModelCard& card() const override { return card_; }
  Example parse(const std::string& line) const override { return pipeline_.parse(line); }
  Json answer(const Example& example, const Prediction& prediction) const override {
    return pipeline_.setup().task().answer(example, prediction);
  }

  /// Of a run without examples nothing is known of its maps: they may look from everywhere to
  /// everywhere.
  int64_t weights(const Example& example, const ExplainRequest& request) const override {
    const int64_t all = units(example);
    return shape_ ? shape_->weights(example, request.heads) : all * all;
  }

  std::vector<std::string> names(const std::string& property,
                                 const std::string& text) const override {
    return names_.find(property, text);
  }

  void enter_worker() override { at::set_num_threads(threads_); }

  std::vector<Prediction> predict(std::span<const Example> examples) const override {
    return pipeline_.predict(examples);
  }

  Explanation explain(const Example& whole, const ExplainRequest& request) const override {
    const auto [example, without] = take_away(whole, request.without);
    const Prediction prediction = pipeline_.predict({&example, 1}).front();
    // How long the output is shows only now; the maps are yet to be made.
    check_weights(weights(pipeline_.describe_output(example, prediction), request),
                  request.most_weights);
    Explanation explanation = pipeline_.explain(example, prediction, request.heads);
    if (!request.truth.empty()) pipeline_.tell_truth(explanation, prediction, request.truth);
    if (request.faithfulness)
      explanation.faithfulness = measure_faithfulness(pipeline_, {&example, 1});
    explanation.without = without;
    return explanation;
  }

  void find_flip(const Example& example, const FlipRequest& request,
                 const Tell& tell) const override {
    FlipOptions options;
    options.axis = request.axis;
    options.most = request.most;
    options.progress = [&](int64_t done, int64_t most) {
      tell({{"predictions", done}, {"most_predictions", most}});
    };
    const Flip flip = pipeline_.find_flip(example, options);
    Json found{{"done", true},
               {"axis", flip.away.axis},
               {"units", flip.away.units},
               {"most", flip.most},
               {"predictions", flip.predictions}};
    if (!flip.away.units.empty()) {
      const auto [left, without] = pipeline_.take_away(example, {{flip.away}});
      found["labels"] = texts_to_json(without.units[0].labels);
      found["before"] = without.before.answer;
      found["after"] = answer(left, pipeline_.predict({&left, 1}).front());
    }
    tell(found);
  }

  QueryKey query_key(const Example& whole, const WeightPlace& place,
                     const std::vector<AxisUnits>& without) const override {
    return pipeline_.explain_weight(take_away(whole, without).first, place);
  }

  Json embeddings(const std::string& of) const override { return embeddings_json(pipeline_, of); }

  bool generates() const override { return generator_.has_value(); }
  void generate(const Example& example, const GenerateRequest& request,
                const Tell& tell) const override {
    const Decoded whole =
        generator_->generate(example, options_of(request), [&](const GeneratedToken& one) {
          Json event{{"token", one.token}, {"text", one.text}};
          if (request.beam == 0) event["log_probability"] = one.log_probability;
          if (!one.attention.empty()) event["attention"] = attention_json(one.attention);
          tell(event);
        });
    tell({{"done", true},
          {"text", whole.text},
          {"tokens", whole.tokens.size()},
          {"log_probability", whole.log_probability}});
  }

 private:
  using Taken = std::pair<Example, std::optional<TakenAway>>;
  Taken take_away(const Example& whole, const std::vector<AxisUnits>& away) const {
    if (away.empty()) return {whole, {}};
    try {
      return pipeline_.take_away(whole, away);
    } catch (const Error& error) {
      throw error_of_input(error, "without");
    }
  }

  /// The first request of a user should not be the slow one; and which maps this model really has
  /// shows only then. An example that no longer fits is no reason not to serve.
  void try_first_example() {
    const Json& first = card_.examples[0];
    try {
      const Explanation explanation = pipeline_.explain(
          pipeline_.parse(first.is_string() ? first.get<std::string>() : first.dump()), Heads::All);
      shape_.emplace(explanation);
      std::set<std::string> there;
      for (const MapView& map : explanation.maps) there.insert(map.name);
      Json maps = Json::array();
      for (const std::string& name : there) {
        Json entry{{"name", name}, {"title", name}};
        for (const Json& known : card_.maps)
          if (known["name"] == name) entry = known;
        maps.push_back(std::move(entry));
      }
      card_.maps = std::move(maps);
    } catch (const Error&) {
    }
  }

  Pipeline pipeline_;
  int threads_;
  ModelCard card_;
  KnownNames names_;
  std::optional<ExplanationShape> shape_;
  std::optional<TextGenerator> generator_;
};

}  // namespace

int64_t ServedModel::units(const Example& example) const {
  int64_t sum = 0;
  for (const Axis& axis : example.axes) sum += static_cast<int64_t>(axis.labels.size());
  return sum;
}

std::vector<std::string> ServedModel::names(const std::string& property,
                                            const std::string& text) const {
  return KnownNames().find(property, text);
}

QueryKey ServedModel::query_key(const Example&, const WeightPlace&,
                                const std::vector<AxisUnits>&) const {
  fail(ErrorKind::Unsupported, "this model has no queries and keys");
}

Json ServedModel::embeddings(const std::string&) const {
  fail(ErrorKind::Unsupported, "this model has no embeddings to show");
}

void ServedModel::generate(const Example&, const GenerateRequest&, const Tell&) const {
  fail(ErrorKind::Unsupported, "this model writes no text");
}

void ServedModel::find_flip(const Example&, const FlipRequest&, const Tell&) const {
  fail(ErrorKind::Unsupported, "no units of this model's inputs can be taken away");
}

void check_units(int64_t units, int64_t most, const std::string& field) {
  if (units > most)
    throw HttpError(422, "too_costly",
                    concat(field, ": more than the ", most,
                           " units that this server takes in one request; send less at a time"),
                    field);
}

void check_weights(int64_t weights, int64_t most) {
  if (weights > most)
    throw HttpError(422, "too_costly",
                    concat("input: its explanation would have ", weights,
                           " weights, this server gives at most ", most,
                           "; ask for \"heads\": \"mean\" or for some layers, without "
                           "faithfulness, or shorten the input"),
                    "input");
}

ExplanationShape::ExplanationShape(const Explanation& first) {
  for (const MapView& view : first.maps) {
    Map map{view.query_axis, view.key_axis, view.layer, view.head, false, 0};
    map.of_stack = view.name.ends_with(" rollout") || view.name.ends_with(" flow");
    if (view.layout != MapLayout::Dense)
      map.weights_per_query = static_cast<double>(view.weights.size()) /
                              static_cast<double>(std::max<size_t>(1, view.queries()));
    maps_.push_back(std::move(map));
  }
}

int64_t ExplanationShape::weights(const Example& example, const HeadChoice& choice) const {
  double sum = 0;
  const bool mean = choice.all == Heads::Mean && choice.heads.empty();
  for (const Map& map : maps_) {
    if (map.of_stack && !choice.is_everything()) continue;
    if (!is_chosen(choice.layers, map.layer) || !is_chosen(choice.heads, map.head)) continue;
    if (mean && map.head > 1) continue;
    const auto queries = static_cast<double>(units_along(example, map.query_axis));
    sum += queries * (map.weights_per_query > 0
                          ? map.weights_per_query
                          : static_cast<double>(units_along(example, map.key_axis)));
  }
  return static_cast<int64_t>(std::min(sum, 0x1p62));
}

ModelSource source_of_run(const std::filesystem::path& run, const std::string& name,
                          const PipelineOptions& options) {
  std::string own = std::filesystem::absolute(run).lexically_normal().filename().string();
  if (own.empty())  // "runs/dates/"
    own = std::filesystem::absolute(run).lexically_normal().parent_path().filename().string();
  ModelSource source;
  source.name = name.empty() ? own : name;
  source.task = setup_of(run).task_name();
  source.load = [run, options] { return std::make_unique<PipelineModel>(run, options); };
  return source;
}

bool run_has_option(const std::filesystem::path& run, const std::string& assignment) {
  return setup_of(run).options().has(assignment.substr(0, assignment.find('=')));
}

}  // namespace fovea::serving

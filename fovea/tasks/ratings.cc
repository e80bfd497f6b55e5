#include "fovea/tasks/ratings.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/metrics/regression.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kWordsTogether = 16384;  // of a batch that is measured
constexpr const char* kReviewsAsset = "reviews.safetensors";

/// The maps that a model may have, in the order in which they are shown.
constexpr const char* kMaps[] = {"user reviews", "user words", "user local", "user global",
                                 "item reviews", "item words", "item local", "item global"};

/// A name as the user gave it; "" where there is none.
std::string name_in(const Json& json, const char* key) {
  if (!json.contains(key) || json[key].is_null()) return "";
  const Json& value = json[key];
  require(value.is_string() || value.is_number(), ErrorKind::BadData, "input: \"", key, "\" is ",
          value.type_name(), "; expected the name of ", std::string(key) == "user" ? "a " : "an ",
          key);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The reviews that were given with an input, or nothing.
std::optional<std::vector<StoredReview>> reviews_in(const Json& json, const std::string& key,
                                                    const RatingEncoder& encoder) {
  if (!json.contains(key)) return {};
  const std::string expected = concat("input: \"", key, "\" must be a list of texts, or of {",
                                      "\"text\": …, \"rating\": number}");
  require(json[key].is_array(), ErrorKind::BadData, expected, "; found ", json[key].type_name());
  std::vector<StoredReview> reviews;
  for (const Json& one : json[key]) {
    const bool is_object = one.is_object() && one.contains("text") && one["text"].is_string();
    require(one.is_string() || is_object, ErrorKind::BadData, expected);
    const Json rating = is_object ? one.value("rating", Json()) : Json();
    require(rating.is_null() || rating.is_number(), ErrorKind::BadData, expected);
    reviews.push_back(
        encoder.review_of(is_object ? one["text"].get<std::string>() : one.get<std::string>(),
                          rating.is_null() ? std::nan("") : rating.get<double>()));
  }
  return reviews;
}

/// A line "user<TAB>item" as an object.
Json pair_of(const std::string& line) {
  const std::vector<std::string> cells = parse_csv_line(line, delimiter_of(line));
  require(cells.size() == 2 && !trim(cells[0]).empty() && !trim(cells[1]).empty(),
          ErrorKind::BadData,
          "input: expected {\"user\": …, \"item\": …}, or a user and an item with a tab or a comma "
          "between them");
  return {{"user", std::string(trim(cells[0]))}, {"item", std::string(trim(cells[1]))}};
}

}  // namespace

ReviewReading RatingsTask::reading() const {
  const std::string name = model_name();
  return name == "mpcn"    ? ReviewReading::Reviews
         : name == "dattn" ? ReviewReading::Document
                           : ReviewReading::Nothing;
}

void RatingsTask::describe(OptionList& list) {
  struct Data {
    RatingsDataOptions& options;
    ReviewReading reading;
    void describe(OptionList& own) { options.describe(own, reading); }
  } data{data_, reading()};
  list.group("data", data);
  if (reading() == ReviewReading::Reviews) list.group("model", pointers_);
  if (reading() == ReviewReading::Document) list.group("model", dual_);
  if (is_baseline()) {
    baseline_.name = model_name();
    list.group("model", baseline_);
  }
  list.find("model.name").choices(models());
}

TrainingOptions RatingsTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 20;
  options.batch_size = 64;
  options.pool_batches = 10;
  options.micro_batches = 2;
  options.learning_rate = reading() == ReviewReading::Reviews ? 5e-3 : 2e-3;
  options.schedule = "cosine";
  options.clip_norm = 1;
  options.monitor = {"mse"};
  options.patience = 8;
  if (is_baseline()) {
    options.epochs = 60;
    options.batch_size = 256;
    options.pool_batches = 0;
    options.micro_batches = 1;
    options.learning_rate = 1e-2;
    options.clip_norm = 0;
    options.patience = 0;
  }
  if (model_name() == "mean") {  // it begins where it should end
    options.epochs = 1;
    options.learning_rate = 1e-6;
  }
  return options;
}

Splits RatingsTask::load(const DataSource& source, uint64_t seed) {
  return load_ratings(source, data_, reading(), coding_, seed);
}

void RatingsTask::write_data(const std::filesystem::path& folder) const {
  write_ratings_data(folder, data_);
}

std::unique_ptr<Model> RatingsTask::make_model() const {
  RatingShape shape;
  shape.users = coding_.store->users();
  shape.items = coding_.store->items();
  shape.words = coding_.vocabulary->size();
  shape.mean = coding_.mean;
  shape.lowest = coding_.lowest;
  shape.highest = coding_.highest;
  shape.ratings = coding_.store->size();
  if (reading() == ReviewReading::Reviews)
    return std::make_unique<MultiPointer>(pointers_, shape, data_.words);
  if (reading() == ReviewReading::Document) return std::make_unique<DualAttention>(dual_, shape);
  return std::make_unique<RatingBaseline>(baseline_, shape);
}

void RatingsTask::save(const RunFolder& folder) const {
  folder.write_asset("ratings.json", coding_.to_json());
  write_safetensors(folder.new_asset(kReviewsAsset), coding_.store->to_tensors());
}

void RatingsTask::restore(const RunFolder& folder) {
  const std::filesystem::path reviews = folder.asset(kReviewsAsset);
  coding_ = RatingCoding::from_json(
      folder.read_asset("ratings.json"),
      ReviewStore::from_tensors(read_safetensors(reviews).tensors, reviews.string()),
      folder.asset("ratings.json").string());
}

Metrics RatingsTask::measure(const Model& model, const Dataset& rows) const {
  const at::Tensor values = torch::zeros({rows.size()}), targets = torch::zeros({rows.size()});
  over_rows(
      model, rows, kWordsTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const at::Tensor own = model.predict(batch).values.cpu();  // [B, 1]
        const at::Tensor wanted = batch.at("target").cpu();        // [B]
        for (size_t i = 0; i < picked.size(); ++i) {
          values[picked[i]] = own[int64_t(i)][0];
          targets[picked[i]] = wanted[int64_t(i)];
        }
      },
      progress);
  Metrics metrics{
      {"mse", mean_squared_error(values, targets)},
      {"mae", mean_absolute_error(values, targets)},
      {"rmse", root_mean_squared_error(values, targets)},
      {"mse_of_mean", mean_squared_error(torch::full_like(targets, coding_.mean), targets)}};
  if (is_baseline() || !dynamic_cast<const RatingDataset&>(rows).has_truth()) return metrics;
  double sum = 0, count = 0;
  for (const std::string map : kMaps)
    if (const auto share = planted_truth(model, rows, map)) {
      std::string name = "truth_" + map;
      std::replace(name.begin(), name.end(), ' ', '_');
      metrics.push_back({name, *share, true});
      sum += *share, ++count;
    }
  if (count > 0) metrics.push_back({"attention_truth", sum / count, true});
  return metrics;
}

Example RatingsTask::parse(const std::string& line) const {
  const Json json = is_json_object(line) ? parse_json(line, "input") : pair_of(line);
  const RatingEncoder encoder = this->encoder();
  const std::string names[] = {name_in(json, "user"), name_in(json, "item")};
  const RatingTarget target{coding_.store->user(names[kUserSide]),
                            coding_.store->item(names[kItemSide])};
  Histories histories = encoder.histories(target);
  std::optional<std::vector<StoredReview>> own[kReviewSides];
  for (const ReviewSide side : {kUserSide, kItemSide}) {
    const std::string key = concat(kSideNames[side], "_reviews");
    if (encoder.reads()) own[side] = reviews_in(json, key, encoder);
    require(own[side] || !names[side].empty(), ErrorKind::BadData, "input: has neither \"",
            kSideNames[side], "\" nor \"", key, "\"; expected {\"user\": …, \"item\": …}",
            encoder.reads() ? ", or reviews of one's own" : "");
    if (own[side]) histories[side] = encoder.history_of(*own[side]);
  }
  return encoder.example(target, histories);
}

InputColumns RatingsTask::input_columns(const Roles& roles) const {
  const auto name = [&](const char* role) { return single_role(roles, role, role); };
  InputColumns columns{{name("user"), name("item")}, {}, {"user", "item"}};
  for (const char* role : {"rating", "text", "time", "split"}) columns.known.push_back(name(role));
  columns.quotes = data_.quotes;
  return columns;
}

Json RatingsTask::input_schema() const {
  const Json name{{"type", "string"}};
  Json properties{{"user", name}, {"item", name}};
  if (!is_baseline())
    for (const char* key : {"user_reviews", "item_reviews"})
      properties[key] = {{"type", "array"}, {"items", {{"type", "string"}}}};
  Json schema{{"type", "object"}, {"properties", properties}};
  if (is_baseline()) schema["required"] = {"user", "item"};
  return schema;
}

Batch RatingsTask::collate(std::span<const Example> examples) const {
  return encoder().collate(examples);
}

void RatingsTask::finish(const Model&, std::span<const Example> examples,
                         std::vector<Prediction>& predictions) const {
  for (size_t i = 0; i < predictions.size(); ++i) {
    Json known = Json::object();
    for (const char* side : kSideNames) {
      const NamedTensors& tensors = examples[i].tensors;
      known[side]["known"] = tensors.at(side).item<int64_t>() > 0;
      if (!is_baseline()) known[side]["reviews"] = tensors.at(concat(side, "_lengths")).numel();
    }
    predictions[i].outputs = {Decoded{{}, 0, known.dump()}};
  }
}

Json RatingsTask::answer(const Example& example, const Prediction& prediction) const {
  Json json{{"rating", prediction.values[0].item<double>()}};
  if (!prediction.outputs.empty()) json.update(parse_json(prediction.outputs[0].text, "answer"));
  return json;
}

std::string RatingsTask::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  std::string line = format_number(json["rating"], 4);
  for (const char* side : kSideNames)
    if (json.contains(side) && !json[side]["known"].get<bool>() &&
        json[side].value("reviews", 0) == 0)
      line += concat("\tthis ", side, " is not known");
  return line;
}

Explanation RatingsTask::overview(const Model& model, const Dataset& rows) const {
  require(!is_baseline(), ErrorKind::Unsupported, "explain: model.name=", model_name(),
          " reads nothing and has no attention to show; train mpcn or dattn");
  return Task::overview(model, rows);
}

ExplainOptions RatingsTask::explain_options() const {
  ExplainOptions options;
  options.task = "ratings";
  options.title = "Which reviews, and which words of them, the rating rests on";
  options.map_titles = {{"user reviews", "Reviews by the user"},
                        {"user words", "Words by the user"},
                        {"user local", "Words by the user, in their window"},
                        {"user global", "Words by the user, in all of the reviews"},
                        {"item reviews", "Reviews of the item"},
                        {"item words", "Words about the item"},
                        {"item local", "Words about the item, in their window"},
                        {"item global", "Words about the item, in all of the reviews"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    return concat("rating ", format_number(prediction.values[0].item<double>(), 3), " (",
                  format_number(coding_.lowest, 4), " to ", format_number(coding_.highest, 4), ")");
  };
  return options;
}

Example RatingsTask::erase(const Example& example, const std::string& axis,
                           std::span<const int64_t> units) const {
  return encoder().erase(example, axis, units);
}

std::vector<Json> RatingsTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& ratings = dynamic_cast<const RatingDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row)
    inputs.push_back({{"user", ratings.user(row)}, {"item", ratings.item(row)}});
  return inputs;
}

}  // namespace fovea

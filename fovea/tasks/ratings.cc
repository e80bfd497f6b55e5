// The task `ratings`: how highly a user will rate an item, from the reviews of both, with baselines
// that read nothing.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/ratings/load.h"
#include "fovea/data/tokenisers/word_vectors.h"
#include "fovea/metrics/regression.h"
#include "fovea/models/dual_attention.h"
#include "fovea/models/multi_pointer.h"
#include "fovea/models/rating_baselines.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/numbers.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/rows.h"
#include "fovea/tasks/symbols.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kWordsTogether = 16384;  // of a batch that is measured
constexpr int64_t kRatingsTogether = 256;  // of a batch that is looked through
constexpr const char* kReviewsAsset = "reviews.safetensors";

/// The maps that a model may have, in the order in which they are shown.
const std::pair<const char*, const char*> kRatingMaps[] = {
    {"user reviews", "Reviews by the user"},
    {"user words", "Words by the user"},
    {"user local", "Words by the user, in their window"},
    {"user global", "Words by the user, in all of the reviews"},
    {"item reviews", "Reviews of the item"},
    {"item words", "Words about the item"},
    {"item local", "Words about the item, in their window"},
    {"item global", "Words about the item, in all of the reviews"}};

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
Json parse_user_item(const std::string& line) {
  const std::vector<std::string> cells = parse_csv_line(line, delimiter_of(line));
  require(cells.size() == 2 && !trim(cells[0]).empty() && !trim(cells[1]).empty(),
          ErrorKind::BadData,
          "input: expected {\"user\": …, \"item\": …}, or a user and an item with a tab or a comma "
          "between them");
  return {{"user", std::string(trim(cells[0]))}, {"item", std::string(trim(cells[1]))}};
}

class RatingsData : public DataKind {
 public:
  /// `embedding` is model.embedding of a model that reads, to be set where vectors have another.
  RatingsData(ReviewReading reading, std::shared_ptr<int64_t> embedding)
      : reading_(reading),
        embedding_(std::move(embedding)),
        usual_embedding_(embedding_ ? *embedding_ : 0) {}
  const RatingsDataOptions& options() const { return options_; }
  const RatingCoding& coding() const { return coding_; }
  /// Those of data.vectors, while a run is trained.
  const std::optional<WordVectors>& vectors() const { return vectors_; }
  bool reads() const { return reading_ != ReviewReading::Nothing; }
  RatingShape shape() const {
    RatingShape shape;
    shape.users = coding_.store->users();
    shape.items = coding_.store->items();
    shape.words = coding_.vocabulary->size();
    shape.mean = coding_.mean;
    shape.lowest = coding_.lowest;
    shape.highest = coding_.highest;
    shape.ratings = coding_.store->size();
    return shape;
  }

  void describe(OptionList& list) override { options_.describe(list, reading_); }
  bool has_folds() const override { return false; }  // reviews are cut by user or in time
  Splits load(const DataSource& source, uint64_t seed) override {
    const bool is_first = !coding_.fitted();
    Splits splits = load_ratings(source, options_, reading_, coding_, seed);
    if (is_first && !options_.vectors.empty())
      vectors_ = read_first_vectors(options_.vectors, *coding_.vocabulary,
                                    {*embedding_, usual_embedding_}, splits.notes);
    return splits;
  }
  void write(const std::filesystem::path& folder) const override {
    write_ratings_data(folder, options_);
  }
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("words", *coding_.vocabulary)};
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset("ratings.json", coding_.to_json());
    write_safetensors(folder.new_asset(kReviewsAsset), coding_.store->to_tensors());
  }
  void restore(const RunFolder& folder) override {
    const std::filesystem::path reviews = folder.asset(kReviewsAsset);
    coding_ = RatingCoding::from_json(
        folder.read_asset("ratings.json"),
        ReviewStore::from_tensors(read_safetensors(reviews).tensors, reviews.string()),
        folder.asset("ratings.json").string());
  }

  /// {"user": …, "item": …}, or a user and an item with a tab or comma between them: the reviews
  /// are those that the run keeps. Instead, or of a side alone, reviews of one's own:
  /// {"user_reviews": ["a text", {"text": …, "rating": 4}], "item_reviews": […]}.
  Example parse(const std::string& line) const override {
    const Json json = is_json_object(line) ? parse_json(line, "input") : parse_user_item(line);
    if (reads()) check_slips(json, {"user_reviews", "item_reviews"});
    const RatingEncoder encoder = this->encoder();
    const std::string names[] = {name_in(json, "user"), name_in(json, "item")};
    const RatingTarget target{coding_.store->user(names[kUserSide]),
                              coding_.store->item(names[kItemSide])};
    Histories histories = encoder.histories(target);
    std::optional<std::vector<StoredReview>> own[kReviewSides];
    for (const ReviewSide side : {kUserSide, kItemSide}) {
      const std::string key = concat(kSideNames[side], "_reviews");
      if (reads()) own[side] = reviews_in(json, key, encoder);
      require(own[side] || !names[side].empty(), ErrorKind::BadData, "input: has neither \"",
              kSideNames[side], "\" nor \"", key, "\"; expected {\"user\": …, \"item\": …}",
              reads() ? ", or reviews of one's own" : "");
      if (own[side]) histories[side] = encoder.history_of(*own[side]);
    }
    return encoder.example(target, histories);
  }
  InputColumns input_columns(const Roles& roles) const override {
    const auto name = [&](const char* role) { return single_role(roles, role, role); };
    InputColumns columns{{name("user"), name("item")}, {}, {"user", "item"}};
    for (const char* role : {"rating", "text", "time", "split"})
      columns.known.push_back(name(role));
    columns.quotes = options_.quotes;
    columns.truth = name("rating");
    known_keys_ = columns.known;
    for (const char* key : {"user", "item", "user_reviews", "item_reviews"})
      known_keys_.push_back(key);
    return columns;
  }
  std::vector<std::string> input_notes(const Example& example) const override {
    const std::string unknown = unknown_names_note(example.given, known_keys_);
    return unknown.empty() ? std::vector<std::string>() : std::vector{unknown};
  }
  Json input_schema() const override {
    Json user{{"type", "string"}, {"known", Json::array()}}, item = user;
    for (int64_t i = 1; i <= coding_.store->users(); ++i)
      user["known"].push_back(coding_.store->user_name(i));
    for (int64_t i = 1; i <= coding_.store->items(); ++i)
      item["known"].push_back(coding_.store->item_name(i));
    Json properties{{"user", user}, {"item", item}};
    if (reads())
      for (const char* key : {"user_reviews", "item_reviews"})
        properties[key] = {{"type", "array"}, {"items", {{"type", "string"}}}};
    Json schema{{"type", "object"}, {"properties", properties}};
    if (!reads()) schema["required"] = {"user", "item"};
    return schema;
  }
  /// Who rates what: ridge regression of that gives each user and each item a bias.
  LinearInputs linear_inputs(const Dataset& rows) const override {
    const int64_t users = coding_.store->users();
    LinearInputs inputs;
    inputs.width = users + coding_.store->items();
    inputs.weighs = false;
    inputs.title = "biases";
    for (int64_t first = 0; first < rows.size(); first += kRatingsTogether) {
      const Batch batch = rows.batch(rows_from(rows, first, kRatingsTogether));
      const std::vector<int64_t> user = to_vector<int64_t>(batch.at("user")),
                                 item = to_vector<int64_t>(batch.at("item"));
      for (size_t i = 0; i < user.size(); ++i) {
        std::vector<std::pair<int64_t, float>> known;  // from 1; 0 is nobody
        if (user[i] > 0) known.emplace_back(user[i] - 1, 1.0f);
        if (item[i] > 0) known.emplace_back(users + item[i] - 1, 1.0f);
        inputs.add_row(known);
      }
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
  RatingEncoder encoder() const { return coding_.encoder(options_.limits(reading_)); }

  ReviewReading reading_;
  std::shared_ptr<int64_t> embedding_;
  int64_t usual_embedding_;
  RatingsDataOptions options_;
  RatingCoding coding_;
  std::optional<WordVectors> vectors_;
  mutable std::vector<std::string> known_keys_;  // of a JSON input, as input_columns() found them
};

/// {"rating": …, "user": {"known": …, "reviews": …}, "item": {…}}: how many reviews each side has,
/// and whether the run knows it.
class RatingOutput : public OutputKind {
 public:
  explicit RatingOutput(std::shared_ptr<const RatingsData> data) : data_(std::move(data)) {}

  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override {
    return measure(model, rows, predict_numbers(model, rows, kWordsTogether, progress));
  }
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override {
    const PredictedNumbers numbers = predict_numbers(model, rows, kWordsTogether, progress);
    Evaluation evaluation;
    evaluation.metrics = measure(model, rows, numbers);
    judge_numbers(numbers, "rating", evaluation);
    return evaluation;
  }
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override {
    if (train.size() == 0) return {};
    return fit_number_baselines(targets_of(train), inputs);
  }
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override {
    if (rows.size() == 0) return {};
    return measure_number_baselines(fitted, targets_of(rows), inputs,
                                    [](const at::Tensor& rating) { return rating; });
  }
  Json answer(const Example& example, const Prediction& prediction) const override {
    Json json{{"rating", prediction.values[0].item<double>()}};
    for (const char* side : kSideNames) {
      json[side]["known"] = example.tensors.at(side).item<int64_t>() > 0;
      if (data_->reads())
        json[side]["reviews"] = example.tensors.at(concat(side, "_lengths")).numel();
    }
    return json;
  }

  std::string answer_line(const Example& example, const Prediction& prediction) const override {
    const Json json = answer(example, prediction);
    std::string line = format_number(json["rating"], 4);
    for (const char* side : kSideNames)
      if (!json[side]["known"].get<bool>() && json[side].value("reviews", 0) == 0)
        line += concat("\tthis ", side, " is not known");
    return line;
  }

  Json answer_row(const Example& example, const Prediction& prediction) const override {
    Json row{{"prediction", prediction.values[0].item<double>()}};
    for (const char* side : kSideNames)
      row[concat(side, "_known")] = example.tensors.at(side).item<int64_t>() > 0;
    return row;
  }

  std::string headline(const Example&, const Prediction& prediction) const override {
    return concat("rating ", format_number(prediction.values[0].item<double>(), 3), " (",
                  format_number(data_->coding().lowest, 4), " to ",
                  format_number(data_->coding().highest, 4), ")");
  }
  RowsKind rows_kind() const override { return {"number", "rating"}; }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override {
    const auto as_it_is = [](const at::Tensor& rating) { return rating; };
    return judge_number_rows(rows, as_it_is, as_it_is);
  }

 private:
  Metrics measure(const Model& model, const Dataset& rows, const PredictedNumbers& numbers) const {
    const auto& [values, targets] = numbers;
    const at::Tensor mean = torch::full_like(targets, data_->coding().mean);
    Metrics metrics{{"mse", mean_squared_error(values, targets)},
                    {"mae", mean_absolute_error(values, targets)},
                    {"rmse", root_mean_squared_error(values, targets)},
                    {"mse_of_mean", mean_squared_error(mean, targets)}};
    if (rows.has_truth()) add_truth(model, rows, metrics);
    return metrics;
  }

  static void add_truth(const Model& model, const Dataset& rows, Metrics& metrics) {
    double sum = 0, count = 0;
    for (const auto& [map, title] : kRatingMaps)
      if (const auto share = planted_truth(model, rows, map)) {
        std::string name = concat("truth_", map);
        std::replace(name.begin(), name.end(), ' ', '_');
        metrics.push_back({name, *share, true});
        sum += *share, ++count;
      }
    if (count > 0) metrics.push_back({"attention_truth", sum / count, true});
  }

  std::shared_ptr<const RatingsData> data_;
};

TrainingOptions rating_training(double learning_rate) {
  TrainingOptions options = sequence_training();
  options.epochs = 20;
  options.batch_size = 64;
  options.pool_batches = 10;
  options.learning_rate = learning_rate;
  options.monitor = {"mse"};
  options.patience = 8;
  options.usual_steps = 2000;
  options.most_epochs = 100;
  return options;
}

TrainingOptions baseline_training() {
  TrainingOptions options;
  options.epochs = 60;
  options.batch_size = 256;
  options.learning_rate = 1e-2;
  options.schedule = "cosine";
  options.monitor = {"mse"};
  return options;
}

/// make(options, data) gives the model.
template <class Options, class Make>
ModelSpec rating_spec(const std::string& name, ReviewReading reading,
                      const TrainingOptions& training, Make make) {
  const auto options = std::make_shared<Options>();
  options->name = name;
  std::shared_ptr<int64_t> embedding;
  if constexpr (requires { options->embedding; }) embedding = {options, &options->embedding};
  const auto data = std::make_shared<RatingsData>(reading, embedding);
  ModelSpec spec = model_spec(
      {name}, options, training, [data, make](const Options& own) { return make(own, *data); },
      [] {
        return ExplainTitles{"Which reviews, and which words of them, the rating rests on",
                             {std::begin(kRatingMaps), std::end(kRatingMaps)}};
      });
  spec.training.monitor = training.monitor;  // the mean squared error is the loss
  spec.data = data;
  spec.output = std::make_shared<RatingOutput>(data);
  spec.has_attention = [data] { return data->reads(); };
  if (!data->reads()) return spec;
  spec.load_pretrained = [name](const std::filesystem::path&) {
    fail(ErrorKind::InvalidArgument, "--from: model.name=", name,
         " takes no other run; data.vectors=FILE gives it word vectors");
  };
  spec.copy_pretrained = of_network<RatingModel>([data](RatingModel& network) {
    if (const auto& vectors = data->vectors())
      network.take_vectors(vectors->vectors, vectors->known);
  });
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_ratings_task() {
  const ModelSpec mpcn = rating_spec<MultiPointerOptions>(
      "mpcn", ReviewReading::Reviews, rating_training(5e-3),
      [](const MultiPointerOptions& own, const RatingsData& data) {
        return std::make_unique<MultiPointer>(own, data.shape(), data.options().words);
      });
  const ModelSpec dattn = rating_spec<DualAttentionOptions>(
      "dattn", ReviewReading::Document, rating_training(2e-3),
      [](const DualAttentionOptions& own, const RatingsData& data) {
        return std::make_unique<DualAttention>(own, data.shape(), data.options().document_words);
      });
  const auto baseline = [](const char* name, const TrainingOptions& training) {
    return rating_spec<RatingBaselineOptions>(
        name, ReviewReading::Nothing, training,
        [](const RatingBaselineOptions& own, const RatingsData& data) {
          return std::make_unique<RatingBaseline>(own, data.shape());
        });
  };
  TrainingOptions mean_training = baseline_training();  // it begins where it should end
  mean_training.epochs = mean_training.most_epochs = 1;
  mean_training.learning_rate = 1e-6;
  return std::make_unique<Task>(
      "ratings", mpcn.data, mpcn.output,
      std::vector{mpcn, dattn, baseline("mf", baseline_training()),
                  baseline("biases", baseline_training()), baseline("mean", mean_training)});
}

TaskRow ratings_task() {
  return {"ratings", "how highly a user will rate an item",
          "rating -> reviews of user and item -> words",
          "CSV, TSV or JSONL with user, item, rating, text and perhaps time; a folder of such",
          make_ratings_task};
}

}  // namespace fovea

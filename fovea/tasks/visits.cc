#include "fovea/tasks/visits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/metrics/calibration.h"
#include "fovea/metrics/classification.h"
#include "fovea/tasks/code_ranking.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kCodesTogether = 16384;  // of a batch that is measured
constexpr size_t kCodesShown = 30;         // of the overview
constexpr const char* kAsset = "visits.json";

const char* kVisitsHelp =
    "input: expected {\"visits\": [{\"time\": number or date, \"codes\": [\"…\", …]}, …]}, where a "
    "visit may be its list of codes alone; or codes with blanks between them and ; between visits";

std::string code_in(const Json& value) {
  require(value.is_string() || value.is_number(), ErrorKind::BadData, "input: a code is ",
          value.type_name(), "; expected a text");
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<double> time_in(const Json& visit) {
  if (!visit.is_object() || !visit.contains("time") || visit["time"].is_null()) return {};
  const Json& value = visit["time"];
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::optional<double> time = parse_visit_time(text);
  require(time.has_value(), ErrorKind::BadData, "input: the time ", value.dump(),
          " is neither a number nor a date such as 2014-05-03");
  return time;
}

Visit visit_in(const Json& json) {
  Visit visit{{}, time_in(json)};
  const Json codes = json.is_object() ? json.value("codes", Json()) : json;
  require(codes.is_array() || codes.is_string(), ErrorKind::BadData, kVisitsHelp);
  if (codes.is_string()) {
    visit.codes = parse_codes(codes.get<std::string>(), " ");
  } else {
    for (const Json& code : codes) visit.codes.push_back(code_in(code));
    visit.codes = distinct_codes(visit.codes);
  }
  return visit;
}

PatientRecord record_in(const Json& json) {
  require(json.contains("visits") && json["visits"].is_array(), ErrorKind::BadData, kVisitsHelp);
  PatientRecord record;
  for (const Json& visit : json["visits"]) record.visits.push_back(visit_in(visit));
  auto& visits = record.visits;
  const auto timed = std::count_if(visits.begin(), visits.end(),
                                   [](const Visit& visit) { return visit.time.has_value(); });
  require(timed == 0 || timed == std::ptrdiff_t(visits.size()), ErrorKind::BadData,
          "input: ", timed, " of ", visits.size(), " visits have a time; expected all or none");
  std::stable_sort(visits.begin(), visits.end(),
                   [](const Visit& a, const Visit& b) { return a.time < b.time; });
  return record;
}

PatientRecord record_of_line(const std::string& line) {
  PatientRecord record;
  for (const std::string& part : split(line, ';'))
    record.visits.push_back({parse_codes(part, " "), {}});
  return record;
}

Json json_of(const PatientRecord& record) {
  Json visits = Json::array();
  for (const Visit& visit : record.visits) {
    Json json = Json::object();
    if (visit.time) json["time"] = *visit.time;
    json["codes"] = visit.codes;
    visits.push_back(std::move(json));
  }
  return {{"visits", std::move(visits)}};
}

}  // namespace

void VisitsTask::describe(OptionList& list) {
  list.group("data", data_);
  const std::string name = model_name();
  if (name == "retain") list.group("model", retain_);
  if (name == "logistic") list.group("model", logistic_);
  if (name == "gru") list.group("model", gru_);
  list.find("model.name").choices(models());
}

TrainingOptions VisitsTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 30;
  options.batch_size = 128;
  options.pool_batches = 20;
  options.micro_batches = 2;
  options.learning_rate = 1e-3;
  options.clip_norm = 5;
  options.monitor = {"auc"};
  options.patience = 5;
  if (model_name() != "logistic") return options;
  options.epochs = 60;
  options.learning_rate = 1e-2;
  return options;
}

Splits VisitsTask::load(const DataSource& source, uint64_t seed) {
  Splits splits = load_visits(source, data_, coding_, seed);
  if (splits.train) {
    std::vector<int64_t> all(size_t(splits.train->size()));
    std::iota(all.begin(), all.end(), int64_t{0});
    const int64_t with = splits.train->batch(all).at("target").sum().item<int64_t>();
    class_counts_ = {splits.train->size() - with, with};
  }
  return splits;
}

void VisitsTask::write_data(const std::filesystem::path& folder) const {
  write_visits_data(folder, data_);
}

std::unique_ptr<Model> VisitsTask::make_model() const {
  VisitShape shape;
  shape.codes = coding_.codes->size();
  shape.first = Vocabulary::kSpecial;
  shape.unknown = Vocabulary::kUnknown;
  shape.times = coding_.times;
  shape.outcome = coding_.positive_name();
  shape.class_counts = class_counts_;
  if (model_name() == "logistic") return std::make_unique<VisitLogistic>(logistic_, shape);
  if (model_name() == "gru") return std::make_unique<VisitGru>(gru_, shape);
  return std::make_unique<Retain>(retain_, shape);
}

void VisitsTask::save(const RunFolder& folder) const {
  folder.write_asset(kAsset, coding_.to_json());
}

void VisitsTask::restore(const RunFolder& folder) {
  coding_ = VisitCoding::from_json(folder.read_asset(kAsset), folder.asset(kAsset).string());
}

Metrics VisitsTask::measure(const Model& model, const Dataset& rows) const {
  const at::Tensor scores = torch::zeros({rows.size()}), target = torch::zeros({rows.size()});
  over_rows(
      model, rows, kCodesTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const at::Tensor own = model.predict(batch).scores.select(1, 1).cpu();  // [B]
        const at::Tensor wanted = batch.at("target").cpu();                     // [B]
        for (size_t i = 0; i < picked.size(); ++i) {
          scores[picked[i]] = own[int64_t(i)];
          target[picked[i]] = wanted[int64_t(i)];
        }
      },
      progress);
  Metrics metrics{{"loss", log_loss(scores, target)}, {"accuracy", accuracy(scores, target), true}};
  if (const auto area = auc(scores, target)) metrics.push_back({"auc", *area, true});
  if (const auto precision = average_precision(scores, target))
    metrics.push_back({"average_precision", *precision, true});
  metrics.push_back({"brier", brier_score(scores, target)});
  metrics.push_back({"calibration_error", expected_calibration_error(scores, target)});
  const auto& patients = dynamic_cast<const VisitDataset&>(rows);
  if (patients.planted().empty()) return metrics;
  if (const auto share = planted_truth(model, rows, "visits"))
    metrics.push_back({"attention_truth", *share, true});
  if (const auto share = planted_truth(model, rows, "contributions"))
    metrics.push_back({"contribution_truth", *share, true});
  if (const auto share = planted_first(rank_codes(model, patients), patients))
    metrics.push_back({"planted_first", *share, true});
  return metrics;
}

Example VisitsTask::parse(const std::string& line) const {
  require(!trim(line).empty(), ErrorKind::BadData, "the input is empty; ", kVisitsHelp);
  require(!trim(line).starts_with('['), ErrorKind::BadData, kVisitsHelp);  // not meant as a code
  const PatientRecord record =
      is_json_object(line) ? record_in(parse_json(line, "input")) : record_of_line(line);
  return coding_.encoder(data_).example(record);
}

InputColumns VisitsTask::input_columns(const Roles&) const {
  const Roles& roles = coding_.columns;  // of training, as the reader knows them
  const auto name = [&](const char* role) { return single_role(roles, role, role); };
  InputColumns columns{{name("patient"), name("codes")}, {}, {}};
  for (const char* role : {"time", "label", "split"}) columns.known.push_back(name(role));
  if (roles.contains("time")) columns.needed.push_back(name("time"));
  if (const auto own = roles.find("code"); own != roles.end())
    columns.needed.insert(columns.needed.end(), own->second.begin(), own->second.end());
  columns.quotes = data_.reading.quotes;
  return columns;
}

std::vector<Example> VisitsTask::parse_table(const CsvTable& table, const InputColumns&) const {
  return all_examples(*patients_of(table, data_, coding_));
}

Json VisitsTask::input_schema() const {
  const Json codes{{"type", "array"}, {"items", {{"type", "string"}}}};
  Json visit{{"type", "object"}, {"properties", {{"codes", codes}}}, {"required", {"codes"}}};
  if (coding_.times) visit["properties"]["time"] = {{"type", "number"}};
  return {{"type", "object"},
          {"properties", {{"visits", {{"type", "array"}, {"items", visit}}}}},
          {"required", {"visits"}}};
}

Batch VisitsTask::collate(std::span<const Example> examples) const {
  return collate_visits(examples);
}

Json VisitsTask::answer(const Example& example, const Prediction& prediction) const {
  const double with = prediction.scores[1].item<double>();
  const double without = prediction.scores[0].item<double>();
  const std::string names[] = {coding_.negative_name(), coding_.positive_name()};
  return {{"class", names[with >= without]},
          {"probability", std::max(with, without)},
          {"scores", {{names[0], without}, {names[1], with}}},
          {"log_odds", std::log(std::max(with, 1e-12) / std::max(without, 1e-12))}};
}

std::string VisitsTask::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["class"].get<std::string>(), "\t", format_number(json["probability"], 6));
}

Explanation VisitsTask::overview(const Model& model, const Dataset& rows) const {
  const auto& patients = dynamic_cast<const VisitDataset&>(rows);
  std::vector<RankedCode> codes = rank_codes(model, patients);
  if (codes.empty()) return Task::overview(model, rows);  // a GRU says nothing of single codes
  std::stable_sort(codes.begin(), codes.end(), [](const RankedCode& a, const RankedCode& b) {
    return std::abs(a.mean) > std::abs(b.mean);
  });
  codes.resize(std::min(codes.size(), kCodesShown));
  MapView map;
  map.name = "contributions";
  map.title = "Codes that add most to the log odds of " + coding_.positive_name();
  map.kind = MapKind::Free;
  map.key_axis = "codes";
  map.query_labels = {coding_.positive_name()};
  for (const RankedCode& code : codes) {
    map.key_labels.push_back(code.code);
    map.weights.push_back(code.mean);
    map.spread.push_back(code.deviation);
    if (!patients.planted().empty())
      map.truth.push_back(patients.planted().effect_of(code.code) != 0);
  }
  return {"visits",
          "What raises and lowers the chance of " + coding_.positive_name(),
          concat("mean over the visits of at most ", format_count(kPatientsRanked),
                 " patients, ± one standard deviation"),
          {map},
          {},
          "",
          nullptr,
          {Axis{"codes", "code", map.key_labels}}};
}

ExplainOptions VisitsTask::explain_options() const {
  ExplainOptions options;
  options.task = "visits";
  options.title = "What raised and lowered the chance of " + coding_.positive_name();
  options.map_titles = {
      {"visits", "Attention over the visits"},
      {"contributions", "What each code adds to the log odds of " + coding_.positive_name()},
      {"absent", "If this code were absent: change of the log odds"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    const Json json = answer(example, prediction);
    return concat(json["class"].get<std::string>(), " (", format_number(json["probability"], 3),
                  ")");
  };
  return options;
}

Example VisitsTask::erase(const Example& example, const std::string& axis,
                          std::span<const int64_t> units) const {
  return erase_codes(example, axis, units);
}

std::vector<Json> VisitsTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& patients = dynamic_cast<const VisitDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row)
    inputs.push_back(json_of(patients.record(row)));
  return inputs;
}

}  // namespace fovea

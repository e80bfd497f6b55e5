// The task `visits`: will an outcome follow on what a patient's visits hold, or which of several?
// RETAIN says what each code of each visit added; logistic regression on counts and a GRU stand
// beside it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/visits/load.h"
#include "fovea/metrics/calibration.h"
#include "fovea/metrics/classification.h"
#include "fovea/models/retain.h"
#include "fovea/models/visit_baselines.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/code_ranking.h"
#include "fovea/tasks/outputs/by_kind.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/symbols.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kCodesTogether = 16384;  // of a batch that is measured
constexpr size_t kCodesShown = 30;         // of the overview

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
  const std::optional<double> time = parse_time(text);
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
  require(
      line.find('\t') == std::string::npos, ErrorKind::BadData,
      "input: has tabs, as a row of a table has; a table of visits needs a header with the names "
      "of its columns, and codes alone have blanks between them");
  PatientRecord record;
  for (const std::string& codes : split(line, ';'))
    record.visits.push_back({parse_codes(codes, " "), {}});
  return record;
}

/// "3 of 40 codes are unknown, too rare in training or never seen there: 'X1', …", or nothing.
std::vector<std::string> unknown_codes_notes(std::span<const Example> patients,
                                             const std::string& place) {
  int64_t all = 0, unknown = 0;
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  for (const Example& patient : patients) {
    const at::Tensor codes = patient.tensors.at("codes").contiguous();  // [K]
    const std::vector<std::string>& labels = patient.axis("codes").labels;
    all += codes.numel();
    for (int64_t i = 0; i < codes.numel(); ++i) {
      if (codes.data_ptr<int64_t>()[i] != Vocabulary::kUnknown) continue;
      ++unknown;
      if (known.insert(labels[size_t(i)]).second) names.push_back(labels[size_t(i)]);
    }
  }
  if (unknown == 0) return {};
  return {
      concat(place, format_count(unknown), " of ", format_count(all),
             " codes are unknown, too rare in training or never seen there: ", quoted_list(names))};
}

class VisitsData : public CodedData<VisitsDataOptions, VisitCoding> {
 public:
  VisitsData() : CodedData("visits.json") {}
  AnswerKind kind() const { return coding_.kind(); }
  /// Without and with the outcome, or the labels.
  const std::vector<std::string>& classes() const { return classes_; }
  /// For people.
  std::string outcome() const {
    return kind() == AnswerKind::Class ? classes_.at(1) : "each label";
  }
  VisitShape shape() const {
    VisitShape shape;
    shape.codes = coding_.codes->size();
    shape.first = Vocabulary::kSpecial;
    shape.unknown = Vocabulary::kUnknown;
    shape.times = coding_.times;
    shape.outcome = outcome();
    shape.class_counts = class_counts_;
    shape.labels = coding_.labels;
    shape.rows = rows_;
    return shape;
  }

  void describe(OptionList& list) override { options_.describe(list); }
  /// With rows at every visit those of one patient must stay together.
  bool has_folds() const override { return !options_.reading.every(); }
  Splits load(const DataSource& source, uint64_t seed) override {
    Splits splits = load_visits(source, options_, coding_, seed);
    classes_ = coding_.classes();
    if (splits.train) {
      rows_ = splits.train->size();
      const Batch all = splits.train->batch(rows_from(*splits.train, 0, rows_));
      const at::Tensor with = all.at("target").to(at::kLong).sum(0);
      class_counts_ = kind() == AnswerKind::Labels
                          ? to_vector<int64_t>(with)
                          : std::vector{rows_ - with.item<int64_t>(), with.item<int64_t>()};
    }
    return splits;
  }
  void write(const std::filesystem::path& folder) const override {
    write_visits_data(folder, options_);
  }
  void restore(const RunFolder& folder) override {
    CodedData::restore(folder);
    classes_ = coding_.classes();
  }
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("codes", *coding_.codes)};
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"codes", coding_.codes->size()}, {"classes", int64_t(classes_.size())}};
  }

  /// {"visits": [{"time": 17, "codes": ["…", …]}, …]}, where a visit may be its list of codes
  /// alone; or codes with blanks between them and ; between the visits.
  Example parse(const std::string& line) const override {
    require(!trim(line).empty(), ErrorKind::BadData, "the input is empty; ", kVisitsHelp);
    require(!trim(line).starts_with('['), ErrorKind::BadData, kVisitsHelp);  // not meant as a code
    const PatientRecord record =
        is_json_object(line) ? record_in(parse_json(line, "input")) : record_of_line(line);
    return coding_.encoder(options_).example(record);
  }
  InputColumns input_columns(const Roles&) const override {
    const Roles& roles = coding_.columns;  // of training, as the reader knows them
    const auto name = [&](const char* role) { return single_role(roles, role, role); };
    InputColumns columns{{name("patient"), name("codes")}, {}, {}};
    for (const char* role : {"time", "split"}) columns.known.push_back(name(role));
    columns.known.push_back("label");
    for (const char* role : {"label", "target"})
      if (const auto named = roles.find(role); named != roles.end())
        for (const std::string& own : named->second)
          for (const std::string& part : split(own, ',')) columns.known.emplace_back(trim(part));
    columns.known.push_back(kLabelsColumn);
    if (roles.contains("time")) columns.needed.push_back(name("time"));
    if (const auto own = roles.find("code"); own != roles.end())
      columns.needed.insert(columns.needed.end(), own->second.begin(), own->second.end());
    columns.quotes = options_.reading.quotes;
    return columns;
  }
  /// One visit a row, as in training, and an input for each patient.
  std::vector<Example> parse_table(const CsvTable& table, const InputColumns&) const override {
    return all_examples(*encode_patients(table, options_, coding_));
  }
  std::vector<std::string> input_notes(const Example& example) const override {
    std::vector<std::string> notes = unknown_codes_notes({&example, 1}, "");
    const Axis& visits = example.axis("visits");
    if (coding_.times && is_json_object(example.given) && visits.labels.size() > 1 &&
        visits.times.empty())
      notes.push_back("the visits have no \"time\"; those of training had");
    return notes;
  }
  std::vector<std::string> table_notes(const CsvTable& table) const override {
    return unknown_codes_notes(parse_table(table, {}), table.path + ": ");
  }
  Json input_schema() const override {
    const Json codes{
        {"type", "array"}, {"items", {{"type", "string"}}}, {"known", coding_.codes->to_json()}};
    Json visit{{"type", "object"}, {"properties", {{"codes", codes}}}, {"required", {"codes"}}};
    if (coding_.times) visit["properties"]["time"] = {{"type", "number"}};
    return {{"type", "object"},
            {"properties", {{"visits", {{"type", "array"}, {"items", visit}}}}},
            {"required", {"visits"}}};
  }
  /// How often each code occurs.
  LinearInputs linear_inputs(const Dataset& rows) const override {
    LinearInputs inputs = count_tokens(rows, "codes", coding_.codes->size());
    inputs.weighs = false;
    return inputs;
  }
  Batch collate(std::span<const Example> examples) const override {
    return collate_visits(examples);
  }
  /// What if these codes, or visits, were absent.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    return erase_codes(example, axis, units);
  }

 private:
  std::vector<std::string> classes_;
  std::vector<int64_t> class_counts_;  // training rows without and with the outcome, or with each
  int64_t rows_ = 0;                   // of training
};

double log_odds_of(double probability) {
  return std::log(std::max(probability, 1e-12) / std::max(1 - probability, 1e-12));
}

/// Whether the outcome follows, with its log odds.
class OutcomeOutput : public ClassesOutput {
 public:
  explicit OutcomeOutput(std::shared_ptr<const VisitsData> data)
      : ClassesOutput([data]() -> const auto& { return data->classes(); }, kCodesTogether,
                      {{"visits"}, {"contributions", "contribution_truth"}}),
        data_(data) {}

  Json answer(const Example& example, const Prediction& prediction) const override {
    Json json = ClassesOutput::answer(example, prediction);
    const double without = prediction.scores[0].item<double>();
    const double with = prediction.scores[1].item<double>();
    json["log_odds"] = std::log(std::max(with, 1e-12) / std::max(without, 1e-12));
    return json;
  }

 protected:
  Measured measure_scores(const Model& model, const Dataset& rows,
                          const RowProgress& progress) const override {
    const auto [all, target] = score_rows(model, rows, 2, kCodesTogether, progress);
    const at::Tensor scores = all.select(1, 1);  // [N]
    Metrics metrics{{"loss", log_loss(scores, target)},
                    {"accuracy", accuracy(scores, target), true}};
    if (const auto area = auc(scores, target)) metrics.push_back({"auc", *area, true});
    if (const auto precision = average_precision(scores, target))
      metrics.push_back({"average_precision", *precision, true});
    metrics.push_back({"brier", brier_score(scores, target)});
    metrics.push_back({"calibration_error", expected_calibration_error(scores, target)});
    add_truth(model, rows, metrics);
    if (rows.has_truth())
      if (const auto share = planted_first(rank_codes(model, rows, *data_->coding().codes)))
        metrics.push_back({"planted_first", *share, true});
    return {metrics, {all, target}};
  }
  /// What the codes add sums to the log odds of the network.
  bool can_calibrate() const override { return false; }

 private:
  std::shared_ptr<const VisitsData> data_;
};

/// Which of several outcomes follow, with their log odds.
class OutcomesOutput : public LabelsOutput {
 public:
  OutcomesOutput(const std::shared_ptr<const VisitsData>& data,
                 std::shared_ptr<const ClassesOptions> options)
      : LabelsOutput(
            [data]() -> const auto& { return data->classes(); }, std::move(options),
            {{"visits"}, {"contributions", "contribution_truth"}}, kCodesTogether) {}

  Json answer(const Example& example, const Prediction& prediction) const override {
    Json json = LabelsOutput::answer(example, prediction), log_odds = Json::object();
    for (const auto& [label, probability] : json["scores"].items())
      log_odds[label] = log_odds_of(probability.get<double>());
    json["log_odds"] = std::move(log_odds);
    return json;
  }

 protected:
  bool can_calibrate() const override { return false; }  // as above
};

/// The codes that add most, over many patients.
Explanation largest_contributions(const VisitsData& data, const Task& task, const Model& model,
                                  const Dataset& rows) {
  std::vector<RankedCode> codes = rank_codes(model, rows, *data.coding().codes);
  if (codes.empty()) return task.Task::overview(model, rows);  // a GRU says nothing of single codes
  std::stable_sort(codes.begin(), codes.end(), [](const RankedCode& a, const RankedCode& b) {
    return std::abs(a.mean) > std::abs(b.mean);
  });
  codes.resize(std::min(codes.size(), kCodesShown));
  MapView map;
  map.name = "contributions";
  map.title = "Codes that add most to the log odds of " + data.outcome();
  map.kind = MapKind::Free;
  map.key_axis = "codes";
  const bool several = data.kind() == AnswerKind::Labels;
  map.query_labels = several ? data.classes() : std::vector{data.outcome()};
  for (const RankedCode& code : codes) map.key_labels.push_back(code.code);
  for (size_t outcome = 0; outcome < map.query_labels.size(); ++outcome)
    for (const RankedCode& code : codes) {
      map.weights.push_back(code.means[outcome]);
      map.spread.push_back(code.deviations[outcome]);
      if (rows.has_truth() && !several) map.truth.push_back(code.effect != 0);
    }
  return {"visits",
          "What raises and lowers the chance of " + data.outcome(),
          concat("mean over the visits of at most ", format_count(kPatientsRanked),
                 " patients, ± one standard deviation"),
          {map},
          {},
          "",
          nullptr,
          {Axis{"codes", "code", map.key_labels}}};
}

/// A network of type Network, made from Options and what the data decides.
template <class Network, class Options>
ModelSpec visits_spec(std::shared_ptr<const VisitsData> data, const TrainingOptions& training) {
  const auto options = std::make_shared<Options>();
  ModelSpec spec = model_spec(
      {options->name}, options, training,
      [data](const Options& own) { return std::make_unique<Network>(own, data->shape()); },
      [data] {
        return ExplainTitles{
            "What raised and lowered the chance of " + data->outcome(),
            {{"visits", "Attention over the visits"},
             {"contributions", "What each code adds to the log odds of " + data->outcome()},
             {"absent", "If this code were absent: change of the log odds"}}};
      });
  spec.overview = [data](const Task& task, const Model& model, const Dataset& rows) {
    return largest_contributions(*data, task, model, rows);
  };
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_visits_task() {
  const auto data = std::make_shared<VisitsData>();
  TrainingOptions training;
  training.epochs = 30;
  training.batch_size = 128;
  training.pool_batches = 20;
  training.micro_batches = 2;
  training.learning_rate = 1e-3;
  training.clip_norm = 5;
  training.monitor = {"auc"};
  training.patience = 5;
  training.usual_steps = 1500;
  TrainingOptions logistic = training;
  logistic.epochs = 60;
  logistic.learning_rate = 1e-2;
  const auto outcome = std::make_shared<OutcomeOutput>(data);
  return std::make_unique<Task>(
      "visits", data,
      std::make_shared<KindOutput>([data] { return data->kind(); }, outcome,
                                   std::make_shared<OutcomesOutput>(data, outcome->options())),
      std::vector{visits_spec<Retain, RetainOptions>(data, training),
                  visits_spec<VisitLogistic, VisitLogisticOptions>(data, logistic),
                  visits_spec<VisitGru, VisitGruOptions>(data, training)});
}

TaskRow visits_task() {
  return {"visits",
          "whether an outcome, or which of several, follows on what a patient's visits hold",
          "outcome -> visits -> codes",
          "CSV, TSV or JSONL, one visit a line: patient, time, codes, label; a folder of such",
          make_visits_task};
}

}  // namespace fovea

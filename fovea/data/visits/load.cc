#include "fovea/data/visits/load.h"

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/labels.h"

namespace fovea {

namespace {

constexpr LabelWords kWords{"patient", "label", "NAME"};

using Patients = SplitRows<PatientRecord>;

Patients take_drawn(const VisitsDataOptions& options, PlantedCauses& planted) {
  CausesDraw draw = draw_causes(options.generator);
  Patients patients;
  patients.train = std::move(draw.train);
  patients.validation = std::move(draw.validation);
  patients.test = std::move(draw.test);
  patients.hash = hash_of_built_in("visits", options_json(options.generator));
  patients.notes = std::move(draw.notes);
  planted = std::move(draw.planted);
  return patients;
}

Json json_of(const PlantedCauses& planted) {
  return {{"raising", planted.raising}, {"lowering", planted.lowering}, {"recent", planted.recent}};
}

/// dataset.json of a folder: "truth": {"raising": [codes], "lowering": [codes], "recent": visits}.
PlantedCauses read_planted(const std::filesystem::path& source) {
  const std::filesystem::path path = source / "dataset.json";
  if (!std::filesystem::is_directory(source) || !std::filesystem::exists(path)) return {};
  const Json description = read_description(path, "visits");
  const auto truth = Field::root(description, path.string()).find("truth");
  if (!truth) return {};
  PlantedCauses planted;
  planted.raising = truth->at("raising").texts();
  planted.lowering = truth->at("lowering").texts();
  planted.recent = truth->at("recent").integer(0, INT64_MAX);  // how many last visits; 0: all
  return planted;
}

Patients open_patients(const DataSource& source, const VisitsDataOptions& options,
                       bool needs_training, uint64_t seed, PlantedCauses& planted) {
  const SplitOptions split{.task = "visits",
                           .fraction = options.validation_fraction,
                           .seed = seed,
                           .needs_training = needs_training};
  Patients patients = open_visits(source, split, options.reading);
  planted = read_planted(source.path);
  return patients;
}

/// Of two labels the one that says yes, or else the later one.
std::string guess_outcome(const std::set<std::string>& two) {
  static const std::set<std::string> kYes = {"1",    "yes",  "Yes",      "YES", "true",
                                             "True", "TRUE", "positive", "y",   "Y"};
  for (const std::string& label : two)
    if (kYes.contains(label)) return label;
  double first = 0, last = 0;
  const bool numbers = parse_number(*two.begin(), first) && parse_number(*two.rbegin(), last);
  return numbers && first > last ? *two.begin() : *two.rbegin();
}

void fit_labels(Patients& patients, const VisitsDataOptions& options, VisitCoding& coding,
                std::vector<std::string>& notes) {
  LabelSet labels(kWords);
  for (int part = 0; part < kSplitCount; ++part)
    for (const PatientRecord& patient : patients[part]) labels.add(patient.label, part);
  const std::vector<std::string> all(labels.all().begin(), labels.all().end());
  std::set<std::string> outcome(options.positive.begin(), options.positive.end());
  for (const std::string& label : outcome)
    require(labels.all().contains(label), ErrorKind::BadData, "data.positive: no patient has the ",
            "label '", label, "'", suggestion(label, all), "; there are: ", join(all));
  if (outcome.empty()) {
    require(all.size() <= 2, ErrorKind::BadData, "there are ", all.size(), " labels, ", join(all),
            "; say which of them are the outcome: data.positive=LABEL,LABEL");
    if (all.size() == 2) outcome.insert(guess_outcome(labels.all()));
  }
  for (const std::string& label : all)
    (outcome.contains(label) ? coding.positive : coding.negative).push_back(label);
  const auto is_trained = [&](const std::vector<std::string>& some) {
    return std::any_of(some.begin(), some.end(),
                       [&](const std::string& label) { return labels.trained().contains(label); });
  };
  require(is_trained(coding.positive) && is_trained(coding.negative), ErrorKind::BadData,
          "all training patients are on one side of the outcome (labels: ",
          join(std::vector<std::string>(labels.trained().begin(), labels.trained().end())),
          "); both are needed to learn from");
  for (const std::string& note : labels.notes()) notes.push_back(note);
}

std::shared_ptr<const Vocabulary> learn_codes(const std::vector<PatientRecord>& train,
                                              int64_t minimum_count) {
  std::map<std::string, int64_t> counts;
  for (const PatientRecord& patient : train)
    for (const Visit& visit : patient.visits)
      for (const std::string& code : visit.codes) ++counts[code];
  Vocabulary codes = Vocabulary::from_counts(counts, minimum_count, 0);
  require(codes.size() > Vocabulary::kSpecial, ErrorKind::BadData, "no code is seen in ",
          minimum_count, " training visits, so all would be unknown; set data.minimum_count lower");
  return std::make_shared<const Vocabulary>(std::move(codes));
}

int64_t label_of(const PatientRecord& patient, const VisitCoding& coding, int part) {
  const auto holds = [&](const std::vector<std::string>& labels) {
    return std::find(labels.begin(), labels.end(), patient.label) != labels.end();
  };
  if (holds(coding.positive)) return 1;
  require(holds(coding.negative), ErrorKind::BadData, "the ", kSplitNames[part], " patient '",
          patient.name, "' has the label '", patient.label,
          "', which this run does not know: ", join(coding.negative), ", ", join(coding.positive));
  return 0;
}

void fit(Patients& patients, const DataSource& source, const VisitsDataOptions& options,
         VisitCoding& coding, std::vector<std::string>& notes) {
  VisitCoding fitted;
  fitted.columns = source.roles;
  fit_labels(patients, options, fitted, notes);
  fitted.codes = learn_codes(patients.train, options.minimum_count);
  fitted.times =
      std::all_of(patients.train.begin(), patients.train.end(), [](const PatientRecord& patient) {
        return std::all_of(patient.visits.begin(), patient.visits.end(),
                           [](const Visit& visit) { return visit.time.has_value(); });
      });
  int64_t positive = 0;
  for (const PatientRecord& patient : patients.train) positive += label_of(patient, fitted, kTrain);
  notes.push_back(concat("the outcome is '", fitted.positive_name(), "': ", format_count(positive),
                         " of ", format_count(int64_t(patients.train.size())),
                         " training patients; ",
                         format_count(fitted.codes->size() - Vocabulary::kSpecial), " codes",
                         fitted.times ? "" : ", no times"));
  coding = std::move(fitted);
}

void note_part(const VisitDataset& rows, const VisitsDataOptions& options, const char* part,
               std::vector<std::string>& notes) {
  notes.push_back(concat(
      format_count(rows.size()), " ", part, " patients with ", format_count(rows.visits()),
      " visits; ", format_number(100 * rows.unknown_share(), 3), " % of their codes are unknown"));
  if (rows.cut_patients() > 0)
    notes.push_back(concat(format_count(rows.cut_patients()), " ", part,
                           " patients have more than ", options.maximum_visits,
                           " visits, of which the last are read (data.maximum_visits)"));
}

}  // namespace

void VisitsDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("positive", positive,
           "labels that are the outcome; empty: of two labels 1, yes or true, else the later one");
  list.add("minimum_count", minimum_count, "codes of fewer training visits are unknown")
      .at_least(1);
  list.add("maximum_visits", maximum_visits, "of longer records so many last visits are read")
      .at_least(1);
  list.add("time_unit", time_unit, "what times count, for pictures; dates are days");
  list.add("validation_fraction", validation_fraction,
           "share of the training patients held out when the data has no validation part")
      .at_least(0)
      .below(1);
  reading.describe(list);
}

std::string VisitCoding::negative_name() const {
  return join(negative, " or ");
}

std::string VisitCoding::positive_name() const {
  return join(positive, " or ");
}

VisitEncoder VisitCoding::encoder(const VisitsDataOptions& options) const {
  return {codes, positive_name(), options.time_unit, options.maximum_visits, {}};
}

Json VisitCoding::to_json() const {
  return {{"negative", negative},
          {"positive", positive},
          {"times", times},
          {"columns", columns},
          {"codes", codes->to_json()}};
}

VisitCoding VisitCoding::from_json(const Json& json, const std::string& where) {
  VisitCoding coding;
  const Field root = Field::root(json, where);
  coding.negative = root.at("negative").texts();
  coding.positive = root.at("positive").texts();
  coding.times = root.at("times").mark();
  root.at("columns").each_member(
      [&](const std::string& role, const Field& names) { coding.columns[role] = names.texts(); });
  coding.codes =
      std::make_shared<const Vocabulary>(Vocabulary::from_json(root.at("codes").value(), where));
  require(!coding.negative.empty() && !coding.positive.empty(), ErrorKind::BadData, where,
          ": has no labels for one side of the outcome");
  return coding;
}

Splits load_visits(const DataSource& source, const VisitsDataOptions& options, VisitCoding& coding,
                   uint64_t seed) {
  PlantedCauses planted;
  if (source.path.empty()) check_roles(source, {});
  Patients patients = source.path.empty()
                          ? take_drawn(options, planted)
                          : open_patients(source, options, !coding.fitted(), seed, planted);
  Splits splits;
  splits.hash = patients.hash;
  splits.notes = patients.notes;
  if (!coding.fitted()) fit(patients, source, options, coding, splits.notes);
  VisitEncoder encoder = coding.encoder(options);
  encoder.planted = planted;
  const auto encode_part = [&](int part) -> std::shared_ptr<Dataset> {
    if (patients[part].empty()) return nullptr;
    std::vector<LabelledPatient> labelled;
    for (PatientRecord& patient : patients[part]) {
      const int64_t label = label_of(patient, coding, part);
      labelled.push_back({std::move(patient), label});
    }
    auto rows = std::make_shared<VisitDataset>(std::move(labelled), encoder);
    note_part(*rows, options, kSplitNames[part], splits.notes);
    return rows;
  };
  splits.train = encode_part(kTrain);
  splits.validation = encode_part(kValidation);
  splits.test = encode_part(kTest);
  return splits;
}

std::shared_ptr<VisitDataset> patients_of(const CsvTable& table, const VisitsDataOptions& options,
                                          const VisitCoding& coding) {
  VisitsOptions reading = options.reading;
  reading.roles = coding.columns;
  reading.needs_label = false;
  std::vector<LabelledPatient> patients;
  for (PatientRecord& record : visits_in_table(table, reading).rows)
    patients.push_back({std::move(record)});
  return std::make_shared<VisitDataset>(std::move(patients), coding.encoder(options));
}

void write_visits_data(const std::filesystem::path& folder, const VisitsDataOptions& options) {
  const CausesDraw draw = draw_causes(options.generator);
  make_folder(folder);
  const auto write = [&](const char* name, const std::vector<PatientRecord>& part) {
    if (part.empty()) return;
    std::string content = "patient\ttime\tcodes\tlabel\n";
    for (const PatientRecord& patient : part)
      for (const Visit& visit : patient.visits)
        content += concat(patient.name, "\t", format_exact(*visit.time), "\t",
                          join(visit.codes, " "), "\t", patient.label, "\n");
    write_file(folder / name, content);
  };
  write("train.tsv", draw.train);
  write("val.tsv", draw.validation);
  write("test.tsv", draw.test);
  write_description(folder, "visits", options_json(options.generator),
                    {{"truth", json_of(draw.planted)}});
}

}  // namespace fovea

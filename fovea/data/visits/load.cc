#include "fovea/data/visits/load.h"

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/labels.h"

namespace fovea {

namespace {

constexpr LabelWords kWords{"patient", "label", "NAME"};

PatientSplits read_patients(const DataSource& source, const VisitsDataOptions& options,
                            bool needs_training, uint64_t seed) {
  const SplitOptions split{"visits", options.validation_fraction, seed, needs_training};
  PatientSplits patients{open_visits(source, split, options.reading)};
  with_truth(source.path, "visits", [&](const Field& truth) {
    patients.planted.raising = truth.at("raising").texts();
    patients.planted.lowering = truth.at("lowering").texts();
    patients.planted.recent = truth.at("recent").integer(0, INT64_MAX);
  });
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

void fit_labels(const SplitRows<PatientRecord>& patients, const VisitsDataOptions& options,
                VisitCoding& coding, Notes& notes) {
  LabelSet labels(kWords);
  patients.for_each(
      [&](const PatientRecord& patient, Split split) { labels.add(patient.label, split); });
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

std::shared_ptr<const Vocabulary> learn_codes(const Rows<PatientRecord>& train,
                                              int64_t minimum_count) {
  std::map<std::string, int64_t> counts;
  train.for_each([&](const PatientRecord& patient) {
    for (const Visit& visit : patient.visits)
      for (const std::string& code : visit.codes) ++counts[code];
  });
  Vocabulary codes = Vocabulary::from_counts(counts, minimum_count, 0);
  require(codes.size() > Vocabulary::kSpecial, ErrorKind::BadData, "no code is seen in ",
          minimum_count, " training visits, so all would be unknown; set data.minimum_count lower");
  return std::make_shared<const Vocabulary>(std::move(codes));
}

int64_t find_label(const PatientRecord& patient, const VisitCoding& coding, int split) {
  const auto holds = [&](const std::vector<std::string>& labels) {
    return std::find(labels.begin(), labels.end(), patient.label) != labels.end();
  };
  if (holds(coding.positive)) return 1;
  require(holds(coding.negative), ErrorKind::BadData, "the ", kSplitNames[split], " patient '",
          patient.name, "' has the label '", patient.label,
          "', which this run does not know: ", join(coding.negative), ", ", join(coding.positive));
  return 0;
}

void fit_coding(const SplitRows<PatientRecord>& patients, const DataSource& source,
                const VisitsDataOptions& options, VisitCoding& coding, Notes& notes) {
  VisitCoding fitted;
  fitted.columns = source.roles;
  fit_labels(patients, options, fitted, notes);
  fitted.codes = learn_codes(patients.train, options.minimum_count);
  fitted.times = true;
  int64_t positive = 0;
  patients.train.for_each([&](const PatientRecord& patient) {
    positive += find_label(patient, fitted, kTrain);
    fitted.times &= std::all_of(patient.visits.begin(), patient.visits.end(),
                                [](const Visit& visit) { return visit.time.has_value(); });
  });
  notes.push_back(concat("the outcome is '", fitted.outcome(), "': ", format_count(positive),
                         " of ", format_count(patients.train.size()), " training patients; ",
                         format_count(fitted.codes->size() - Vocabulary::kSpecial), " codes",
                         fitted.times ? "" : ", no times"));
  coding = std::move(fitted);
}

void note_visits(const VisitDataset& rows, const VisitsDataOptions& options, const char* split,
                 Notes& notes) {
  notes.push_back(concat(
      format_count(rows.size()), " ", split, " patients with ", format_count(rows.visits()),
      " visits; ", format_number(100 * rows.unknown_share(), 3), " % of their codes are unknown"));
  if (rows.cut_patients() > 0)
    notes.push_back(concat(format_count(rows.cut_patients()), " ", split,
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
  describe_held_out(list, validation_fraction, "training patients");
  reading.describe(list);
}

std::vector<std::string> VisitCoding::classes() const {
  return {join(negative, " or "), join(positive, " or ")};
}

VisitEncoder VisitCoding::encoder(const VisitsDataOptions& options) const {
  return {codes, outcome(), options.time_unit, options.maximum_visits, {}};
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
  if (source.path.empty()) check_roles(source, {});
  PatientSplits patients = source.path.empty()
                               ? draw_visits(options.generator)
                               : read_patients(source, options, !coding.fitted(), seed);
  VisitEncoder encoder;
  const auto fit = [&](const SplitRows<PatientRecord>& rows, Notes& notes) {
    if (!coding.fitted()) fit_coding(rows, source, options, coding, notes);
    encoder = coding.encoder(options);
    encoder.planted = patients.planted;
  };
  const auto encode = [&](Rows<PatientRecord> records, Split split, Notes& notes) {
    std::vector<LabelledPatient> labelled;
    records.take_each([&](PatientRecord&& record) {
      const int64_t label = find_label(record, coding, split);
      labelled.push_back({std::move(record), label});
    });
    auto rows = std::make_shared<VisitDataset>(std::move(labelled), encoder);
    note_visits(*rows, options, kSplitNames[split], notes);
    return rows;
  };
  return encode_splits<PatientRecord>(patients, fit, encode);
}

std::shared_ptr<VisitDataset> encode_patients(const CsvTable& table,
                                              const VisitsDataOptions& options,
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
  const PatientSplits patients = draw_visits(options.generator);
  write_splits<PatientRecord>(folder, patients, ".tsv", [](const auto& records) {
    std::string content = "patient\ttime\tcodes\tlabel\n";
    for (const PatientRecord& patient : records)
      for (const Visit& visit : patient.visits)
        content += concat(patient.name, "\t", format_exact(*visit.time), "\t",
                          join(visit.codes, " "), "\t", patient.label, "\n");
    return content;
  });
  const PlantedCodes& planted = patients.planted;
  write_description(folder, "visits", options_json(options.generator),
                    {{"truth",
                      {{"raising", planted.raising},
                       {"lowering", planted.lowering},
                       {"recent", planted.recent}}}});
}

}  // namespace fovea

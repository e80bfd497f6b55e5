#include "fovea/data/visits/load.h"

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/labels.h"

namespace fovea {

namespace {

constexpr LabelWords kPatientWords{"patient", "label", "NAME"};

SyntheticAnswers drawn_answers(const VisitsDataOptions& options) {
  return {options.target.target_kind == "labels", options.reading.every()};
}

PatientSplits read_patients(const DataSource& source, const VisitsDataOptions& options,
                            bool needs_training, uint64_t seed) {
  const SplitOptions split{"visits", options.validation_fraction, seed, needs_training};
  PatientSplits patients{open_visits(source, split, options.reading)};
  with_truth(source.path, "visits", [&](const Field& truth) {
    patients.planted.raising = truth.at("raising").texts();
    patients.planted.lowering = truth.at("lowering").texts();
    patients.planted.recent = truth.at("recent").integer(0, INT64_MAX);
    if (const auto several = truth.find("several")) patients.planted.several = several->mark();
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

/// job(answer, patient, split) for everything that is to be known.
template <class Job>
void for_each_answer(const SplitRows<PatientRecord>& patients, bool every, Job job) {
  patients.for_each([&](const PatientRecord& patient, Split split) {
    if (!every) return job(patient.answer(), patient, split);
    for (const Visit& visit : patient.visits)
      if (visit.answer.is_there()) job(visit.answer, patient, split);
  });
}

/// The answer that is known, as the coding has it: of several labels a List.
VisitLabel decided(const VisitLabel& answer, const VisitCoding& coding) {
  if (coding.kind() == AnswerKind::Class || answer.cell == LabelCell::List) return answer;
  return list_of_labels(known_labels(answer.label, coding.separator, coding.labels));
}

/// Learns the outcomes where a patient may have several. False where there is one.
bool fit_several(const SplitRows<PatientRecord>& patients, const VisitsDataOptions& options,
                 VisitCoding& coding, Notes& notes) {
  LabelCells found;
  const bool every = options.reading.every();
  for_each_answer(patients, every, [&](const VisitLabel& answer, const PatientRecord&, Split) {
    found.add(answer.label, answer.cell);
  });
  const auto separator = decide_labels(found, options.target, notes);
  if (!separator) return false;
  require(options.positive.empty(), ErrorKind::InvalidArgument,
          "data.positive names the labels of one outcome, but patients have several labels; leave "
          "it out, or set data.target_kind=class");
  LabelSet labels(kPatientWords);
  for_each_answer(patients, every,
                  [&](const VisitLabel& answer, const PatientRecord&, Split split) {
                    const bool is_list = answer.cell == LabelCell::List;
                    for (const std::string& label :
                         is_list ? answer.labels : labels_in(answer.label, *separator))
                      labels.add(label, split);
                  });
  require(labels.trained().size() >= 2, ErrorKind::BadData, "the training patients have ",
          labels.trained().size(), " different labels; several labels are at least two");
  coding.labels.assign(labels.all().begin(), labels.all().end());
  coding.separator = *separator;
  for (const std::string& note : labels.notes()) notes.push_back(note);
  return true;
}

void fit_labels(const SplitRows<PatientRecord>& patients, const VisitsDataOptions& options,
                VisitCoding& coding, Notes& notes) {
  if (fit_several(patients, options, coding, notes)) return;
  LabelSet labels(kPatientWords);
  for_each_answer(patients, options.reading.every(),
                  [&](const VisitLabel& answer, const PatientRecord& patient, Split split) {
                    require(answer.labels.size() <= 1, ErrorKind::BadData, "the ",
                            kSplitNames[split], " patient '", patient.name, "' has the labels ",
                            join(answer.labels), ", where one is expected (data.target_kind)");
                    if (!answer.label.empty()) labels.add(answer.label, split);
                  });
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

/// As numbers. None where nothing is known: an empty cell that might have held several labels.
std::optional<VisitTarget> find_target(const VisitLabel& answer, const PatientRecord& patient,
                                       const VisitCoding& coding, int split) {
  VisitTarget target;
  if (coding.kind() == AnswerKind::Labels) {
    target.targets.assign(coding.labels.size(), 0);
    for (const std::string& label : decided(answer, coding).labels)
      target.targets[size_t(label_index(label, coding.labels, split, kPatientWords))] = 1;
    return target;
  }
  if (answer.label.empty()) return {};
  const auto holds = [&](const std::vector<std::string>& labels) {
    return std::find(labels.begin(), labels.end(), answer.label) != labels.end();
  };
  target.label = holds(coding.positive);
  require(target.label == 1 || holds(coding.negative), ErrorKind::BadData, "the ",
          kSplitNames[split], " patient '", patient.name, "' has the label '", answer.label,
          "', which this run does not know: ", join(coding.negative), ", ", join(coding.positive));
  return target;
}

/// Patients with what is to be known of them; those of whom nothing is are left out.
std::vector<LabelledPatient> label_patients(Rows<PatientRecord> records, bool every,
                                            const VisitCoding& coding, Split split, Notes& notes) {
  std::vector<LabelledPatient> labelled;
  int64_t without = 0;
  records.take_each([&](PatientRecord&& record) {
    LabelledPatient patient;
    for (size_t i = 0; every && i < record.visits.size(); ++i) {
      const VisitLabel& answer = record.visits[i].answer;
      if (!answer.is_there()) continue;
      if (auto target = find_target(answer, record, coding, split)) {
        target->visits = int64_t(i) + 1;
        patient.every.push_back(std::move(*target));
      }
    }
    if (!every)
      if (auto target = find_target(record.answer(), record, coding, split)) {
        patient.label = target->label;
        patient.targets = std::move(target->targets);
      }
    if (patient.every.empty() && patient.targets.empty() && patient.label < 0) {
      ++without;
      return;
    }
    patient.record = std::move(record);
    labelled.push_back(std::move(patient));
  });
  if (without > 0)
    notes.push_back(concat(format_count(without), " ", kSplitNames[split],
                           " patients without a label were left out"));
  return labelled;
}

/// "the outcome is 'yes': 30 of 100 training patients", "4 labels, 1.3 of a training patient".
std::string outcome_note(const SplitRows<PatientRecord>& patients, bool every,
                         const VisitCoding& coding) {
  int64_t all = 0, positive = 0;
  for_each_answer(patients, every,
                  [&](const VisitLabel& answer, const PatientRecord& patient, Split split) {
                    if (split != kTrain) return;
                    const auto target = find_target(answer, patient, coding, split);
                    if (!target) return;
                    ++all;
                    positive += std::max<int64_t>(target->label, 0);
                    for (const float label : target->targets) positive += label > 0;
                  });
  const char* rows = every ? " training visits" : " training patients";
  if (coding.kind() == AnswerKind::Class)
    return concat("the outcome is '", coding.outcome(), "': ", format_count(positive), " of ",
                  format_count(all), rows);
  return concat(coding.labels.size(), " labels, ",
                format_number(double(positive) / double(std::max<int64_t>(all, 1)), 3),
                " on average of ", format_count(all), rows);
}

void fit_coding(const SplitRows<PatientRecord>& patients, const DataSource& source,
                const VisitsDataOptions& options, VisitCoding& coding, Notes& notes) {
  VisitCoding fitted;
  fitted.columns = source.roles;
  fit_labels(patients, options, fitted, notes);
  fitted.codes = learn_codes(patients.train, options.minimum_count);
  fitted.times = true;
  patients.train.for_each([&](const PatientRecord& patient) {
    fitted.times &= std::all_of(patient.visits.begin(), patient.visits.end(),
                                [](const Visit& visit) { return visit.time.has_value(); });
  });
  notes.push_back(concat(outcome_note(patients, options.reading.every(), fitted), "; ",
                         format_count(fitted.codes->size() - Vocabulary::kSpecial), " codes",
                         fitted.times ? "" : ", no times"));
  coding = std::move(fitted);
}

void note_visits(const VisitDataset& rows, const VisitsDataOptions& options, const char* split,
                 Notes& notes) {
  notes.push_back(
      concat(format_count(rows.size()), " ", split,
             options.reading.every() ? " visits, with those before them " : " patients with ",
             format_count(rows.visits()), options.reading.every() ? "; " : " visits; ",
             format_number(100 * rows.unknown_share(), 3), " % of their codes are unknown"));
  if (rows.cut_patients() > 0)
    notes.push_back(concat(format_count(rows.cut_patients()), " ", split,
                           options.reading.every() ? " rows" : " patients", " have more than ",
                           options.maximum_visits,
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
  target.describe(list, "visits.md");
}

std::vector<std::string> VisitCoding::classes() const {
  if (!labels.empty()) return labels;
  return {join(negative, " or "), outcome()};
}

VisitEncoder VisitCoding::encoder(const VisitsDataOptions& options) const {
  return {codes, outcome(), labels, options.time_unit, options.maximum_visits, {}};
}

Json VisitCoding::to_json() const {
  Json json{{"negative", negative},
            {"positive", positive},
            {"times", times},
            {"columns", columns},
            {"codes", codes->to_json()}};
  if (kind() == AnswerKind::Labels) json["labels"] = labels, json["separator"] = separator;
  return json;
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
  if (const auto labels = root.find("labels")) {
    coding.labels = labels->texts();
    labels->expect(coding.labels.size() >= 2, "two labels at least");
    coding.separator = root.at("separator").text();
  }
  require(
      coding.kind() == AnswerKind::Labels || (!coding.negative.empty() && !coding.positive.empty()),
      ErrorKind::BadData, where, ": has no labels for one side of the outcome");
  return coding;
}

Splits load_visits(const DataSource& source, const VisitsDataOptions& options, VisitCoding& coding,
                   uint64_t seed) {
  if (source.path.empty()) check_roles(source, {});
  PatientSplits patients = source.path.empty()
                               ? draw_visits(options.generator, drawn_answers(options))
                               : read_patients(source, options, !coding.fitted(), seed);
  VisitEncoder encoder;
  const auto fit = [&](const SplitRows<PatientRecord>& rows, Notes& notes) {
    if (!coding.fitted()) fit_coding(rows, source, options, coding, notes);
    encoder = coding.encoder(options);
    encoder.planted = patients.planted;
  };
  const auto encode = [&](Rows<PatientRecord> records, Split split, Notes& notes) {
    std::vector<LabelledPatient> labelled =
        label_patients(std::move(records), options.reading.every(), coding, split, notes);
    if (labelled.empty()) return std::shared_ptr<VisitDataset>();
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
  const SyntheticAnswers answers = drawn_answers(options);
  const PatientSplits patients = draw_visits(options.generator, answers);
  write_splits<PatientRecord>(folder, patients, ".tsv", [&](const auto& records) {
    std::string content =
        concat("patient\ttime\tcodes\t", answers.several ? kLabelsColumn : "label", "\n");
    for (const PatientRecord& patient : records)
      for (const Visit& visit : patient.visits)
        content +=
            concat(patient.name, "\t", format_exact(*visit.time), "\t", join(visit.codes, " "),
                   "\t", answers.every ? visit.answer.label : patient.label, "\n");
    return content;
  });
  const PlantedCodes& planted = patients.planted;
  Json truth{
      {"raising", planted.raising}, {"lowering", planted.lowering}, {"recent", planted.recent}};
  if (planted.several) truth["several"] = true;
  write_description(folder, "visits", options_json(options.generator), {{"truth", truth}});
}

}  // namespace fovea

#include "fovea/data/visits/patients.h"

#include <algorithm>
#include <iterator>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

namespace {

Split split_of_patient(const std::string& name, const std::optional<Split>& before,
                       const std::string& cell, const std::string& place) {
  const Split split = split_in_cell(cell, place);
  require(!before || *before == split, ErrorKind::BadData, place, ": patient '", name,
          "' is in two splits, ", kSplitNames[split], " here and ",
          before ? kSplitNames[*before] : "",
          " before; all visits of a patient belong to one, or the test has been seen");
  return split;
}

}  // namespace

void GatheredPatients::add(VisitLine line, const std::string& place) {
  const auto& fields = line.fields;
  const std::string name(trim(fields[VisitLine::Patient].value_or("")));
  if (name.empty()) {
    ++without_patient_;
    return;
  }
  Entry& patient = entry_of(name);
  if (const auto& split = fields[VisitLine::Split])
    patient.split = split_of_patient(name, patient.split, *split, place);
  std::optional<double> time;
  if (fields[VisitLine::Time]) time = time_in_cell(*fields[VisitLine::Time], place);
  patient.lines.push_back({{std::move(line.codes), time}, std::move(line.answer), place});
}

GatheredPatients::Entry& GatheredPatients::entry_of(const std::string& name) {
  const auto [found, is_new] = numbers_.try_emplace(name, patients_.size());
  if (is_new) patients_.push_back({name, {}, {}});
  return patients_[found->second];
}

FileRows<PatientRecord> GatheredPatients::take(const std::string& path, const std::string& hash,
                                               const RowSink<PatientRecord>& sink) {
  FileRows<PatientRecord> result{sink};
  result.hash = hash;
  for (Entry& patient : patients_) {
    PatientRecord record = record_of(patient);
    if (is_left_out(record)) continue;
    result.add(std::move(record), patient.split);
  }
  add_notes(path, result.notes);
  require(result.count > 0, ErrorKind::BadData, path, ": holds no patient",
          options_.needs_label ? " with codes and a label" : "");
  return result;
}

/// Visits in order; those of one time are one visit.
PatientRecord GatheredPatients::record_of(Entry& patient) {
  std::vector<Row>& lines = patient.lines;
  const auto earlier = [](const Row& a, const Row& b) { return a.visit.time < b.visit.time; };
  if (!std::is_sorted(lines.begin(), lines.end(), earlier)) {
    ++out_of_order_;
    std::stable_sort(lines.begin(), lines.end(), earlier);
  }
  PatientRecord record{patient.name, {}, ""};
  bool disagree = false;
  for (Row& row : lines) {
    auto& visits = record.visits;
    const bool same = !visits.empty() && row.visit.time && visits.back().time == row.visit.time;
    same_time_ += same;
    if (!same) visits.push_back({{}, row.visit.time});
    std::move(row.visit.codes.begin(), row.visit.codes.end(),
              std::back_inserter(visits.back().codes));
    if (options_.every() && row.answer.is_there()) visits.back().answer = row.answer;
    take_label(row, record, disagree);
  }
  for (Visit& visit : record.visits) visit.codes = distinct_codes(visit.codes);
  disagreeing_ += disagree;
  return record;
}

void GatheredPatients::take_label(const Row& row, PatientRecord& record, bool& disagree) const {
  if (row.answer.label.empty() && row.answer.cell != LabelCell::List) {
    if (record.label.empty()) record.cell = row.answer.cell;
    return;
  }
  const bool differs = record.answer().is_there() && record.label != row.answer.label &&
                       !(record.cell == LabelCell::Perhaps && record.label.empty());
  require(!differs || options_.labels != "same", ErrorKind::BadData, row.place, ": patient '",
          record.name, "' has the label '", row.answer.label, "' here and '", record.label,
          "' before; with data.labels=last that of the last visit counts");
  disagree = disagree || (differs && !options_.every());
  record.set_answer(row.answer);
}

bool GatheredPatients::is_answered(const PatientRecord& record) const {
  if (!options_.every()) return record.answer().is_there();
  return std::any_of(record.visits.begin(), record.visits.end(),
                     [](const Visit& visit) { return visit.answer.is_there(); });
}

/// Nothing can be learned from a patient without codes or label; but who asks for an answer gets
/// one.
bool GatheredPatients::is_left_out(const PatientRecord& record) {
  if (!options_.needs_label) return false;
  const bool has_codes = std::any_of(record.visits.begin(), record.visits.end(),
                                     [](const Visit& visit) { return !visit.codes.empty(); });
  const bool has_label = is_answered(record);
  without_code_ += !has_codes;
  without_label_ += has_codes && !has_label;
  return !has_codes || !has_label;
}

void GatheredPatients::add_notes(const std::string& path, std::vector<std::string>& notes) const {
  const auto note = [&](int64_t count, const char* what) {
    if (count > 0) notes.push_back(concat(path, ": ", format_count(count), what));
  };
  note(without_patient_, " lines without a patient were left out");
  note(without_code_, " patients without a code were left out");
  note(without_label_, " patients without a label were left out");
  note(out_of_order_, " patients have visits that were not in the order of time; they are now");
  note(same_time_, " lines have the patient and the time of another one: they are one visit");
  note(disagreeing_, " patients have visits with different labels: that of the last counts");
}

}  // namespace fovea

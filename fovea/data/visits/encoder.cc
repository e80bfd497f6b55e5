#include "fovea/data/visits/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/data/padding.h"

namespace fovea {

namespace {

using at::Tensor;

/// The visits of the record that are read.
std::span<const Visit> last_visits(const PatientRecord& record, int64_t most) {
  const std::span<const Visit> all(record.visits);
  const auto count = std::min(all.size(), size_t(std::max<int64_t>(most, 0)));
  return all.last(count);
}

std::vector<Axis> make_axes(std::span<const Visit> visits, size_t cut,
                            const VisitEncoder& encoder) {
  Axis outcome{"outcome", "prediction", {encoder.outcome}};
  if (!encoder.labels.empty()) outcome.labels = encoder.labels;
  outcome.output = true;
  Axis of_visits{"visits", "visit", {}}, codes{"codes", "code", {}};
  codes.parent = of_visits.name;
  codes.offsets = {0};
  for (size_t i = 0; i < visits.size(); ++i) {
    of_visits.labels.push_back(concat("visit ", cut + i + 1));
    if (visits[i].time) of_visits.times.push_back(*visits[i].time);
    codes.labels.insert(codes.labels.end(), visits[i].codes.begin(), visits[i].codes.end());
    codes.offsets.push_back(int64_t(codes.labels.size()));
  }
  if (of_visits.times.size() != visits.size()) of_visits.times.clear();
  if (!of_visits.times.empty()) of_visits.time_unit = encoder.time_unit;
  return {outcome, of_visits, codes};
}

/// Which codes decide, of each of the outcomes, and which visits hold them.
void add_truth(std::span<const Visit> visits, const PlantedCodes& planted,
               const std::vector<std::string>& outcomes, Example& example) {
  const auto count = static_cast<int64_t>(visits.size());
  const int64_t codes = example.tensors.at("codes").size(0);
  const auto add = [&](const char* name, int64_t width, int64_t rows = 1) {
    return (example.truth[name] = at::zeros({rows, width}, at::kBool)).data_ptr<bool>();
  };
  bool *of_codes = add("contributions", codes, int64_t(outcomes.size())),
       *of_visits = add("visits", count);
  bool *raising = add("raising", codes), *lowering = add("lowering", codes);
  int64_t place = 0;
  for (int64_t visit = 0; visit < count; ++visit)
    for (const std::string& code : visits[size_t(visit)].codes) {
      const bool counts = planted.recent == 0 || count - visit <= planted.recent;
      const int effect = planted.effect_of(code);
      raising[place] = effect > 0;
      lowering[place] = effect < 0;
      for (size_t i = 0; i < outcomes.size(); ++i)
        of_codes[int64_t(i) * codes + place] = counts && planted.effect_of(code, outcomes[i]) != 0;
      of_visits[visit] |= counts && effect != 0;
      ++place;
    }
}

}  // namespace

VisitEncoder::Encoded VisitEncoder::encode(const PatientRecord& record) const {
  const std::span<const Visit> visits = last_visits(record, maximum_visits);
  Encoded encoded;
  encoded.cut = int64_t(record.visits.size() - visits.size());
  for (size_t i = 0; i < visits.size(); ++i) {
    for (const std::string& code : visits[i].codes) {
      encoded.codes.push_back(int32_t(codes->id(code)));
      encoded.visit_of.push_back(int32_t(i));
    }
    const bool timed = i > 0 && visits[i].time && visits[i - 1].time;
    const double pause = timed ? *visits[i].time - *visits[i - 1].time : 0;
    encoded.gaps.push_back(float(std::log1p(std::max(0.0, pause))));
  }
  return encoded;
}

Example VisitEncoder::example(const PatientRecord& record) const {
  const Encoded encoded = encode(record);
  Example example;
  example.tensors["codes"] = at::tensor(encoded.codes, at::kLong);        // [K]
  example.tensors["visit_of"] = at::tensor(encoded.visit_of, at::kLong);  // [K]
  example.tensors["gaps"] = at::tensor(encoded.gaps, at::kFloat);         // [V]
  const std::span<const Visit> visits = last_visits(record, maximum_visits);
  example.axes = make_axes(visits, size_t(encoded.cut), *this);
  example.add_cut("visits", int64_t(visits.size()), encoded.cut);
  if (!planted.empty()) add_truth(visits, planted, example.axis("outcome").labels, example);
  return example;
}

Batch collate_visits(std::span<const Example> examples) {
  Batch batch{{}, int64_t(examples.size())};
  for (const char* name : {"codes", "visit_of", "gaps"})
    batch.tensors[name] = pad_tensors(examples, name);
  batch.tensors["codes.keep"] = keep_tensors(examples, "codes");
  batch.tensors["visits.keep"] = keep_tensors(examples, "gaps");
  return batch;
}

Example erase_codes(const Example& example, const std::string& axis,
                    std::span<const int64_t> units) {
  return erase_nested(example, "codes", "visits", axis, units);
}

VisitDataset::VisitDataset(std::vector<LabelledPatient> patients, VisitEncoder encoder)
    : patients_(std::move(patients)), encoder_(std::move(encoder)) {
  VisitEncoder whole = encoder_;
  whole.maximum_visits = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < patients_.size(); ++i) {
    const LabelledPatient& patient = patients_[i];
    VisitEncoder::Encoded encoded = whole.encode(patient.record);
    Known known{std::move(encoded.codes), {0}, std::move(encoded.gaps)};
    for (const Visit& visit : patient.record.visits)
      known.begin.push_back(known.begin.back() + int32_t(visit.codes.size()));
    known_.push_back(std::move(known));
    const auto visits = int64_t(patient.record.visits.size());
    if (patient.every.empty()) add_row({i, visits, &patient.targets, patient.label});
    for (const VisitTarget& at : patient.every) add_row({i, at.visits, &at.targets, at.label});
  }
}

void VisitDataset::add_row(const Row& row) {
  const Known& known = known_[row.patient];
  const int64_t first = first_visit(row);
  cut_patients_ += first > 0;
  visits_ += row.visits - first;
  const auto begin = known.codes.begin() + known.begin[size_t(first)],
             end = known.codes.begin() + known.begin[size_t(row.visits)];
  codes_ += end - begin;
  unknown_ += std::count(begin, end, int32_t{Vocabulary::kUnknown});
  rows_.push_back(row);
}

int64_t VisitDataset::first_visit(const Row& row) const {
  return std::max<int64_t>(0, row.visits - std::max<int64_t>(encoder_.maximum_visits, 0));
}

PatientRecord VisitDataset::record(int64_t row) const {
  PatientRecord record = patients_[at(row).patient].record;
  record.visits.resize(size_t(at(row).visits));
  return record;
}

VisitEncoder::Encoded VisitDataset::encoded(int64_t number) const {
  const Row& row = at(number);
  const Known& known = known_[row.patient];
  VisitEncoder::Encoded encoded;
  encoded.cut = first_visit(row);
  for (int64_t visit = encoded.cut; visit < row.visits; ++visit) {
    for (int32_t code = known.begin[size_t(visit)]; code < known.begin[size_t(visit) + 1]; ++code) {
      encoded.codes.push_back(known.codes[size_t(code)]);
      encoded.visit_of.push_back(int32_t(visit - encoded.cut));
    }
    encoded.gaps.push_back(visit == encoded.cut ? 0.0f : known.gaps[size_t(visit)]);
  }
  return encoded;
}

int64_t VisitDataset::length(int64_t row) const {
  const Known& known = known_[at(row).patient];
  return std::max<int64_t>(
      1, known.begin[size_t(at(row).visits)] - known.begin[size_t(first_visit(at(row)))]);
}

Json VisitDataset::input(int64_t row) const {
  Json visits = Json::array();
  const PatientRecord own = record(row);
  for (const Visit& visit : own.visits) {
    Json json = Json::object();
    if (visit.time) json["time"] = *visit.time;
    json["codes"] = visit.codes;
    visits.push_back(std::move(json));
  }
  return {{"visits", std::move(visits)}};
}

Batch VisitDataset::batch(std::span<const int64_t> rows) const {
  std::vector<VisitEncoder::Encoded> all;
  for (const int64_t row : rows) all.push_back(encoded(row));
  const auto codes = [&](int64_t row) -> const auto& {
    return all[size_t(row)].codes;
  };
  const auto visit_of = [&](int64_t row) -> const auto& {
    return all[size_t(row)].visit_of;
  };
  const auto gaps = [&](int64_t row) -> const auto& {
    return all[size_t(row)].gaps;
  };
  Batch batch{{}, int64_t(rows.size())};
  batch.tensors["codes"] = pad_rows<int64_t>(batch.size, codes);
  batch.tensors["visit_of"] = pad_rows<int64_t>(batch.size, visit_of);
  batch.tensors["gaps"] = pad_rows<float>(batch.size, gaps);
  batch.tensors["codes.keep"] = keep_rows(batch.size, codes);
  batch.tensors["visits.keep"] = keep_rows(batch.size, gaps);
  if (!encoder_.labels.empty()) {
    const auto width = int64_t(encoder_.labels.size());
    const Tensor targets = batch.tensors["target"] = at::zeros({batch.size, width});  // [B, C]
    for (int64_t i = 0; i < batch.size; ++i)
      std::copy(at(rows[size_t(i)]).targets->begin(), at(rows[size_t(i)]).targets->end(),
                targets.data_ptr<float>() + i * width);
    return batch;
  }
  std::vector<int64_t> labels;
  for (const int64_t row : rows) labels.push_back(at(row).label);
  batch.tensors["target"] = at::tensor(labels, at::kLong);  // [B]
  return batch;
}

}  // namespace fovea

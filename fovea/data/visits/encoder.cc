#include "fovea/data/visits/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

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

/// Which codes decide, and which visits hold them.
void add_truth(std::span<const Visit> visits, const PlantedCodes& planted, Example& example) {
  const auto count = static_cast<int64_t>(visits.size());
  const int64_t codes = example.tensors.at("codes").size(0);
  const auto add = [&](const char* name, int64_t width) {
    return (example.truth[name] = at::zeros({1, width}, at::kBool)).data_ptr<bool>();
  };
  bool *of_codes = add("contributions", codes), *of_visits = add("visits", count);
  bool *raising = add("raising", codes), *lowering = add("lowering", codes);
  int64_t place = 0;
  for (int64_t visit = 0; visit < count; ++visit)
    for (const std::string& code : visits[size_t(visit)].codes) {
      const bool counts = planted.recent == 0 || count - visit <= planted.recent;
      const int effect = planted.effect_of(code);
      raising[place] = effect > 0;
      lowering[place] = effect < 0;
      of_codes[place++] = counts && effect != 0;
      of_visits[visit] |= counts && effect != 0;
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
  if (!planted.empty()) add_truth(visits, planted, example);
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
  int64_t codes = 0, unknown = 0;
  for (const LabelledPatient& patient : patients_) {
    rows_.push_back(encoder_.encode(patient.record));
    const VisitEncoder::Encoded& row = rows_.back();
    cut_patients_ += row.cut > 0;
    visits_ += int64_t(row.gaps.size());
    codes += int64_t(row.codes.size());
    unknown += std::count(row.codes.begin(), row.codes.end(), int32_t{Vocabulary::kUnknown});
  }
  if (codes > 0) unknown_share_ = double(unknown) / double(codes);
}

int64_t VisitDataset::length(int64_t row) const {
  return std::max<int64_t>(1, int64_t(row_of(row).codes.size()));
}

Json VisitDataset::input(int64_t row) const {
  Json visits = Json::array();
  for (const Visit& visit : record(row).visits) {
    Json json = Json::object();
    if (visit.time) json["time"] = *visit.time;
    json["codes"] = visit.codes;
    visits.push_back(std::move(json));
  }
  return {{"visits", std::move(visits)}};
}

Batch VisitDataset::batch(std::span<const int64_t> rows) const {
  const auto row_at = [&](int64_t row) -> const auto& {
    return row_of(rows[size_t(row)]);
  };
  const auto codes = [&](int64_t row) -> const auto& {
    return row_at(row).codes;
  };
  const auto visit_of = [&](int64_t row) -> const auto& {
    return row_at(row).visit_of;
  };
  const auto gaps = [&](int64_t row) -> const auto& {
    return row_at(row).gaps;
  };
  Batch batch{{}, int64_t(rows.size())};
  batch.tensors["codes"] = pad_rows<int64_t>(batch.size, codes);
  batch.tensors["visit_of"] = pad_rows<int64_t>(batch.size, visit_of);
  batch.tensors["gaps"] = pad_rows<float>(batch.size, gaps);
  batch.tensors["codes.keep"] = keep_rows(batch.size, codes);
  batch.tensors["visits.keep"] = keep_rows(batch.size, gaps);
  std::vector<int64_t> labels;
  for (const int64_t row : rows) labels.push_back(patients_.at(size_t(row)).label);
  batch.tensors["target"] = at::tensor(labels, at::kLong);  // [B]
  return batch;
}

}  // namespace fovea

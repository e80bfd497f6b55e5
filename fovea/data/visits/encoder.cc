#include "fovea/data/visits/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/erase.h"

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

/// Rows of numbers side by side, 0 behind them.
template <class Number, class RowOf>
Tensor padded(int64_t rows, at::ScalarType type, const RowOf& row_of) {
  size_t longest = 0;
  for (int64_t row = 0; row < rows; ++row) longest = std::max(longest, row_of(row).size());
  const Tensor numbers = at::zeros({rows, int64_t(longest)}, type);
  for (int64_t row = 0; row < rows; ++row) {
    const auto& own = row_of(row);
    std::copy(own.begin(), own.end(), numbers.data_ptr<Number>() + row * int64_t(longest));
  }
  return numbers;
}

template <class RowOf>
Tensor kept(int64_t rows, int64_t longest, const RowOf& row_of) {
  const Tensor keep = at::zeros({rows, longest}, at::kBool);
  for (int64_t row = 0; row < rows; ++row)
    std::fill_n(keep.data_ptr<bool>() + row * longest, row_of(row).size(), true);
  return keep;
}

/// `row_of(row)` is an Encoded.
template <class EncodedOf>
Batch batch_of(int64_t rows, const EncodedOf& row_of) {
  const auto codes = [&](int64_t row) -> const auto& {
    return row_of(row).codes;
  };
  const auto visit_of = [&](int64_t row) -> const auto& {
    return row_of(row).visit_of;
  };
  const auto gaps = [&](int64_t row) -> const auto& {
    return row_of(row).gaps;
  };
  Batch batch;
  batch.size = rows;
  Tensor& of_codes = batch.tensors["codes"] = padded<int64_t>(rows, at::kLong, codes);
  batch.tensors["visit_of"] = padded<int64_t>(rows, at::kLong, visit_of);
  Tensor& of_visits = batch.tensors["gaps"] = padded<float>(rows, at::kFloat, gaps);
  batch.tensors["codes.keep"] = kept(rows, of_codes.size(1), codes);
  batch.tensors["visits.keep"] = kept(rows, of_visits.size(1), gaps);
  return batch;
}

template <class Number>
std::vector<Number> to_vector(const Tensor& tensor, at::ScalarType type) {
  const Tensor plain = tensor.to(at::kCPU, type).contiguous();
  return {plain.data_ptr<Number>(), plain.data_ptr<Number>() + plain.numel()};
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
  struct Row {
    std::vector<int64_t> codes, visit_of;
    std::vector<float> gaps;
  };
  std::vector<Row> rows;
  for (const Example& example : examples)
    rows.push_back({to_vector<int64_t>(example.tensors.at("codes"), at::kLong),
                    to_vector<int64_t>(example.tensors.at("visit_of"), at::kLong),
                    to_vector<float>(example.tensors.at("gaps"), at::kFloat)});
  return batch_of(int64_t(rows.size()),
                  [&](int64_t row) -> const Row& { return rows[size_t(row)]; });
}

Example erase_codes(const Example& example, const std::string& axis,
                    std::span<const int64_t> units) {
  if (axis == "codes") return erase_symbols(example, "codes", units);
  require(axis == "visits", ErrorKind::Unsupported, "units of the axis '", axis,
          "' cannot be erased");
  const std::vector<int64_t>& offsets = example.axis("codes").offsets;
  std::vector<int64_t> codes;
  for (const int64_t unit : units) {
    require(unit >= 0 && unit + 1 < int64_t(offsets.size()), ErrorKind::InvalidArgument, "visit ",
            unit, " cannot be erased: there are ", offsets.size() - 1);
    for (int64_t code = offsets[size_t(unit)]; code < offsets[size_t(unit) + 1]; ++code)
      codes.push_back(code);
  }
  return erase_symbols(example, "codes", codes);
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
  Batch batch = batch_of(int64_t(rows.size()), [&](int64_t row) -> const VisitEncoder::Encoded& {
    return row_of(rows[size_t(row)]);
  });
  std::vector<int64_t> labels;
  for (const int64_t row : rows) labels.push_back(patients_.at(size_t(row)).label);
  batch.tensors["target"] = at::tensor(labels, at::kLong);  // [B]
  return batch;
}

}  // namespace fovea

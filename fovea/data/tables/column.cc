#include "fovea/data/tables/column.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

TableColumn TableColumn::of_numbers(std::string name, std::span<const double> values,
                                    const NumberFit& fit) {
  TableColumn column;
  column.name_ = std::move(name);
  column.number_encoding_ = NumberEncoding::fit(values, fit);
  column.constant_ = column.number_encoding_.is_constant();
  const auto missing =
      std::count_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  column.missing_share_ = double(missing) / double(values.size());
  return column;
}

TableColumn TableColumn::of_texts(std::string name, std::span<const std::string_view> cells,
                                  int64_t max_categories) {
  TableColumn column;
  column.name_ = std::move(name);
  column.number_ = false;
  std::unordered_map<std::string_view, int64_t> counts;
  int64_t missing = 0;
  for (const std::string_view cell : cells) {
    if (is_missing(cell)) {
      ++missing;
    } else {
      ++counts[cell];
    }
  }
  std::vector<std::pair<std::string_view, int64_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  const double total = double(cells.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double share = double(sorted[i].second) / total;
    if (int64_t(i) < max_categories) {
      column.categories_.emplace_back(sorted[i].first);
      column.shares_.push_back(share);
    } else {
      column.other_share_ += share;
    }
  }
  column.missing_share_ = double(missing) / total;
  column.constant_ = sorted.size() == 1 && missing == 0;
  column.index_categories();
  return column;
}

void TableColumn::index_categories() {
  index_.clear();
  for (size_t i = 0; i < categories_.size(); ++i) index_.emplace(categories_[i], int64_t(i));
}

int64_t TableColumn::inputs() const {
  const int64_t missing = missing_share_ > 0;
  if (number_) return number_encoding_.inputs() + missing;
  return constant_ ? 1 : int64_t(categories_.size()) + (other_share_ > 0) + missing;
}

std::vector<std::string> TableColumn::input_names() const {
  std::vector<std::string> names;
  if (number_ || constant_) {
    names = number_encoding_.input_names(name_);
  } else {
    for (const std::string& category : categories_) names.push_back(concat(name_, "=", category));
    if (other_share_ > 0) names.push_back(name_ + "=(other)");
  }
  if (missing_share_ > 0) names.push_back(name_ + "=(missing)");
  return names;
}

std::vector<double> TableColumn::input_means() const {
  std::vector<double> means;
  if (constant_) {
    means.push_back(0);
  } else if (number_) {
    means = number_encoding_.input_means();
    if (means.size() > 1)  // without pieces a missing value is the mean
      for (double& mean : means) mean *= 1 - missing_share_;
  } else {
    means = shares_;
    if (other_share_ > 0) means.push_back(other_share_);
  }
  if (missing_share_ > 0) means.push_back(missing_share_);
  return means;
}

std::vector<InputRole> TableColumn::input_roles() const {
  std::vector<InputRole> roles(size_t(inputs()),
                               number_ || constant_ ? InputRole::Piece : InputRole::Category);
  if (number_ || constant_) roles.front() = InputRole::Value;
  if (missing_share_ > 0) roles.back() = InputRole::Missing;
  return roles;
}

void TableColumn::encode(double value, float* inputs) const {
  if (!std::isnan(value)) return number_encoding_.encode(value, inputs);
  if (missing_share_ > 0) inputs[number_encoding_.inputs()] = 1;
  const std::vector<double>& means = number_encoding_.input_means();
  if (missing_share_ > 0 && means.size() > 1) return;  // the pieces of a missing number are all 0
  for (size_t i = 0; i < means.size(); ++i) inputs[i] = float(means[i]);
}

std::string TableColumn::decode(const float* inputs) const {
  if (number_) {
    if (missing_share_ > 0 && inputs[number_encoding_.inputs()] != 0) return "";
    return format_number(number_encoding_.decode(inputs), 6);
  }
  if (constant_) return categories_.empty() ? "" : categories_.front();
  for (size_t i = 0; i < categories_.size(); ++i)
    if (inputs[i] != 0) return categories_[i];
  return "";
}

bool TableColumn::encode(std::string_view cell, float* inputs) const {
  cell = trim_cell(cell);
  const bool missing = is_missing(cell);
  if (number_) {
    double value = NAN;
    if (!missing && !parse_cell(cell, value)) return false;
    encode(value, inputs);
    return true;
  }
  if (constant_) return true;
  if (missing) {
    if (missing_share_ > 0) inputs[categories_.size() + (other_share_ > 0)] = 1;
    return true;
  }
  const auto known = index_.find(cell);
  if (known != index_.end()) {
    inputs[known->second] = 1;
  } else if (other_share_ > 0) {
    inputs[categories_.size()] = 1;
  }
  return true;
}

Json TableColumn::to_json() const {
  Json json{{"name", name_}, {"type", number_ ? "number" : "category"}, {"constant", constant_}};
  json["missing_share"] = missing_share_;
  if (number_) {
    json.update(number_encoding_.to_json());
  } else {
    json["categories"] = categories_;
    json["shares"] = shares_;
    json["other_share"] = other_share_;
  }
  return json;
}

TableColumn TableColumn::from_json(const Field& field) {
  TableColumn column;
  column.name_ = field.at("name").text();
  const std::string type = field.at("type").text();
  column.number_ = type == "number";
  field.at("type").expect(column.number_ || type == "category", "number or category");
  column.constant_ = field.at("constant").mark();
  column.missing_share_ = field.at("missing_share").finite();
  if (column.number_) {
    column.number_encoding_ = NumberEncoding::from_json(field);
  } else {
    column.categories_ = field.at("categories").texts();
    column.shares_ = field.at("shares").finites(column.categories_.size());
    column.other_share_ = field.at("other_share").finite();
    column.index_categories();
    require(!column.constant_ || column.missing_share_ <= 0, ErrorKind::BadData, field.place(),
            ": a column that is always the same has no missing cells");
  }
  return column;
}

}  // namespace fovea

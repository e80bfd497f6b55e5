#include "fovea/data/tables/column.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

namespace {

double nan_share(std::span<const double> values) {
  const auto missing =
      std::count_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  return double(missing) / double(values.size());
}

/// Far from all that training saw: a tenth of the range beyond it.
bool is_far(double value, double low, double high) {
  constexpr double kFar = 0.1;
  const double room = kFar * (high - low);
  return value < low - room || value > high + room;
}

}  // namespace

const char* name_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::Number:
      return "number";
    case ColumnKind::Category:
      return "category";
    case ColumnKind::Date:
      return "date";
    case ColumnKind::Text:
      return "text";
  }
  return "number";
}

TableColumn TableColumn::of_numbers(std::string name, std::span<const double> values,
                                    const NumberFit& fit, const NumberFormat& format) {
  TableColumn column;
  column.name_ = std::move(name);
  column.format_ = format;
  column.number_ = NumberEncoding::fit(values, fit);
  column.constant_ = column.number_.is_constant();
  column.missing_share_ = nan_share(values);
  column.finish();
  return column;
}

TableColumn TableColumn::of_dates(std::string name, std::span<const double> times,
                                  const DateFormat& format, const NumberFit& fit) {
  TableColumn column;
  column.name_ = std::move(name);
  column.kind_ = ColumnKind::Date;
  column.calendar_ = CalendarEncoding::fit(times, format, fit);
  column.constant_ = column.calendar_.is_constant();
  column.missing_share_ = nan_share(times);
  column.finish();
  return column;
}

TableColumn TableColumn::of_words(std::string name, std::span<const std::string_view> cells,
                                  int64_t most) {
  TableColumn column;
  column.name_ = std::move(name);
  column.kind_ = ColumnKind::Text;
  column.words_ = WordEncoding::fit(cells, most);
  column.missing_share_ =
      double(std::count_if(cells.begin(), cells.end(), is_missing)) / double(cells.size());
  column.finish();
  return column;
}

TableColumn TableColumn::of_texts(std::string name, std::span<const std::string_view> cells,
                                  int64_t max_categories) {
  TableColumn column;
  column.name_ = std::move(name);
  column.kind_ = ColumnKind::Category;
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
  column.finish();
  return column;
}

void TableColumn::finish() {
  index_ = CategoryIndex(categories_);
  inputs_ = int64_t(own_means().size()) + (missing_share_ > 0);
}

std::vector<double> TableColumn::own_means() const {
  if (kind_ == ColumnKind::Number) return number_.input_means();
  if (kind_ == ColumnKind::Date) return calendar_.input_means();
  if (kind_ == ColumnKind::Text) return words_.input_means();
  if (constant_) return {0};
  std::vector<double> means = shares_;
  if (other_share_ > 0) means.push_back(other_share_);
  return means;
}

std::vector<double> TableColumn::input_means() const {
  std::vector<double> means = own_means();
  const bool zeros = kind_ == ColumnKind::Date || (is_number() && means.size() > 1);
  if (zeros)  // what a missing number with pieces has; without pieces it is the mean
    for (double& mean : means) mean *= 1 - missing_share_;
  if (missing_share_ > 0) means.push_back(missing_share_);
  return means;
}

std::vector<std::string> TableColumn::input_names() const {
  std::vector<std::string> names;
  if (is_number()) {
    names = number_.input_names(name_);
  } else if (kind_ == ColumnKind::Date) {
    names = calendar_.input_names(name_);
  } else if (kind_ == ColumnKind::Text) {
    for (const std::string& word : words_.words()) names.push_back(concat(name_, "~", word));
  } else if (constant_) {
    names = {name_};
  } else {
    for (const std::string& category : categories_) names.push_back(concat(name_, "=", category));
    if (other_share_ > 0) names.push_back(name_ + "=(other)");
  }
  if (missing_share_ > 0) names.push_back(name_ + "=(missing)");
  return names;
}

std::vector<InputRole> TableColumn::input_roles() const {
  std::vector<InputRole> roles(size_t(inputs_), InputRole::Value);
  if (is_number()) std::fill(roles.begin() + 1, roles.end(), InputRole::Piece);
  if (kind_ == ColumnKind::Text) std::fill(roles.begin(), roles.end(), InputRole::Word);
  if (kind_ == ColumnKind::Category && !constant_)
    std::fill(roles.begin(), roles.end(), InputRole::Category);
  if (kind_ == ColumnKind::Date) {
    const std::vector<bool> pieces = calendar_.pieces();
    for (size_t i = 0; i < pieces.size(); ++i)
      if (pieces[i]) roles[i] = InputRole::Piece;
  }
  if (missing_share_ > 0) roles.back() = InputRole::Missing;
  return roles;
}

bool TableColumn::is_missing_cell(std::string_view trimmed) const {
  if (kind_ != ColumnKind::Number && kind_ != ColumnKind::Date) return is_missing(trimmed);
  return is_missing_number(trimmed) ||
         std::find(missing_words_.begin(), missing_words_.end(), trimmed) != missing_words_.end();
}

bool TableColumn::parse(std::string_view trimmed, double& value) const {
  if (is_number()) return format_.parse(trimmed, value);
  const std::optional<WrittenTime> time = calendar_.format().parse(trimmed);
  if (time) value = time->in_days();
  return time.has_value();
}

void TableColumn::encode(double value, float* inputs) const {
  if (!std::isnan(value))
    return is_number() ? number_.encode(value, inputs) : calendar_.encode(value, inputs);
  if (missing_share_ > 0) inputs[inputs_ - 1] = 1;
  // A missing number has no pieces where training saw some: the input for "missing" says it all.
  if (missing_share_ > 0 && (inputs_ > 2 || kind_ == ColumnKind::Date)) return;
  const std::vector<double> means = own_means();
  for (size_t i = 0; i < means.size(); ++i) inputs[i] = float(means[i]);
}

bool TableColumn::encode(std::string_view cell, float* inputs) const {
  cell = trim_cell(cell);
  const bool missing = is_missing_cell(cell);
  if (kind_ == ColumnKind::Number || kind_ == ColumnKind::Date) {
    double value = NAN;
    if (!missing && !parse(cell, value)) return false;
    encode(value, inputs);
    return true;
  }
  if (constant_) return true;
  if (missing) {
    if (missing_share_ > 0) inputs[inputs_ - 1] = 1;
    return true;
  }
  if (kind_ == ColumnKind::Text) {
    words_.encode(cell, inputs);
    return true;
  }
  const int64_t known = index_.find(cell);
  if (known >= 0) {
    inputs[known] = 1;
  } else if (other_share_ > 0) {
    inputs[categories_.size()] = 1;
  }
  return true;
}

CellCheck TableColumn::check(std::string_view cell) const {
  cell = trim_cell(cell);
  if (is_missing_cell(cell)) return missing_share_ > 0 ? CellCheck::Usual : CellCheck::Missing;
  if (kind_ == ColumnKind::Category)
    return index_.find(cell) >= 0 || other_share_ > 0 ? CellCheck::Usual : CellCheck::Unseen;
  if (kind_ == ColumnKind::Text) {
    std::vector<float> inputs(words_.words().size(), 0.f);
    return words_.encode(cell, inputs.data()) ? CellCheck::Usual : CellCheck::Unseen;
  }
  double value = 0;
  if (!parse(cell, value)) return CellCheck::Unreadable;
  const bool far = is_number() ? is_far(value, number_.low(), number_.high())
                               : is_far(value, calendar_.low(), calendar_.high());
  return far ? CellCheck::OutOfRange : CellCheck::Usual;
}

std::string TableColumn::decode(const float* inputs) const {
  if (missing_share_ > 0 && inputs[inputs_ - 1] != 0) return "";
  if (is_number()) return written(format_number(number_.decode(inputs), 6));
  if (kind_ == ColumnKind::Date) return calendar_.format().format(calendar_.decode(inputs));
  if (kind_ == ColumnKind::Text) return words_.decode(inputs);
  if (constant_) return categories_.empty() ? "" : categories_.front();
  for (size_t i = 0; i < categories_.size(); ++i)
    if (inputs[i] != 0) return categories_[i];
  return "";
}

std::string TableColumn::written(const std::string& plain_number) const {
  return is_number() ? format_.written(plain_number) : plain_number;
}

Json TableColumn::to_json() const {
  Json json{{"name", name_}, {"type", name_of(kind_)}, {"constant", constant_}};
  json["missing_share"] = missing_share_;
  if (!missing_words_.empty()) json["missing_words"] = missing_words_;
  if (is_number()) {
    json.update(number_.to_json());
    if (!format_.is_plain()) json["format"] = format_.to_json();
  } else if (kind_ == ColumnKind::Date) {
    json["calendar"] = calendar_.to_json();
  } else if (kind_ == ColumnKind::Text) {
    json.update(words_.to_json());
  } else {
    json["categories"] = categories_;
    json["shares"] = shares_;
    json["other_share"] = other_share_;
  }
  return json;
}

TableColumn TableColumn::from_json(const Field& field) {
  constexpr ColumnKind kKinds[] = {ColumnKind::Number, ColumnKind::Category, ColumnKind::Date,
                                   ColumnKind::Text};
  TableColumn column;
  column.name_ = field.at("name").text();
  column.kind_ = field.at("type").one_of(kKinds);
  column.constant_ = field.at("constant").mark();
  column.missing_share_ = field.at("missing_share").finite();
  if (const auto words = field.find("missing_words")) column.missing_words_ = words->texts();
  if (column.is_number()) {
    column.number_ = NumberEncoding::from_json(field);
    if (const auto format = field.find("format")) column.format_ = NumberFormat::from_json(*format);
  } else if (column.kind_ == ColumnKind::Date) {
    column.calendar_ = CalendarEncoding::from_json(field.at("calendar"));
  } else if (column.kind_ == ColumnKind::Text) {
    column.words_ = WordEncoding::from_json(field);
  } else {
    column.categories_ = field.at("categories").texts();
    column.shares_ = field.at("shares").finites(column.categories_.size());
    column.other_share_ = field.at("other_share").finite();
    require(!column.constant_ || column.missing_share_ <= 0, ErrorKind::BadData, field.place(),
            ": a column that is always the same has no missing cells");
  }
  column.finish();
  return column;
}

}  // namespace fovea

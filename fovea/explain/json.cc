#include "fovea/explain/json.h"

#include <cmath>
#include <limits>
#include <optional>

#include "fovea/core/error.h"
#include "fovea/core/file.h"
#include "fovea/explain/labels.h"

namespace fovea {
namespace {

constexpr const char* kFormat = "fovea-explanation";
constexpr MapKind kKinds[] = {MapKind::Distribution, MapKind::Partial, MapKind::Gate, MapKind::Free,
                              MapKind::Contribution};

Json texts_to_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(valid_utf8(text));
  return list;
}

/// Q rows of K values; `convert` makes one value.
template <class Value, class Convert>
Json rows_to_json(const MapView& view, const std::vector<Value>& values, const Convert& convert) {
  Json rows = Json::array();
  for (size_t query = 0; query < view.queries(); ++query) {
    Json row = Json::array();
    for (size_t key = 0; key < view.keys(); ++key)
      row.push_back(convert(values[query * view.keys() + key]));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json map_to_json(const MapView& view) {
  check_sizes(view);
  auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  Json map;
  map["name"] = valid_utf8(view.name);
  map["title"] = valid_utf8(view.title);
  map["kind"] = name_of(view.kind);
  if (!view.group.empty()) map["group"] = valid_utf8(view.group);
  map["query_axis"] = valid_utf8(view.query_axis);
  map["key_axis"] = valid_utf8(view.key_axis);
  map["query_labels"] = texts_to_json(view.query_labels);
  map["key_labels"] = texts_to_json(view.key_labels);
  map["weights"] = rows_to_json(view, view.weights, number);
  if (!view.spread.empty()) map["spread"] = rows_to_json(view, view.spread, number);
  if (!view.truth.empty())
    map["truth"] = rows_to_json(view, view.truth, [](char value) { return value != 0 ? 1 : 0; });
  return map;
}

/// A JSON value that knows its place, so that every complaint can name it.
class Field {
 public:
  Field(const Json& value, std::string place) : value_(value), place_(std::move(place)) {}

  std::optional<Field> find(const char* key) const {
    expect(value_.is_object(), "an object");
    const auto found = value_.find(key);
    if (found == value_.end()) return {};
    return Field(*found, concat(place_, place_.ends_with(": ") ? "" : ".", key));
  }
  Field at(const char* key) const {
    const auto found = find(key);
    require(found.has_value(), ErrorKind::BadData, place_, place_.ends_with(": ") ? "" : ": ",
            "the field \"", key, "\" is missing");
    return *found;
  }
  /// Calls visit(element, index) for each element of a list; `size` elements are expected, or any
  /// number.
  template <class Visit>
  void each(std::optional<size_t> size, const Visit& visit) const {
    expect(value_.is_array(), "a list");
    require(!size || value_.size() == *size, ErrorKind::BadData, place_, ": found ", value_.size(),
            " elements, expected ", size.value_or(0));
    for (size_t i = 0; i < value_.size(); ++i) visit(Field(value_[i], concat(place_, "[", i, "]")));
  }
  std::string text() const {
    expect(value_.is_string(), "a text");
    return value_.get<std::string>();
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    each({}, [&](const Field& field) { result.push_back(field.text()); });
    return result;
  }
  double number() const {
    if (value_.is_null()) return std::numeric_limits<double>::quiet_NaN();
    expect(value_.is_number(), "a number or null");
    return value_.get<double>();
  }
  int64_t integer() const {
    expect(value_.is_number_integer(), "a whole number");
    return value_.get<int64_t>();
  }
  char mark() const {
    expect(value_.is_boolean() || value_ == 0 || value_ == 1, "0 or 1");
    return value_.is_boolean() ? value_.get<bool>() : value_ == 1;
  }
  const std::string& place() const { return place_; }

 private:
  void expect(bool holds, const char* what) const {
    require(holds, ErrorKind::BadData, place_, place_.ends_with(": ") ? "" : ": ", "found ",
            value_.is_structured() ? value_.type_name()
                                   : value_.dump(-1, ' ', true, Json::error_handler_t::replace),
            ", expected ", what);
  }
  const Json& value_;
  std::string place_;
};

/// Q rows of K values each, checked, row by row.
template <class Value, class Read>
std::vector<Value> rows_from_json(const Field& field, const MapView& view, const Read& read) {
  std::vector<Value> values;
  field.each(view.queries(), [&](const Field& row) {
    row.each(view.keys(), [&](const Field& value) { values.push_back(read(value)); });
  });
  return values;
}

MapKind kind_from_json(const Field& field) {
  const std::string name = field.text();
  std::vector<std::string> known;
  for (const MapKind kind : kKinds) {
    if (name == name_of(kind)) return kind;
    known.emplace_back(name_of(kind));
  }
  fail(ErrorKind::BadData, field.place(), ": unknown kind \"", name, "\"", suggestion(name, known),
       ", expected one of ", join(known));
}

MapView map_from_json(const Field& field) {
  MapView view;
  view.name = field.at("name").text();
  view.title = field.at("title").text();
  view.kind = kind_from_json(field.at("kind"));
  if (const auto group = field.find("group")) view.group = group->text();
  view.query_axis = field.at("query_axis").text();
  view.key_axis = field.at("key_axis").text();
  view.query_labels = field.at("query_labels").texts();
  view.key_labels = field.at("key_labels").texts();
  auto number = [](const Field& value) { return value.number(); };
  view.weights = rows_from_json<double>(field.at("weights"), view, number);
  if (const auto spread = field.find("spread"))
    view.spread = rows_from_json<double>(*spread, view, number);
  if (const auto truth = field.find("truth"))
    view.truth =
        rows_from_json<char>(*truth, view, [](const Field& value) { return value.mark(); });
  return view;
}

}  // namespace

Json explanation_to_json(const Explanation& explanation) {
  Json value;
  value["format"] = kFormat;
  value["version"] = kExplanationVersion;
  value["task"] = valid_utf8(explanation.task);
  value["title"] = valid_utf8(explanation.title);
  value["prediction"] = valid_utf8(explanation.prediction);
  value["maps"] = Json::array();
  for (const MapView& map : explanation.maps) value["maps"].push_back(map_to_json(map));
  value["notes"] = texts_to_json(explanation.notes);
  return value;
}

Explanation explanation_from_json(const Json& value, const std::string& where) {
  const Field root(value, concat(where, ": "));
  const Field format = root.at("format");
  require(format.text() == kFormat, ErrorKind::BadData, format.place(), ": found \"", format.text(),
          "\", expected \"", kFormat, "\"");
  const int64_t version = root.at("version").integer();
  require(version >= 1, ErrorKind::BadData, where, ": version: found ", version,
          ", versions start at 1");
  require(version <= kExplanationVersion, ErrorKind::Unsupported, where, ": ", kFormat, " version ",
          version, " is newer than version ", kExplanationVersion,
          ", which this build reads; try a newer fovea");
  Explanation explanation;
  explanation.task = root.at("task").text();
  explanation.title = root.at("title").text();
  explanation.prediction = root.at("prediction").text();
  root.at("maps").each({},
                       [&](const Field& map) { explanation.maps.push_back(map_from_json(map)); });
  explanation.notes = root.at("notes").texts();
  return explanation;
}

void write_explanation(const std::filesystem::path& path, const Explanation& explanation) {
  write_file(path, explanation_to_json(explanation).dump() + "\n");
}

Explanation read_explanation(const std::filesystem::path& path) {
  return explanation_from_json(read_json_file(path), path.string());
}

}  // namespace fovea

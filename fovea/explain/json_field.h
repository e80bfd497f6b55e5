// A JSON value that knows its place, so that every complaint can name it. Internal to the readers
// of explain/.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fovea/core/error.h"
#include "fovea/core/json.h"

namespace fovea {

class Field {
 public:
  Field(const Json& value, std::string place) : value_(value), place_(std::move(place)) {}

  /// None where the field is missing or null.
  std::optional<Field> find(const char* key) const {
    expect(value_.is_object(), "an object");
    const auto found = value_.find(key);
    if (found == value_.end() || found->is_null()) return {};
    return Field(*found, concat(place_, place_.ends_with(": ") ? "" : ".", key));
  }
  Field at(const char* key) const {
    const auto found = find(key);
    require(found.has_value(), ErrorKind::BadData, place_, place_.ends_with(": ") ? "" : ": ",
            "the field \"", key, "\" is missing");
    return *found;
  }
  /// Calls visit(element) for each element of a list; `size` elements are expected, or any number.
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
  std::string text_or_empty(const char* key) const {
    const auto found = find(key);
    return found ? found->text() : std::string();
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    each({}, [&](const Field& field) { result.push_back(field.text()); });
    return result;
  }
  /// NaN for null.
  double number() const {
    if (value_.is_null()) return std::numeric_limits<double>::quiet_NaN();
    expect(value_.is_number(), "a number or null");
    return value_.get<double>();
  }
  std::vector<double> numbers(std::optional<size_t> size = {}) const {
    std::vector<double> result;
    each(size, [&](const Field& field) { result.push_back(field.number()); });
    return result;
  }
  /// Between `least` and `most`, both included.
  int64_t integer(int64_t least, int64_t most) const {
    expect(value_.is_number_integer() &&
               !(value_.is_number_unsigned() && value_.get<uint64_t>() > uint64_t(INT64_MAX)),
           "a whole number");
    const auto found = value_.get<int64_t>();
    require(found >= least && found <= most, ErrorKind::BadData, place_, ": found ", found,
            ", expected ", least, " to ", most);
    return found;
  }
  int64_t integer_or(const char* key, int64_t other, int64_t least, int64_t most) const {
    const auto found = find(key);
    return found ? found->integer(least, most) : other;
  }
  bool mark() const {
    expect(value_.is_boolean(), "true or false");
    return value_.get<bool>();
  }
  /// One of the values that `name_of` names.
  template <class Value, size_t Count>
  Value one_of(const Value (&values)[Count]) const {
    const std::string name = text();
    std::vector<std::string> known;
    for (const Value value : values) {
      if (name == name_of(value)) return value;
      known.emplace_back(name_of(value));
    }
    fail(ErrorKind::BadData, place_, ": unknown value \"", name, "\"", suggestion(name, known),
         ", expected one of ", join(known));
  }
  const Json& value() const { return value_; }
  const std::string& place() const { return place_; }
  void expect(bool holds, const char* what) const {
    require(holds, ErrorKind::BadData, place_, place_.ends_with(": ") ? "" : ": ", "found ",
            value_.is_structured() ? value_.type_name()
                                   : value_.dump(-1, ' ', true, Json::error_handler_t::replace),
            ", expected ", what);
  }

 private:
  const Json& value_;
  std::string place_;
};

}  // namespace fovea

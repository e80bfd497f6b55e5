// A JSON value that knows its place, so that every complaint can name it: "columns.json:
// columns[2].mean: found "x", expected a number". What reads JSON from outside asks a Field for the
// values it needs; each is checked for its type and its range, so that no number of a file becomes
// a size or an index that cannot be.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {

template <class AnyJson>
class BasicField {
 public:
  BasicField(const AnyJson& value, std::string place) : value_(value), place_(std::move(place)) {}
  /// The whole of a file, of an input.
  static BasicField root(const AnyJson& value, const std::string& where) {
    return {value, where + ": "};
  }

  /// None where the field is missing or null.
  std::optional<BasicField> find(const char* key) const {
    expect(value_.is_object(), "an object");
    const auto found = value_.find(key);
    if (found == value_.end() || found->is_null()) return {};
    return BasicField(*found, place_of(key));
  }
  BasicField at(const char* key) const {
    const auto found = find(key);
    if (!found) fail(ErrorKind::BadData, before(), "the field \"", key, "\" is missing");
    return *found;
  }
  /// Calls visit(element) for each element of a list; `size` elements are expected, or any number.
  template <class Visit>
  void each(std::optional<size_t> size, const Visit& visit) const {
    expect_list(size);
    for (size_t i = 0; i < value_.size(); ++i) visit(element(i));
  }
  /// Calls visit(name, member) for each member of an object.
  template <class Visit>
  void each_member(const Visit& visit) const {
    expect(value_.is_object(), "an object");
    for (const auto& [name, member] : value_.items())
      visit(name, BasicField(member, place_of(shorten_bytes(name, 64))));
  }
  std::string text() const {
    expect(value_.is_string(), "a text");
    return value_.template get<std::string>();
  }
  std::string text_or_empty(const char* key) const {
    const auto found = find(key);
    return found ? found->text() : std::string();
  }
  std::vector<std::string> texts() const {
    return list<std::string>({}, [](const BasicField& field) { return field.text(); });
  }
  /// NaN for null.
  double number() const {
    if (value_.is_null()) return std::numeric_limits<double>::quiet_NaN();
    expect(value_.is_number(), "a number or null");
    return value_.template get<double>();
  }
  std::vector<double> numbers(std::optional<size_t> size = {}) const {
    return list<double>(size, [](const BasicField& field) { return field.number(); });
  }
  /// A number, never NaN.
  double finite() const {
    expect(value_.is_number(), "a number");
    return value_.template get<double>();
  }
  std::vector<double> finites(std::optional<size_t> size = {}) const {
    return list<double>(size, [](const BasicField& field) { return field.finite(); });
  }
  /// To be divided by.
  double deviation() const {
    const double found = finite();
    expect(found > 0, "a number above 0");
    return found;
  }
  /// Between `least` and `most`, both included.
  int64_t integer(int64_t least, int64_t most) const {
    expect(value_.is_number_integer() && !(value_.is_number_unsigned() &&
                                           value_.template get<uint64_t>() > uint64_t(INT64_MAX)),
           "a whole number");
    const auto found = value_.template get<int64_t>();
    require(found >= least && found <= most, ErrorKind::BadData, before(), "found ", found,
            ", expected ", least, " to ", most);
    return found;
  }
  int64_t integer_or(const char* key, int64_t other, int64_t least, int64_t most) const {
    const auto found = find(key);
    return found ? found->integer(least, most) : other;
  }
  std::vector<int64_t> integers(int64_t least, int64_t most) const {
    return list<int64_t>({}, [&](const BasicField& field) { return field.integer(least, most); });
  }
  bool mark() const {
    expect(value_.is_boolean(), "true or false");
    return value_.template get<bool>();
  }
  bool mark_or(const char* key, bool other) const {
    const auto found = find(key);
    return found ? found->mark() : other;
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
    fail(ErrorKind::BadData, place_, ": unknown value \"", shorten_bytes(name, kShownBytes), "\"",
         suggestion(name, known), ", expected one of ", join(known));
  }
  const AnyJson& value() const { return value_; }
  const std::string& place() const { return place_; }
  void expect(bool holds, const char* what) const {
    if (!holds) [[unlikely]]
      fail(ErrorKind::BadData, before(), "found ", shown(), ", expected ", what);
  }

 private:
  static constexpr size_t kShownBytes = 200;  // of a value, in a message

  std::string before() const { return concat(place_, place_.ends_with(": ") ? "" : ": "); }
  std::string place_of(const std::string& key) const {
    return concat(place_, place_.ends_with(": ") ? "" : ".", key);
  }
  std::string shown() const {
    if (value_.is_structured()) return value_.type_name();
    return shorten_bytes(value_.dump(-1, ' ', true, AnyJson::error_handler_t::replace),
                         kShownBytes);
  }
  BasicField element(size_t i) const { return {value_[i], concat(place_, "[", i, "]")}; }
  void expect_list(std::optional<size_t> size) const {
    expect(value_.is_array(), "a list");
    require(!size || value_.size() == *size, ErrorKind::BadData, before(), "found ", value_.size(),
            " elements, expected ", size.value_or(0));
  }
  /// Lists may be very long: the place of an element is put into words only when it is wrong.
  template <class Value, class Read>
  std::vector<Value> list(std::optional<size_t> size, const Read& read) const {
    expect_list(size);
    std::vector<Value> values;
    values.reserve(value_.size());
    for (size_t i = 0; i < value_.size(); ++i) {
      try {
        values.push_back(read(BasicField(value_[i], "")));
      } catch (const Error&) {
        read(element(i));
      }
    }
    return values;
  }

  const AnyJson& value_;
  std::string place_;
};

using Field = BasicField<Json>;
using SortedField = BasicField<SortedJson>;

/// What a file of ours says of itself: "format" and "version", which is `version` or older.
inline void check_format(const Field& root, const std::string& format, int64_t version = 1) {
  const Json& value = root.value();
  require(value.is_object() && value.contains("format") && value["format"] == format,
          ErrorKind::BadData, root.place(), "\"format\" must be \"", format, "\"");
  const int64_t given = root.at("version").integer(1, INT64_MAX);
  require(given <= version, ErrorKind::Unsupported, root.place(), "version ", given,
          " is newer than this program, which reads ", version);
}

}  // namespace fovea

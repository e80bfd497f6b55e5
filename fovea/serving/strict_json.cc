#include "fovea/serving/strict_json.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "fovea/serving/http_error.h"

namespace fovea::serving {

namespace {

constexpr size_t kLongestMessage = 200;  // the parser repeats what it read, which may be the body

[[noreturn]] void refuse(const std::string& message) {
  refuse_field("", "the body is not valid JSON: ", message);
}

/// The events of the parser become a value. An object's members are appended without looking for
/// their key, which would take quadratic time; a set per open object finds the duplicates.
class Builder {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}
  Json take() { return std::move(root_); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }

  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    std::unordered_set<std::string>& names = open_.back().names;
    if (!names.insert(name).second)
      refuse("the key '" + shorten(name, 64) + "' stands there twice");
    if (names.size() > limits_.keys)
      refuse(concat("an object has more than ", limits_.keys, " keys"));
    open_.back().key = std::move(name);
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) {
    const std::string_view what = error.what();
    const size_t prefix = what.find("] ");  // [json.exception.parse_error.101]
    refuse(shorten(prefix == std::string_view::npos ? what : what.substr(prefix + 2),
                   kLongestMessage));
  }

 private:
  struct Container {
    Json* value;
    std::string key;  // of the member that comes next
    std::unordered_set<std::string> names;
  };

  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Container& parent = open_.back();
    if (parent.value->is_array()) {
      auto& items = parent.value->get_ref<Json::array_t&>();
      return items.emplace_back(std::move(value));
    }
    Json::object_t::Container& members = parent.value->get_ref<Json::object_t&>();
    return members.emplace_back(std::move(parent.key), std::move(value)).second;
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (open_.size() >= limits_.depth)
      refuse(concat("it is nested more than ", limits_.depth, " levels deep"));
    Json& placed = place(std::move(value));
    open_.push_back({&placed, "", {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  JsonLimits limits_;
  Json root_;
  std::vector<Container> open_;
};

}  // namespace

Json parse_strictly(std::string_view text, const JsonLimits& limits) {
  const size_t valid = valid_utf8_prefix(text);
  if (valid != text.size())
    refuse_field("", "the body is not valid UTF-8 at byte ", valid, " (the first byte is 0)");
  const size_t zero = text.find('\0');  // the parser would take it for the end
  if (zero != std::string_view::npos) refuse(concat("byte ", zero, " is zero"));
  Builder builder(limits);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace fovea::serving

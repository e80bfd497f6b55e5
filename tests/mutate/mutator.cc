#include "tests/mutate/mutator.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/base/text.h"

namespace fovea::testing {

namespace {

constexpr size_t kDeep = 200'000, kWide = 20'000, kLong = 1 << 20;
const std::string kMark = "@@the place of the mutation@@";

std::string repeated(const std::string& text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

std::string nested_objects(size_t depth) {
  return repeated("{\"a\":", depth) + "1" + std::string(depth, '}');
}

std::string wide_object(size_t keys) {
  std::string text = "{";
  for (size_t i = 0; i < keys; ++i) text += concat(i == 0 ? "" : ",", "\"k", i, "\":", i);
  return text + "}";
}

/// Values that somebody may not have thought of, as they stand in a file.
const std::vector<std::function<std::string()>>& strange_values() {
  static const auto values = [] {
    std::vector<std::function<std::string()>> list;
    for (const char* plain : {"null",
                              "true",
                              "false",
                              "0",
                              "-0.0",
                              "1",
                              "2",
                              "-1",
                              "-5",
                              "3",
                              "7",
                              "0.5",
                              "1e-320",
                              "1e300",
                              "-1e300",
                              "1e999",
                              "1e18",
                              "65536",
                              "1000000",
                              "1000000000",
                              "2147483648",
                              "4294967296",
                              "9223372036854775807",
                              "9223372036854775808",
                              "18446744073709551615",
                              "18446744073709551616",
                              "-9223372036854775808",
                              "-9223372036854775809",
                              "\"\"",
                              "\"x\"",
                              "\"1\"",
                              "\"\\u0000\"",
                              "\"\\ud800\"",
                              "\"\\u001b[2J\"",
                              "\"/dev/zero\"",
                              "\"../../../../../../dev/zero\"",
                              "[]",
                              "{}",
                              "[[]]",
                              "[null]",
                              "[1,2,3]",
                              "[\"a\",\"a\"]",
                              "[1e300,-1]",
                              "{\"a\":1}",
                              "{\"a\":1,\"a\":2}",
                              "NaN",
                              "Infinity",
                              "[0,0]",
                              "[5,-5]",
                              "[[0,9223372036854775807]]"})
      list.push_back([plain] { return std::string(plain); });
    list.push_back([] { return nested(60); });
    list.push_back([] { return nested(kDeep); });
    list.push_back([] { return nested_objects(kDeep); });
    list.push_back([] { return std::string(kDeep, '['); });
    list.push_back([] { return repeated("{\"a\":", kDeep); });
    list.push_back([] { return '"' + std::string(kLong, 'x') + '"'; });
    list.push_back([] { return "[0" + repeated(",0", 5 * kWide) + "]"; });
    list.push_back([] { return wide_object(kWide); });
    return list;
  }();
  return values;
}

class Mutator {
 public:
  Mutator(const std::string& text, uint64_t number) : text_(text), random_(number) {}

  std::string mutant() {
    Json value = Json::parse(text_, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
    if (value.is_discarded()) return of_lines();
    return below(4) == 0 ? of_bytes() : of_value(std::move(value));
  }

 private:
  size_t below(size_t bound) { return bound == 0 ? 0 : size_t(random_() % bound); }

  std::string of_lines() {
    std::vector<std::string> lines = split(text_, '\n');
    std::string& line = lines[below(lines.size() - 1)];  // the last one is empty
    line = Mutator(line, random_()).mutant_of_line();
    return join(lines, "\n");
  }

  std::string mutant_of_line() {
    Json value = Json::parse(text_, nullptr, false, true);
    return value.is_discarded() || below(4) == 0 ? of_bytes() : of_value(std::move(value));
  }

  /// A value somewhere in `value`, and what holds it. Upper levels come as often as lower ones.
  struct Place {
    Json* parent;
    Json* value;
    std::string key;  // of an object's member
  };
  Place choose(Json& value) {
    Place place{nullptr, &value, ""};
    while (place.value->is_structured() && !place.value->empty() &&
           (place.parent == nullptr || below(3) > 0)) {
      auto child = place.value->begin();
      std::advance(child, std::ptrdiff_t(below(place.value->size())));
      place = {place.value, &*child, place.value->is_object() ? child.key() : ""};
    }
    return place;
  }

  std::string of_value(Json value) {
    const Place place = choose(value);
    Json before = *place.value;
    std::string now;  // as it stands in the file
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const auto& values = strange_values();
        now = values[below(values.size())]();
        break;
      }
      case 4:  // gone
        if (place.parent == nullptr) return "";
        if (place.parent->is_object())
          place.parent->erase(place.key);
        else
          place.parent->erase(size_t(place.value - &(*place.parent)[0]));
        return value.dump();
      case 5:  // something else of the same file
        now = Json(*choose(value).value).dump();
        break;
      case 6:  // twice
        if (place.parent != nullptr && place.parent->is_object())
          now = concat(before.dump(), ",", Json(place.key).dump(), ":", before.dump());
        else
          now = concat(before.dump(), ",", before.dump());
        break;
      case 7:
        std::swap(*place.value, *choose(value).value);
        return value.dump();
      default:
        now = bent(before).dump();
    }
    *place.value = kMark;
    return replaced(value.dump(), now);
  }

  static std::string replaced(std::string text, const std::string& now) {
    const std::string mark = '"' + kMark + '"';
    const size_t at = text.find(mark);
    return at == std::string::npos ? text : text.replace(at, mark.size(), now);
  }

  /// The value, a little different.
  Json bent(Json value) {
    if (value.is_number()) {
      const double number = value.get<double>();
      const double others[] = {number + 1, number - 1,   2 * number,
                               -number,    number + 0.5, 1e9 * number};
      const double other = others[below(std::size(others))];
      const bool whole = value.is_number_integer() && other == double(int64_t(other));
      return below(7) == 0 ? Json(value.dump()) : whole ? Json(int64_t(other)) : Json(other);
    }
    if (value.is_string()) {
      const std::string text = value.get<std::string>();
      const std::string others[] = {text + "x",  text.substr(0, text.size() / 2),
                                    text + text, repeated(text + " ", 1000),
                                    " " + text,  "\xF0\x9F\x98\x80"};
      const std::string& other = others[below(std::size(others))];
      return valid_utf8_prefix(other) == other.size() ? other : "x";
    }
    if (value.is_array() && !value.empty()) {
      switch (below(5)) {
        case 0:
          std::reverse(value.begin(), value.end());
          break;
        case 1:
          value.erase(below(value.size()));
          break;
        case 2:
          value.push_back(Json(value[below(value.size())]));
          break;
        case 3:
          value = Json{Json(value)};
          break;
        default:
          value = Json(value[0]);
      }
      return value;
    }
    if (value.is_object()) value["another key"] = 1;
    return value.is_boolean() ? Json(!value.get<bool>()) : value;
  }

  std::string of_bytes() {
    std::string text = text_;
    const size_t at = below(text.size());
    const size_t length = std::min(text.size() - at, 1 + below(64));
    switch (below(12)) {
      case 0:
        return text.substr(0, at);
      case 1:
        return text.erase(at, length);
      case 2:
        return text.insert(at, text.substr(below(text.size()), length));
      case 3:
        return text.insert(at, std::string(1 + below(kDeep), '['));
      case 4:
        return text.insert(at, repeated("{\"a\":[", 1 + below(kDeep)));
      case 5:
        return text.insert(at, std::string(1, '\0'));
      case 6:
        return text.insert(at, "\xff\xfe");
      case 7:
        return below(2) == 0 ? "" : std::string(below(100), ' ');
      case 8:
        return text + text;
      case 9:
        return "\xEF\xBB\xBF" + text;
      default:
        for (size_t flips = 1 + below(8); flips > 0 && !text.empty(); --flips)
          text[below(text.size())] ^= char(1 << below(8));
        return text;
    }
  }

  const std::string& text_;
  std::mt19937_64 random_;
};

}  // namespace

std::string mutant_of(const std::string& text, uint64_t number) {
  return Mutator(text, number).mutant();
}

}  // namespace fovea::testing

#include "fovea/base/json.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

namespace {

constexpr size_t kLongestMessage = 200;  // the library repeats what it read, which may be long

/// The library repeats what it read byte by byte, so that the last character may be half of one.
std::string without_halves(std::string text) {
  for (size_t bad = 0; (bad = valid_utf8_prefix(text)) < text.size();) text[bad] = '?';
  return text;
}

/// path:line of a byte.
std::string place_of(const std::string& where, std::string_view text, size_t byte,
                     const JsonLimits& limits) {
  if (limits.one_line) return where;
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return concat(where, ":", 1 + std::count(text.begin(), end, '\n'));
}

/// Walks over the text and says how far it has come: events of the parser have no position.
class CountedByte {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedByte(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountedByte& operator++() { return *reached_ = ++at_, *this; }
  CountedByte operator++(int) {
    CountedByte before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedByte& other) const { return at_ == other.at_; }
  bool operator!=(const CountedByte& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

/// The events of the parser become a value. Members of an ordered object are appended without
/// looking for their key, which would take quadratic time; a set per open object finds duplicates.
template <class AnyJson>
class Builder {
 public:
  Builder(std::string_view text, const std::string& where, const JsonLimits& limits)
      : text_(text), where_(where), limits_(limits), reached_(text.data()) {}
  CountedByte begin() { return {text_.data(), &reached_}; }
  CountedByte end() { return {text_.data() + text_.size(), &reached_}; }
  AnyJson take() { return std::move(root_); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(typename AnyJson::binary_t&) { return false; }

  bool start_object(size_t) { return open(AnyJson::object()); }
  bool start_array(size_t) { return open(AnyJson::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Container& parent = open_.back();
    if constexpr (kOrdered) {
      refuse_if(!parent.names.insert(name).second, "the key '", shorten_bytes(name, 64),
                "' stands there twice");
      refuse_if(parent.names.size() > limits_.keys, "an object has more than ", limits_.keys,
                " keys");
    } else {
      refuse_if(parent.value->contains(name), "the key '", shorten_bytes(name, 64),
                "' stands there twice");
    }
    parent.key = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    // The position counts the offending character, which may itself be the line's end.
    fail(ErrorKind::BadData, place_of(where_, text_, position - (position > 0), limits_),
         ": not valid JSON (", describe(error), ")");
  }

 private:
  static constexpr bool kOrdered = std::is_same_v<AnyJson, Json>;

  struct Container {
    AnyJson* value;
    std::string key;                        // of the member that comes next
    std::unordered_set<std::string> names;  // of an ordered object
  };

  template <class... Pieces>
  void refuse_if(bool wrong, const Pieces&... pieces) {
    if (!wrong) return;
    const auto byte = size_t(reached_ - text_.data());  // behind what is wrong
    fail(ErrorKind::BadData, place_of(where_, text_, byte - (byte > 0), limits_),
         ": not valid JSON (", pieces..., ")");
  }

  AnyJson& place(AnyJson value) {
    if (open_.empty()) return root_ = std::move(value);
    Container& parent = open_.back();
    if (parent.value->is_array()) {
      auto& items = parent.value->template get_ref<typename AnyJson::array_t&>();
      return items.emplace_back(std::move(value));
    }
    auto& members = parent.value->template get_ref<typename AnyJson::object_t&>();
    if constexpr (kOrdered) {
      typename AnyJson::object_t::Container& list = members;
      return list.emplace_back(std::move(parent.key), std::move(value)).second;
    } else {
      return members.emplace(std::move(parent.key), std::move(value)).first->second;
    }
  }

  bool add(AnyJson value) {
    place(std::move(value));
    return true;
  }

  bool open(AnyJson value) {
    refuse_if(open_.size() >= limits_.depth, "it is nested more than ", limits_.depth,
              " levels deep");
    AnyJson& placed = place(std::move(value));
    open_.push_back({&placed, "", {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  JsonLimits limits_;
  const char* reached_;  // by the parser
  AnyJson root_;
  std::vector<Container> open_;
};

template <class AnyJson>
AnyJson parse(std::string_view text, const std::string& where, const JsonLimits& limits) {
  require(text.size() <= limits.bytes, ErrorKind::BadData, where, ": has ", text.size(),
          " bytes; at most ", limits.bytes, " are read as JSON");
  const auto check = [&](size_t bad, const char* what) {
    if (bad < text.size())
      fail(ErrorKind::BadData, place_of(where, text, bad, limits), ": not valid JSON (", what,
           " at byte ", bad, ", the first byte is 0)");
  };
  check(text.find('\0'), "a zero byte");  // the parser would take it for the end
  check(valid_utf8_prefix(text), "not valid UTF-8");
  Builder<AnyJson> builder(text, where, limits);
  AnyJson::sax_parse(builder.begin(), builder.end(), &builder, AnyJson::input_format_t::json,
                     /*strict=*/true, /*ignore_comments=*/limits.comments);
  return builder.take();
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  return parse<Json>(text, where, limits);
}

SortedJson parse_sorted_json(std::string_view text, const std::string& where,
                             const JsonLimits& limits) {
  return parse<SortedJson>(text, where, limits);
}

SortedJson parse_json_row(std::string_view line, const std::string& place, const char* example) {
  JsonLimits limits;
  limits.comments = false;
  limits.one_line = true;
  SortedJson row = parse_sorted_json(line, place, limits);
  require(row.is_object(), ErrorKind::BadData, place, ": found ", row.type_name(),
          "; expected one JSON object a line, as in ", example);
  return row;
}

bool is_json_object(std::string_view line) {
  return trim(line).starts_with('{');
}

Json read_json_file(const std::filesystem::path& path, const JsonLimits& limits) {
  std::error_code ignored;  // read_file() says what is wrong with a file
  const auto status = std::filesystem::status(path, ignored);
  require(!std::filesystem::is_character_file(status) && !std::filesystem::is_block_file(status),
          ErrorKind::BadData, path.string(), ": is a device; expected a file of JSON");
  return parse_json(read_file(path), path.string(), limits);
}

void write_json_file(const std::filesystem::path& path, const Json& value) {
  write_file(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string describe(const nlohmann::json::exception& error) {
  std::string_view what = error.what();
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
  if (const size_t end = what.find("] "); what.starts_with('[') && end != what.npos)
    what.remove_prefix(end + 2);
  if (what.starts_with("parse error at line "))
    if (const size_t column = what.find(", "); column != what.npos) what.remove_prefix(column + 2);
  return without_halves(shorten_bytes(what, kLongestMessage));
}

void fail_json(const std::string& where, const nlohmann::json::exception& error) {
  fail(ErrorKind::BadData, where, ": the JSON does not have the expected form (", describe(error),
       ")");
}

}  // namespace fovea

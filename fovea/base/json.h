// The one JSON reader of the project: every JSON that comes from outside, in files, inputs and
// request bodies, goes through parse_json(). It has limits on depth, size and keys, it takes time
// and memory in proportion to the text, and nothing in it is recursive.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace fovea {

/// Keys stay in the order in which they were written; looking one up takes time in proportion to
/// their number.
using Json = nlohmann::ordered_json;

/// Keys are sorted, so that objects may have very many of them: vocabularies, headers of weights.
using SortedJson = nlohmann::json;

struct JsonLimits {
  size_t depth = 64;
  size_t bytes = size_t{1} << 30;  // of the text
  size_t keys = 10000;             // of one object of a Json; a SortedJson has no such limit
  bool comments = true;            // whether // and /* */ are allowed
  bool one_line = false;           // `where` names the line already
};

/// Parses JSON text; `where` names it in an error. BadData says where:line and what is wrong: a
/// syntax error, a limit, a key that stands twice in an object, a number that no double can hold,
/// text that is not UTF-8.
Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});
SortedJson parse_sorted_json(std::string_view text, const std::string& where,
                             const JsonLimits& limits = {});

/// One line of a file that holds an object a line; `place` is its path:line, `example` an object as
/// it should be.
SortedJson parse_json_row(std::string_view line, const std::string& place, const char* example);

/// Reads a JSON file.
Json read_json_file(const std::filesystem::path& path, const JsonLimits& limits = {});

/// Whether a user's line is meant as a JSON object rather than as a text: it begins with {.
bool is_json_object(std::string_view line);

/// Writes indented JSON atomically.
void write_json_file(const std::filesystem::path& path, const Json& value);

/// What an exception of the JSON library means to a user: "key 'epoch' not found".
std::string describe(const nlohmann::json::exception& error);

/// Throws BadData: `where` does not have the form that was expected.
[[noreturn]] void fail_json(const std::string& where, const nlohmann::json::exception& error);

/// read(), where a missing key or a value of the wrong type becomes BadData that names `where`.
template <class Read>
std::invoke_result_t<Read> with_json_errors(const std::string& where, Read&& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    fail_json(where, error);
  }
}

}  // namespace fovea

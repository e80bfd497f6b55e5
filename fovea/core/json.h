// The one JSON type of the project: keys stay in the order in which they were written.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fovea {

using Json = nlohmann::ordered_json;

/// Reads a JSON file; // and /* */ comments are allowed. BadData names the place of a syntax error.
Json read_json_file(const std::filesystem::path& path);

/// Parses JSON text; `where` names it in an error.
Json parse_json(const std::string& text, const std::string& where);

/// Whether a user's line is meant as a JSON object rather than as a text: it begins with {.
bool is_json_object(std::string_view line);

/// Writes indented JSON atomically.
void write_json_file(const std::filesystem::path& path, const Json& value);

}  // namespace fovea

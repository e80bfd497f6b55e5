// Weights as JSON: nested lists, an object of them by name, or the lists of {"name", "attn",
// "left_text", "right_text"} that attention viewers for notebooks take. Internal to import.h.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/explain/import/import.h"

namespace fovea {

inline constexpr int64_t kJsonNumberLimit = int64_t{1} << 26;  // of one file

/// Parses text after its commas were counted; NaN and Infinity, which Python's writer puts out,
/// become null. BadData names the line.
Json parse_weights(std::string text, const std::string& where);

/// BadData names the place of what is not a number, or of a list of another length than the first.
ImportedWeights weights_from_json(const Json& value, const std::string& where);

}  // namespace fovea

// The one exchange format of an explanation: {"format": "fovea-explanation", "version": 1, …}. The
// program writes it, the server answers with it, the report and the page read nothing else.
// docs/formats/explanation.md lists every field and what is refused.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/core/json.h"
#include "fovea/explain/explanation.h"

namespace fovea {

inline constexpr int kExplanationVersion = 1;

/// Weights that are not finite become null; invalid UTF-8 in labels becomes U+FFFD.
Json explanation_to_json(const Explanation& explanation);

/// Checks everything. BadData names the field by its path ("maps[0].weights[2]") after `where`;
/// Unsupported for a newer version.
Explanation explanation_from_json(const Json& value, const std::string& where);

/// Compact text of one line, written atomically.
void write_explanation(const std::filesystem::path& path, const Explanation& explanation);
Explanation read_explanation(const std::filesystem::path& path);

}  // namespace fovea

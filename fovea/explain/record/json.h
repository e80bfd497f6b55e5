// The one exchange format of an explanation: {"format": "fovea-explanation", "version": 2, …}. The
// program writes it, the server answers with it, the report and the page read nothing else.
// docs/formats/explanation.md lists every field and what is refused.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/base/json.h"
#include "fovea/explain/record/explanation.h"
#include "fovea/explain/record/matrix_codec.h"

namespace fovea {

inline constexpr int kExplanationVersion = 2;

enum class Exactness {
  Shown,  // large maps within 0.4 % of a row's largest weight, with the exact top of each row
  Exact,  // float32
};

/// Weights that are not finite become null; invalid UTF-8 in labels becomes U+FFFD.
Json explanation_to_json(const Explanation& explanation, Exactness exactness = Exactness::Shown);

/// The same without "chunks": they go to `chunks`, which several explanations may share.
Json explanation_to_json(const Explanation& explanation, Exactness exactness, ChunkWriter& chunks);

/// Lists as they are written everywhere: invalid UTF-8 as U+FFFD, numbers that are not finite as
/// null.
Json texts_to_json(const std::vector<std::string>& texts);
Json numbers_to_json(const std::vector<double>& numbers);

/// Checks everything. BadData names the field by its path ("maps[0].weights[2]") after `where`;
/// Unsupported for another version.
Explanation explanation_from_json(const Json& value, const std::string& where);

/// `count` spans [begin, end] of the text, in code points, or null: Span{}, which stands nowhere.
std::vector<Span> spans_from_json(const Field& field, size_t count, const std::string& text);

/// Compact text of one line, written atomically.
void write_explanation(const std::filesystem::path& path, const Explanation& explanation,
                       Exactness exactness = Exactness::Shown);
Explanation read_explanation(const std::filesystem::path& path);

}  // namespace fovea

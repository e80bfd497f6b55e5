// Explanations as one HTML file that needs nothing else: no server, no network, no other file. The
// viewer's modules (web/) are in it as data: addresses of an import map; large weights stay base64
// text until they are looked at.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "fovea/explain/record/explanation.h"
#include "fovea/explain/record/rows.h"

namespace fovea {

/// One explanation, or several to choose from. InvalidArgument for none.
std::string report_html(std::span<const Explanation> explanations);

/// The table of all rows of a data set; from those with an explanation it opens.
std::string rows_html(const RowsRecord& record, std::span<const Explanation> explanations);
/// Trainings as docs/formats/board.md has them, and under an id each the explanations of their
/// attention.
std::string board_html(const std::string& title, const Json& runs,
                       std::span<const std::pair<std::string, Json>> looks);

/// Points as docs/formats/embeddings.md has them.
std::string embeddings_html(const Json& points);

/// Written atomically.
void write_report(const std::filesystem::path& path, std::span<const Explanation> explanations);

}  // namespace fovea

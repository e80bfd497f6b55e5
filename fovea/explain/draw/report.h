// Explanations as one HTML file that needs nothing else: no server, no network, no other file. The
// viewer's modules (web/) are in it as data: addresses of an import map; large weights stay base64
// text until they are looked at.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "fovea/explain/record/explanation.h"

namespace fovea {

/// One explanation, or several to choose from. InvalidArgument for none.
std::string report_html(std::span<const Explanation> explanations);

/// Written atomically.
void write_report(const std::filesystem::path& path, std::span<const Explanation> explanations);

}  // namespace fovea

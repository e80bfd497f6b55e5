// Damaged copies of a JSON text: what a full disk, a wrong hand or a stranger makes of a file.
#pragma once

#include <cstdint>
#include <string>

namespace fovea::testing {

/// The mutant of that number; the same for the same text on every machine. About half of them are
/// valid JSON that says something else, the rest is not JSON any more. Of a text with one JSON
/// value a line, one line is changed. Texts nest up to 200,000 levels deep and have up to a few
/// megabytes.
std::string mutant_of(const std::string& text, uint64_t number);

}  // namespace fovea::testing

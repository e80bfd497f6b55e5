// Phones, and the error rate that is counted in them. TIMIT writes 61; people who compare error
// rates fold them to 39 (Lee & Hon 1989): closures and pauses are silence, the glottal stop q is
// left out, allophones count as their phone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// Whether TIMIT's transcripts hold this symbol, or the sets of 48 and 39 made of them do.
bool is_timit_phone(std::string_view symbol);

/// The symbol among the 39; empty for one that is left out. Any other stays as it is.
std::string_view fold_timit_phone(std::string_view symbol);

/// Symbols between blanks; `folded`: as the 39.
std::vector<std::string> phones_of(std::string_view text, bool folded);

/// Edits that make the outputs their targets, of the phones of these. InvalidArgument where the
/// targets hold none.
double phone_error_rate(std::span<const std::string> outputs, std::span<const std::string> targets,
                        bool folded);

}  // namespace fovea

// Kind characters: what a reader takes for one character (Unicode's extended grapheme clusters),
// composed, so that one look has one number however it was typed.
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

std::vector<Token> cut_characters(std::string_view text) {
  std::vector<Token> tokens;
  for (const std::string_view cluster : segments(text, Boundary::Character)) {
    const bool white = run_length(cluster, true) == cluster.size();
    const auto begin = static_cast<size_t>(cluster.data() - text.data());
    tokens.push_back({0, white ? " " : to_nfc(cluster), begin, begin + cluster.size()});
  }
  return tokens;
}

}  // namespace fovea

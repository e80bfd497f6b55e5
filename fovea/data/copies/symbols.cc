#include "fovea/data/copies/symbols.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

CopySequence draw_sequence(int64_t length, int64_t bits, const Random& random) {
  CopySequence symbols;
  for (int64_t i = 0; i < length; ++i)
    symbols.push_back(int64_t(random.below(uint64_t(i), uint64_t{1} << bits)));
  return symbols;
}

std::string format_symbol(int64_t symbol, int64_t bits) {
  std::string text;
  for (int64_t bit = 0; bit < bits; ++bit) text += (symbol >> bit) & 1 ? '1' : '0';
  return text;
}

std::string format_sequence(const CopySequence& sequence, int64_t bits) {
  std::vector<std::string> symbols;
  for (const int64_t symbol : sequence) symbols.push_back(format_symbol(symbol, bits));
  return join(symbols, " ");
}

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    if (end > begin) pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

CopySequence parse_sequence(std::string_view text, int64_t& bits, const std::string& where) {
  CopySequence sequence;
  for (const std::string_view symbol : split_blanks(text)) {
    if (bits == 0) bits = std::min(int64_t(symbol.size()), kMostSymbolBits);
    const bool fits =
        symbol.size() == size_t(bits) && symbol.find_first_not_of("01") == std::string_view::npos;
    require(fits, ErrorKind::BadData, where, ": '", symbol.substr(0, 2 * kMostSymbolBits),
            "' is no symbol of ", bits, bits == 1 ? " bit" : " bits",
            "; expected as many digits 0 or 1, and blanks between symbols");
    require(int64_t(sequence.size()) < kMostSequenceSymbols, ErrorKind::BadData, where,
            ": more than ", format_count(kMostSequenceSymbols), " symbols");
    int64_t number = 0;
    for (size_t bit = 0; bit < symbol.size(); ++bit) number |= int64_t(symbol[bit] == '1') << bit;
    sequence.push_back(number);
  }
  require(!sequence.empty(), ErrorKind::BadData, where, ": holds no symbol; expected symbols such ",
          "as ", format_symbol(6, bits == 0 ? 4 : bits), ", with blanks between them");
  return sequence;
}

}  // namespace fovea

// A text in pieces, as pre-tokenisers cut it: ranges of one AlignedText, and the added tokens that
// were found in it.
#pragma once

#include <functional>
#include <optional>

#include "fovea/data/tokenisers/hugging_face/aligned_text.h"

namespace fovea::hugging_face {

/// Parts of a text, one after the other and all of it: those that match a pattern, and the rest.
struct Match {
  size_t begin = 0, end = 0;
  bool is_match = false;
};
using Pattern = std::function<std::vector<Match>(std::string_view text)>;

/// Every character for which is_delimiter(code) is true is a match of its own.
template <class IsDelimiter>
Pattern character_pattern(IsDelimiter is_delimiter) {
  return [is_delimiter](std::string_view text) {
    std::vector<Match> found;
    size_t begin = 0;
    for (size_t at = 0, next = 0; at < text.size(); at = next) {
      if (!is_delimiter(next_code_point(text, next))) continue;
      if (begin < at) found.push_back({begin, at, false});
      found.push_back({at, next, true});
      begin = next;
    }
    if (begin < text.size()) found.push_back({begin, text.size(), false});
    return found;
  };
}
/// `content` as it is written; an empty one matches nothing.
Pattern string_pattern(std::string content);
/// What matched does not, and the other way round.
Pattern inverted(Pattern pattern);

/// What becomes of matches: of "the-final--countdown" with a pattern for "-"
///   Removed            the final countdown
///   Isolated           the - final - - countdown
///   MergedWithPrevious the- final- - countdown
///   MergedWithNext     the -final - -countdown
///   Contiguous         the - final -- countdown
enum class SplitBehaviour { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };
const char* name_of(SplitBehaviour behaviour);
inline constexpr SplitBehaviour kSplitBehaviours[] = {
    SplitBehaviour::Removed, SplitBehaviour::Isolated, SplitBehaviour::MergedWithPrevious,
    SplitBehaviour::MergedWithNext, SplitBehaviour::Contiguous};

class PreTokenisedText {
 public:
  struct Piece {
    size_t begin = 0, end = 0;     // bytes of text()
    std::optional<int64_t> token;  // the id of an added token; such a piece is never cut
  };

  const AlignedText& text() const { return text_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::string_view view(const Piece& piece) const {
    return std::string_view(text_.text).substr(piece.begin, piece.end - piece.begin);
  }
  bool is_empty() const { return pieces_.empty(); }

  /// Adds bytes [begin, end) of `part` as a piece, or nothing where they are none.
  void add(const AlignedText& part, size_t begin, size_t end, std::optional<int64_t> token);
  /// Cuts each piece; empty parts go.
  void split(const Pattern& pattern, SplitBehaviour behaviour);
  /// Writes each piece anew.
  void rewrite(const std::function<void(AlignedText&)>& change);

 private:
  AlignedText text_;
  std::vector<Piece> pieces_;
};

}  // namespace fovea::hugging_face

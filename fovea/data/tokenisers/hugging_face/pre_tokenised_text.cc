#include "fovea/data/tokenisers/hugging_face/pre_tokenised_text.h"

#include <algorithm>

namespace fovea::hugging_face {

const char* name_of(SplitBehaviour behaviour) {
  switch (behaviour) {
    case SplitBehaviour::Removed:
      return "Removed";
    case SplitBehaviour::Isolated:
      return "Isolated";
    case SplitBehaviour::MergedWithPrevious:
      return "MergedWithPrevious";
    case SplitBehaviour::MergedWithNext:
      return "MergedWithNext";
    case SplitBehaviour::Contiguous:
      return "Contiguous";
  }
  return "";
}

Pattern string_pattern(std::string content) {
  return [content = std::move(content)](std::string_view text) {
    std::vector<Match> found;
    size_t begin = 0;
    for (size_t at = 0; !content.empty() && (at = text.find(content, begin)) != text.npos;) {
      if (begin < at) found.push_back({begin, at, false});
      begin = at + content.size();
      found.push_back({at, begin, true});
    }
    if (begin < text.size()) found.push_back({begin, text.size(), false});
    return found;
  };
}

Pattern inverted(Pattern pattern) {
  return [pattern = std::move(pattern)](std::string_view text) {
    std::vector<Match> found = pattern(text);
    for (Match& match : found) match.is_match = !match.is_match;
    return found;
  };
}

namespace {

/// Joins matches to what stands before them in the list: all of one kind, or single matches to one
/// neighbour. MergedWithNext goes through the list from its end.
void merge_matches(std::vector<Match>& matches, SplitBehaviour behaviour) {
  const bool backwards = behaviour == SplitBehaviour::MergedWithNext;
  if (backwards) std::reverse(matches.begin(), matches.end());
  size_t kept = 0;
  bool previous = false;  // whether the one before was a match
  for (const Match& match : matches) {
    const bool joins = behaviour == SplitBehaviour::Contiguous ? match.is_match == previous
                                                               : match.is_match && !previous;
    previous = match.is_match;
    if (!joins || kept == 0)
      matches[kept++] = {match.begin, match.end, false};
    else if (backwards)
      matches[kept - 1].begin = match.begin;
    else
      matches[kept - 1].end = match.end;
  }
  matches.resize(kept);
  if (backwards) std::reverse(matches.begin(), matches.end());
}

}  // namespace

void PreTokenisedText::add(const AlignedText& part, size_t begin, size_t end,
                           std::optional<int64_t> token) {
  if (begin >= end) return;
  const size_t before = text_.text.size();
  text_.text.append(part.text, begin, end - begin);
  text_.places.insert(text_.places.end(), part.places.begin() + int64_t(begin),
                      part.places.begin() + int64_t(end));
  pieces_.push_back({before, text_.text.size(), token});
}

void PreTokenisedText::split(const Pattern& pattern, SplitBehaviour behaviour) {
  std::vector<Piece> cut;
  for (const Piece& piece : pieces_) {
    if (piece.token) {
      cut.push_back(piece);
      continue;
    }
    std::vector<Match> matches = pattern(view(piece));
    if (behaviour != SplitBehaviour::Removed && behaviour != SplitBehaviour::Isolated)
      merge_matches(matches, behaviour);
    for (const Match& match : matches)
      if (match.begin < match.end && !(match.is_match && behaviour == SplitBehaviour::Removed))
        cut.push_back({piece.begin + match.begin, piece.begin + match.end, {}});
  }
  pieces_ = std::move(cut);
}

void PreTokenisedText::rewrite(const std::function<void(AlignedText&)>& change) {
  AlignedText written, part;
  written.text.reserve(text_.text.size());
  written.places.reserve(text_.text.size());
  std::vector<Piece> pieces;
  pieces.reserve(pieces_.size());
  for (const Piece& piece : pieces_) {
    part.assign(text_, piece.begin, piece.end);
    if (!piece.token) change(part);
    const size_t before = written.text.size();
    written.append(part);
    if (before < written.text.size()) pieces.push_back({before, written.text.size(), piece.token});
  }
  text_ = std::move(written);
  pieces_ = std::move(pieces);
}

}  // namespace fovea::hugging_face

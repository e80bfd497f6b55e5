#include "fovea/data/tokenisers/wordpiece.h"

#include <algorithm>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/tokenisers/bert_words.h"
#include "fovea/data/tokenisers/kinds.h"
#include "fovea/data/tokenisers/piece_trie.h"

namespace fovea {

WordPiece::WordPiece(WordPiece&&) noexcept = default;
WordPiece& WordPiece::operator=(WordPiece&&) noexcept = default;
WordPiece::~WordPiece() = default;

WordPiece::WordPiece(std::vector<std::string> pieces, const WordPieceOptions& options,
                     const std::string& where, std::vector<std::string> whole)
    : pieces_(std::move(pieces)),
      options_(options),
      begins_whole_(256, false),
      trie_(std::make_unique<PieceTrie>()) {
  require(options.longest_word > 0, ErrorKind::InvalidArgument, where, ": the longest word has ",
          options.longest_word, " code points; expected at least 1");
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const std::string_view piece = pieces_[i];
    const bool inside = piece.size() > kContinuation.size() && piece.starts_with(kContinuation);
    const bool added =
        inside ? trie_->add(PieceTrie::kInside, piece.substr(kContinuation.size()), int64_t(i))
               : trie_->add(PieceTrie::kBegin, piece, int64_t(i));
    require(added, ErrorKind::BadData, where, ": the vocabulary is too large, found ",
            format_count(size()), " pieces");
  }
  std::vector<std::string> missing;
  int64_t* ids[] = {&special_.padding, &special_.unknown, &special_.begin, &special_.separator,
                    &special_.mask};
  for (size_t i = 0; i < std::size(kSpecialNames); ++i) {
    *ids[i] = find(kSpecialNames[i]);
    if (*ids[i] < 0) missing.emplace_back(kSpecialNames[i]);
    whole.emplace_back(kSpecialNames[i]);
  }
  require(missing.empty(), ErrorKind::BadData, where, ": the vocabulary has no ",
          quoted_list(missing), "; is this the vocabulary of a BERT?");
  const InputTemplate::Item begin{-1, special_.begin, 0}, separator{-1, special_.separator, 0};
  one_.items = {begin, {0, -1, 0}, separator};
  two_.items = {begin, {0, -1, 0}, separator, {1, -1, 1}, {-1, special_.separator, 1}};
  for (std::string& text : whole) {
    const int64_t id = find(text);
    require(id >= 0, ErrorKind::BadData, where, ": the vocabulary has no '", text,
            "', which is to be kept whole");
    begins_whole_[static_cast<unsigned char>(text[0])] = true;
    whole_.push_back({std::move(text), id});
  }
  std::stable_sort(whole_.begin(), whole_.end(),
                   [](const Whole& a, const Whole& b) { return a.text.size() > b.text.size(); });
}

int64_t WordPiece::find(std::string_view piece) const {
  const bool inside = piece.size() > kContinuation.size() && piece.starts_with(kContinuation);
  if (inside) piece.remove_prefix(kContinuation.size());
  const auto match = trie_->longest(inside ? PieceTrie::kInside : PieceTrie::kBegin, piece);
  return match.length == piece.size() ? match.id : -1;
}

int64_t WordPiece::id(std::string_view piece) const {
  const int64_t found = find(piece);
  return found < 0 ? special_.unknown : found;
}

const std::string& WordPiece::piece(int64_t id) const {
  require(id >= 0 && id < size(), ErrorKind::InvalidArgument, "vocabulary: there is no piece ", id,
          "; expected 0 to ", size() - 1);
  return pieces_[static_cast<size_t>(id)];
}

bool WordPiece::is_special(int64_t id) const {
  return id == special_.padding || id == special_.unknown || id == special_.begin ||
         id == special_.separator || id == special_.mask;
}

/// The first text to be kept whole from `at` on, and `at` where it stands; null, and the end, when
/// there is none.
const WordPiece::Whole* WordPiece::next_whole(std::string_view text, size_t& at) const {
  for (; at < text.size(); ++at) {
    if (!begins_whole_[static_cast<unsigned char>(text[at])]) continue;
    for (const Whole& whole : whole_)
      if (text.substr(at).starts_with(whole.text)) return &whole;
  }
  return nullptr;
}

void WordPiece::encode_part(std::string_view text, Pieces& pieces, int64_t& position,
                            int64_t& word) const {
  BertWords words(text, options_, position);
  const auto put = [&](int64_t id, Span span) {
    pieces.ids.push_back(id);
    pieces.spans.push_back(span);
    pieces.words.push_back(word);
  };
  for (; words.next(); ++word) {
    const std::string_view letters = words.word();
    const size_t before = pieces.ids.size();
    size_t at = words.letters() > options_.longest_word ? std::string_view::npos : 0;
    while (at < letters.size()) {
      const auto match =
          trie_->longest(at == 0 ? PieceTrie::kBegin : PieceTrie::kInside, letters.substr(at));
      if (match.length == 0) break;
      put(match.id, words.span(at, at + match.length));
      at += match.length;
    }
    if (at == letters.size()) continue;
    pieces.ids.resize(before);
    pieces.spans.resize(before);
    pieces.words.resize(before);
    put(special_.unknown, words.span(0, letters.size()));
  }
  position = words.position();
}

Pieces WordPiece::encode(std::string_view text) const {
  require_icu();
  check_text(text, "text to encode");
  Pieces pieces;
  int64_t position = 0, word = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    const Whole* whole = next_whole(text, end);
    encode_part(text.substr(begin, end - begin), pieces, position, word);
    if (whole == nullptr) break;
    const int64_t length = count_code_points(whole->text);
    pieces.ids.push_back(whole->id);
    pieces.spans.push_back({position, position + length});
    pieces.words.push_back(word++);
    position += length;
    begin = end + whole->text.size();
  }
  return pieces;
}

Pieces WordPiece::encode_words(std::span<const std::string> words) const {
  Pieces all;
  int64_t begin = 0;  // of the word among the words joined by blanks
  for (size_t i = 0; i < words.size(); ++i) {
    const Pieces pieces = encode(words[i]);
    const int64_t length = count_code_points(words[i]);
    all.ids.insert(all.ids.end(), pieces.ids.begin(), pieces.ids.end());
    for (const Span& span : pieces.spans)
      all.spans.push_back({begin + span.begin, begin + span.end});
    if (pieces.ids.empty()) {
      all.ids.push_back(special_.unknown);
      all.spans.push_back({begin, begin + length});
    }
    all.words.resize(all.ids.size(), int64_t(i));
    begin += length + 1;
  }
  return all;
}

std::string WordPiece::join(std::span<const int64_t> ids) const {
  std::string text;
  for (const int64_t id : ids) {
    std::string_view next = piece(id);
    if (continues(id) && !text.empty()) {
      next.remove_prefix(kContinuation.size());
    } else if (!text.empty()) {
      text += ' ';
    }
    text += next;
  }
  return text;
}

}  // namespace fovea

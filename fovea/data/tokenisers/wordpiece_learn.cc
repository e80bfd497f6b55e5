// Learning a vocabulary: every word begins as its characters, and the pair of neighbouring pieces
// that is seen most often becomes a piece, until there are enough (pair_merges.h).
#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/tokenisers/bert_words.h"
#include "fovea/data/tokenisers/kinds.h"
#include "fovea/data/tokenisers/pair_merges.h"

namespace fovea {

namespace {

using Symbol = PairMerges::Symbol;

std::vector<std::string_view> characters_of(std::string_view word) {
  std::vector<std::string_view> characters;
  for (size_t begin = 0, end = 0; begin < word.size(); begin = end) {
    for (++end; end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80;) ++end;
    characters.push_back(word.substr(begin, end - begin));
  }
  return characters;
}

class Learner {
 public:
  Learner(const WordCounts& words, const WordPieceLearning& learning) : learning_(learning) {
    for (const char* name : WordPiece::kSpecialNames) pieces_.emplace_back(name);
    std::vector<std::pair<std::string, int64_t>> sorted(words.counts().begin(),
                                                        words.counts().end());
    std::sort(sorted.begin(), sorted.end());
    choose_characters(sorted);
    for (const auto& [word, count] : sorted) add_word(word, count);
    const auto least = int64_t(pieces_.size());
    require(least <= learning.size, ErrorKind::BadData,
            "tokeniser 'wordpiece': the characters of the texts alone need a size of ", least,
            ", found ", learning.size, "; set size to ", least,
            " or more, or allow fewer characters");
  }

  std::vector<std::string> learn() {
    PairMerges merges(std::move(words_));
    while (int64_t(pieces_.size()) < learning_.size) {
      const auto best = merges.best(learning_.minimum_count);
      if (!best) break;
      const auto [left, right] = *best;
      merges.merge(*best, symbol_of(pieces_[size_t(left)] +
                                    pieces_[size_t(right)].substr(2)));  // without its ##
    }
    return std::move(pieces_);
  }

 private:
  void choose_characters(const std::vector<std::pair<std::string, int64_t>>& words) {
    std::map<std::string_view, int64_t> counts;
    for (const auto& [word, count] : words)
      for (const std::string_view character : characters_of(word)) counts[character] += count;
    std::vector<std::pair<std::string_view, int64_t>> kept(counts.begin(), counts.end());
    std::stable_sort(kept.begin(), kept.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    kept.resize(std::min(kept.size(), size_t(learning_.most_characters)));
    for (const auto& [character, count] : kept) alphabet_.emplace(character);
  }

  Symbol symbol_of(std::string piece) {
    const auto [found, is_new] = symbols_.emplace(std::move(piece), Symbol(pieces_.size()));
    if (is_new) pieces_.push_back(found->first);
    return found->second;
  }

  /// A word with a character that is too rare would be unknown, so nothing is learned from it.
  void add_word(const std::string& word, int64_t count) {
    const auto characters = characters_of(word);
    for (const std::string_view character : characters)
      if (!alphabet_.contains(character)) return;
    PairMerges::Word entry{{}, count};
    for (size_t i = 0; i < characters.size(); ++i)
      entry.symbols.push_back(symbol_of(concat(i == 0 ? "" : "##", characters[i])));
    words_.push_back(std::move(entry));
  }

  WordPieceLearning learning_;
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, Symbol> symbols_;
  std::set<std::string, std::less<>> alphabet_;
  std::vector<PairMerges::Word> words_;
};

}  // namespace

void WordCounts::add(std::string_view text) {
  require_icu();
  check_text(text, "text to learn from");
  BertWords words(text, options_);
  while (words.next())
    if (words.letters() <= options_.longest_word) ++counts_[words.word()];
}

WordPiece WordPiece::learn(const WordCounts& words, const WordPieceLearning& learning) {
  constexpr int64_t kMostPieces = 1000000;
  require(learning.size > int64_t(std::size(kSpecialNames)) && learning.size <= kMostPieces,
          ErrorKind::InvalidArgument, "tokeniser 'wordpiece': found size ", learning.size,
          "; expected more than ", std::size(kSpecialNames),
          ", the number of special tokens, and at most ", kMostPieces);
  require(learning.minimum_count > 0 && learning.most_characters > 0, ErrorKind::InvalidArgument,
          "tokeniser 'wordpiece': minimum_count and most_characters must be at least 1, found ",
          learning.minimum_count, " and ", learning.most_characters);
  require(!words.counts().empty(), ErrorKind::BadData,
          "tokeniser 'wordpiece': the texts to learn from hold no text");
  return WordPiece(Learner(words, learning).learn(), words.options(),
                   "the vocabulary just learned");
}

}  // namespace fovea

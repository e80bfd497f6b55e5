// Learning a vocabulary: every word begins as its characters, and the pair of neighbouring pieces
// that is seen most often becomes a piece, until there are enough. Counts of pairs are kept up to
// date: joining a pair touches only the words that hold it.
#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/tokenisers/bert_words.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

namespace {

using Symbol = int32_t;

struct CountedWord {
  std::vector<Symbol> symbols;
  int64_t count;
};

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
    count_pairs();
    while (int64_t(pieces_.size()) < learning_.size && !queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(best.pair);
      if (found == pairs_.end() || found->second.count != best.count) continue;  // out of date
      if (best.count < learning_.minimum_count) break;
      join(best.pair, std::move(found->second.words));
    }
    return std::move(pieces_);
  }

 private:
  using Pair = uint64_t;  // left in the upper half, right in the lower
  struct PairCount {
    int64_t count = 0;
    std::vector<int32_t> words;  // that hold the pair, or once did; in the order met
  };
  struct Candidate {
    int64_t count;
    Pair pair;
    bool operator<(const Candidate& other) const {  // the older pieces first among equals
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  static Pair pair_of(Symbol left, Symbol right) {
    return static_cast<Pair>(left) << 32 | static_cast<uint32_t>(right);
  }

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
    CountedWord entry{{}, count};
    for (size_t i = 0; i < characters.size(); ++i)
      entry.symbols.push_back(symbol_of(concat(i == 0 ? "" : "##", characters[i])));
    words_.push_back(std::move(entry));
  }

  void count_pairs() {
    for (size_t i = 0; i < words_.size(); ++i)
      for (size_t at = 1; at < words_[i].symbols.size(); ++at)
        change(words_[i].symbols[at - 1], words_[i].symbols[at], int32_t(i), words_[i].count);
    publish();
  }

  /// Adds `count` to a pair of word `word`; publish() puts what has changed into the queue.
  void change(Symbol left, Symbol right, int32_t word, int64_t count) {
    const Pair pair = pair_of(left, right);
    PairCount& entry = pairs_[pair];
    entry.count += count;
    if (count > 0 && (entry.words.empty() || entry.words.back() != word))
      entry.words.push_back(word);
    changed_.push_back(pair);
  }

  void publish() {
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (const Pair pair : changed_)
      if (const int64_t count = pairs_[pair].count; count > 0)
        queue_.push({count, pair});
      else
        pairs_.erase(pair);
    changed_.clear();
  }

  void join(Pair pair, const std::vector<int32_t>& holders) {
    const auto left = Symbol(pair >> 32), right = Symbol(pair & 0xFFFFFFFF);
    const Symbol joined =
        symbol_of(pieces_[size_t(left)] + pieces_[size_t(right)].substr(2));  // without its ##
    for (const int32_t number : holders) {
      CountedWord& word = words_[size_t(number)];
      std::vector<Symbol>& symbols = word.symbols;
      size_t kept = 0;
      for (size_t at = 0; at < symbols.size(); ++at) {
        const bool here =
            at + 1 < symbols.size() && symbols[at] == left && symbols[at + 1] == right;
        if (!here) {
          symbols[kept++] = symbols[at];
          continue;
        }
        if (kept > 0) {
          change(symbols[kept - 1], left, number, -word.count);
          change(symbols[kept - 1], joined, number, word.count);
        }
        if (at + 2 < symbols.size()) {
          change(right, symbols[at + 2], number, -word.count);
          change(joined, symbols[at + 2], number, word.count);
        }
        symbols[kept++] = joined;
        ++at;
      }
      symbols.resize(kept);
    }
    pairs_.erase(pair);
    std::erase(changed_, pair);
    publish();
  }

  WordPieceLearning learning_;
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, Symbol> symbols_;
  std::set<std::string, std::less<>> alphabet_;
  std::vector<CountedWord> words_;
  std::unordered_map<Pair, PairCount> pairs_;
  std::vector<Pair> changed_;
  std::priority_queue<Candidate> queue_;
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

// Learning by pairs (Sennrich et al. 2016): the pair of neighbouring symbols that is seen most
// often becomes one symbol, again and again. Counts of pairs are kept up to date: a merge touches
// only the words that hold the pair. For WordPiece and BPE.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fovea {

class PairMerges {
 public:
  using Symbol = int32_t;
  struct Word {
    std::vector<Symbol> symbols;
    int64_t count = 0;
  };

  explicit PairMerges(std::vector<Word> words);

  /// The most frequent pair, of equally frequent ones the one with the smallest symbols; none when
  /// no pair is seen `minimum_count` times. The next call gives the next pair.
  std::optional<std::pair<Symbol, Symbol>> best(int64_t minimum_count);
  /// The pair that best() gave becomes `joined`.
  void merge(std::pair<Symbol, Symbol> pair, Symbol joined);

 private:
  using Pair = uint64_t;  // left in the upper half, right in the lower
  struct PairCount {
    int64_t count = 0;
    std::vector<int32_t> words;  // that hold the pair, or once did; in the order met
  };
  struct Candidate {
    int64_t count;
    Pair pair;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  static Pair key_of(Symbol left, Symbol right) {
    return static_cast<Pair>(left) << 32 | static_cast<uint32_t>(right);
  }
  void change(Symbol left, Symbol right, int32_t word, int64_t count);
  void publish();

  std::vector<Word> words_;
  std::unordered_map<Pair, PairCount> pairs_;
  std::vector<Pair> changed_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace fovea

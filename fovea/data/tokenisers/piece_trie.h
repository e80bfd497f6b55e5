// The pieces of a vocabulary as two trees over bytes, one for the beginning of a word and one for
// its inside: the longest piece that fits is found in one walk. Edges lie in one hash table.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea {

class PieceTrie {
 public:
  enum Tree : uint32_t { kBegin = 0, kInside = 1 };
  struct Match {
    size_t length = 0;  // bytes; 0: no piece fits
    int64_t id = -1;
  };

  PieceTrie() : slots_(2) {}

  /// False when there are more nodes than their numbers can count.
  bool add(Tree tree, std::string_view piece, int64_t id) {
    uint32_t node = tree;
    for (const char byte : piece) {
      if (2 * ids_.size() > slots_.size()) grow();
      Slot& slot = slots_[place(key_of(node, byte))];
      if (slot.child == 0) {
        if (ids_.size() >= kMostNodes) return false;
        slot = {key_of(node, byte), static_cast<uint32_t>(ids_.size())};
        ids_.push_back(-1);
      }
      node = slot.child;
    }
    ids_[node] = id;
    return true;
  }

  /// Calls visit(Match) for each piece at the front of `text`, the shortest first.
  template <class Visit>
  void each_prefix(Tree tree, std::string_view text, const Visit& visit) const {
    uint32_t node = tree;
    for (size_t at = 0; at < text.size(); ++at) {
      node = slots_[place(key_of(node, text[at]))].child;
      if (node == 0) return;
      if (ids_[node] >= 0) visit(Match{at + 1, ids_[node]});
    }
  }

  /// The longest piece at the front of `text`.
  Match longest(Tree tree, std::string_view text) const {
    Match best;
    each_prefix(tree, text, [&](const Match& match) { best = match; });
    return best;
  }

 private:
  static constexpr size_t kMostNodes = size_t{1} << 24;
  struct Slot {
    uint32_t key = 0, child = 0;  // child 0: free, since no edge leads to a root
  };

  static uint32_t key_of(uint32_t node, char byte) {
    return node << 8 | static_cast<unsigned char>(byte);
  }

  /// Of the edge, or where it would be put. The table is at most half full.
  size_t place(uint32_t key) const {
    constexpr uint32_t kGolden = 0x9E3779B1u;
    size_t at = key * kGolden >> shift_;
    while (slots_[at].child != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    shift_ = 32 - std::countr_zero(slots_.size());
    for (const Slot& slot : old)
      if (slot.child != 0) slots_[place(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them
  int shift_ = 31;
  std::vector<int64_t> ids_{-1, -1};  // of the piece that ends at each node, or -1
};

}  // namespace fovea

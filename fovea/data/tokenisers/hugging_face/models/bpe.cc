// Byte pair encoding (Sennrich et al. 2016): a word begins as its characters, and the pair of
// neighbours whose merge was learned first becomes one piece, until no pair is left. A queue holds
// the pairs, so that a word of n characters takes n log n steps.
#include <algorithm>
#include <bit>
#include <queue>

#include "fovea/base/code_points.h"
#include "fovea/data/tokenisers/hugging_face/model.h"

namespace fovea::hugging_face {

namespace {

struct PiecePair {
  std::string left, right;
};

/// "left right", or ["left", "right"].
std::vector<PiecePair> read_merges(const Field& merges) {
  std::vector<PiecePair> pairs;
  merges.expect(merges.value().is_array(), "a list of merges");
  pairs.reserve(merges.value().size());
  for (const Json& entry : merges.value()) {
    const auto expect = [&](bool fits) {
      if (!fits)
        Field(entry, concat(merges.place(), "[", pairs.size(), "]"))
            .expect(false, "two pieces, \"t h\" or [\"t\", \"h\"]");
    };
    if (entry.is_string()) {
      const auto& text = entry.get_ref<const std::string&>();
      if (text.starts_with("#version")) continue;
      const size_t blank = text.find(' ');
      expect(blank != text.npos && blank > 0 && blank + 1 < text.size() &&
             text.find(' ', blank + 1) == text.npos);
      pairs.push_back({text.substr(0, blank), text.substr(blank + 1)});
    } else {
      expect(entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string());
      pairs.push_back({entry[0].get<std::string>(), entry[1].get<std::string>()});
    }
  }
  return pairs;
}

struct Merge {
  uint32_t rank = 0;
  int64_t id = 0;  // of the piece that the two become
};

/// Merges by their pairs, in one flat table: every pair of neighbours is looked up.
class MergeTable {
 public:
  void reserve(size_t count) { slots_.resize(std::bit_ceil(2 * count + 2)); }
  void set(int64_t left, int64_t right, Merge merge) {
    const uint64_t key = key_of(left, right);
    slots_[place(key)] = {key, merge};
  }
  const Merge* find(int64_t left, int64_t right) const {
    const Slot& slot = slots_[place(key_of(left, right))];
    return slot.key == kFree ? nullptr : &slot.merge;
  }

 private:
  static constexpr uint64_t kFree = UINT64_MAX;
  struct Slot {
    uint64_t key = kFree;
    Merge merge;
  };
  static uint64_t key_of(int64_t left, int64_t right) {
    return uint64_t(left) << 32 | uint64_t(right);
  }
  /// Of the key, or where it would be put. The table is at most half full.
  size_t place(uint64_t key) const {
    constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;
    size_t at = (key * kGolden >> 32) & (slots_.size() - 1);
    while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  std::vector<Slot> slots_;
};

class BpeModel : public Model {
 public:
  explicit BpeModel(const Field& component)
      : Model(TokenTable::read(component.at("vocab"))),
        fields_(small_fields(component)),
        prefix_(component.text_or_empty("continuing_subword_prefix")),
        suffix_(component.text_or_empty("end_of_word_suffix")),
        unknown_token_(component.text_or_empty("unk_token")),
        unknown_(unknown_token_.empty() ? -1 : table_.find(unknown_token_)),
        fuse_unknown_(component.mark_or("fuse_unk", false)),
        byte_fallback_(component.mark_or("byte_fallback", false)),
        ignore_merges_(component.mark_or("ignore_merges", false)) {
    if (const auto dropout =
            component.find("dropout")) {  // read, but a text is always cut the same way
      const double rate = dropout->finite();
      dropout->expect(rate >= 0 && rate <= 1, "a number from 0 to 1");
    }
    add_merges(component.at("merges"));
  }

  void cut(std::string_view word, std::vector<ModelToken>& tokens) const override {
    if (ignore_merges_) {
      const int64_t whole = table_.find(word);
      if (whole >= 0) return tokens.push_back({whole, 0, uint32_t(word.size())});
    }
    cache_.get(word, tokens, [this](std::string_view given, std::vector<ModelToken>& into) {
      cut_anew(given, into);
    });
  }

  Json to_json() const override {
    Json json = fields_;
    json["vocab"] = table_.to_json();
    const bool blanks = std::any_of(order_.begin(), order_.end(), [this](const auto& pair) {
      return table_.piece(pair.first).find(' ') != std::string::npos ||
             table_.piece(pair.second).find(' ') != std::string::npos;
    });
    Json merges = Json::array();
    for (const auto& [left, right] : order_) {
      if (blanks)
        merges.push_back(Json::array({table_.piece(left), table_.piece(right)}));
      else
        merges.push_back(table_.piece(left) + " " + table_.piece(right));
    }
    json["merges"] = std::move(merges);
    return json;
  }

 private:
  struct Symbol {
    int64_t id;
    uint32_t bytes;  // 0: it was merged into the one before
    int32_t previous, next;
  };
  struct Candidate {
    uint32_t rank;
    int32_t at;
    int64_t id;
    bool operator<(const Candidate& other) const {  // the queue gives the largest first
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };

  void add_merges(const Field& field) {
    const std::vector<PiecePair> pairs = read_merges(field);
    merges_.reserve(pairs.size());
    order_.reserve(pairs.size());
    for (const PiecePair& pair : pairs) {
      const auto id_of = [&](const std::string& piece) {
        const int64_t id = table_.find(piece);
        require(id >= 0, ErrorKind::BadData, field.place(), "[", order_.size(), "]: '",
                shorten_bytes(pair.left, 64), " ", shorten_bytes(pair.right, 64),
                "' needs the piece '", shorten_bytes(piece, 64),
                "', which is not in the vocabulary");
        return id;
      };
      require(pair.right.size() >= prefix_.size(), ErrorKind::BadData, field.place(), "[",
              order_.size(), "]: the piece '", pair.right, "' is shorter than the prefix '",
              prefix_, "' of pieces inside a word");
      const int64_t left = id_of(pair.left), right = id_of(pair.right);
      const int64_t joined = id_of(pair.left + pair.right.substr(prefix_.size()));
      merges_.set(left, right, {uint32_t(order_.size()), joined});
      order_.emplace_back(left, right);
    }
  }

  /// The characters of a word as pieces. One that is none becomes bytes or unknown; without either
  /// it is left out.
  std::vector<Symbol> characters(std::string_view word) const {
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    const auto add = [&](int64_t id, size_t bytes) {
      const auto at = int32_t(symbols.size());
      symbols.push_back({id, uint32_t(bytes), at - 1, at + 1});
    };
    size_t unknown = 0;  // bytes of unknown characters that wait for more of them
    std::string decorated;
    for (size_t at = 0; at < word.size();) {
      const size_t size = code_point_size(word[at]);
      std::string_view piece = word.substr(at, size);
      const bool inside = at > 0 && !prefix_.empty();
      const bool last = at + size == word.size() && !suffix_.empty();
      if (inside || last) {
        decorated = concat(inside ? prefix_ : "", piece, last ? suffix_ : "");
        piece = decorated;
      }
      at += size;
      const int64_t id = table_.find(piece);
      if (id >= 0) {
        if (unknown > 0) add(unknown_, unknown);
        unknown = 0;
        add(id, size);
      } else if (!(byte_fallback_ && add_bytes(piece, add)) && !unknown_token_.empty()) {
        require(unknown_ >= 0, ErrorKind::BadData, "tokenizer.json: no piece has the character '",
                piece, "', and the unk_token '", unknown_token_, "' is not in the vocabulary");
        if (unknown > 0 && !fuse_unknown_) {
          add(unknown_, unknown);
          unknown = 0;
        }
        unknown += size;
      }
    }
    if (unknown > 0) add(unknown_, unknown);
    if (!symbols.empty()) symbols.back().next = -1;
    return symbols;
  }

  template <class Add>
  bool add_bytes(std::string_view piece, const Add& add) const {
    std::vector<int64_t> ids;
    for (const char byte : piece) {
      ids.push_back(table_.find(byte_piece(static_cast<unsigned char>(byte))));
      if (ids.back() < 0) return false;
    }
    for (const int64_t id : ids) add(id, 1);
    return true;
  }

  void merge_all(std::vector<Symbol>& symbols) const {
    std::vector<Candidate> first;
    first.reserve(symbols.size());
    for (size_t i = 1; i < symbols.size(); ++i)
      if (const Merge* merge = merges_.find(symbols[i - 1].id, symbols[i].id))
        first.push_back({merge->rank, int32_t(i - 1), merge->id});
    std::priority_queue<Candidate> queue(std::less<Candidate>(), std::move(first));
    const auto offer = [&](int32_t left, int32_t right) {
      if (left < 0 || right < 0) return;
      const Merge* merge = merges_.find(symbols[size_t(left)].id, symbols[size_t(right)].id);
      if (merge != nullptr) queue.push({merge->rank, left, merge->id});
    };
    while (!queue.empty()) {
      const Candidate best = queue.top();
      queue.pop();
      Symbol& left = symbols[size_t(best.at)];
      if (left.bytes == 0 || left.next < 0) continue;
      Symbol& right = symbols[size_t(left.next)];
      const Merge* merge = merges_.find(left.id, right.id);
      if (merge == nullptr || merge->id != best.id) continue;  // out of date
      left.id = best.id;
      left.bytes += right.bytes;
      left.next = right.next;
      right.bytes = 0;
      if (left.next >= 0) symbols[size_t(left.next)].previous = best.at;
      offer(left.previous, best.at);
      offer(best.at, left.next);
    }
  }

  void cut_anew(std::string_view word, std::vector<ModelToken>& tokens) const {
    std::vector<Symbol> symbols = characters(word);
    merge_all(symbols);
    uint32_t at = 0;
    for (const Symbol& symbol : symbols) {
      if (symbol.bytes == 0) continue;
      tokens.push_back({symbol.id, at, at + symbol.bytes});
      at += symbol.bytes;
    }
  }

  Json fields_;
  std::string prefix_, suffix_, unknown_token_;
  int64_t unknown_;
  bool fuse_unknown_, byte_fallback_, ignore_merges_;
  MergeTable merges_;
  std::vector<std::pair<int64_t, int64_t>> order_;  // the merges as they were learned
  WordCache cache_;
};

}  // namespace

std::unique_ptr<const Model> make_bpe(const Field& component) {
  return std::make_unique<BpeModel>(component);
}

}  // namespace fovea::hugging_face

#include "fovea/data/traces/prefetchers.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/data/traces/filter.h"

namespace fovea {

namespace {

bool is_line(int64_t line) {
  return line >= 0 && line < kMostLines;
}

/// line + step, line + 2 step, … as long as there are such lines.
void name_steps(int64_t line, int64_t step, std::span<int64_t> lines) {
  for (int64_t& named : lines) {
    line = line == kNoLine ? kNoLine : line + step;
    if (!is_line(line)) line = kNoLine;
    named = line;
  }
}

class NextLine : public Prefetcher {
 public:
  void see(const StoredAccess& access, bool) override { line_ = access.line; }
  void name(std::span<int64_t> lines) const override { name_steps(line_, 1, lines); }

 private:
  int64_t line_ = kNoLine;
};

class Stride : public Prefetcher {
 public:
  void see(const StoredAccess& access, bool) override {
    const auto [place, is_new] = known_.try_emplace(access.pc);
    Instruction& own = place->second;
    if (!is_new) {
      const int64_t stride = access.line - own.line;
      own.is_steady = stride == own.stride && stride != 0;
      own.stride = stride;
    }
    own.line = access.line;
    last_ = own;
  }
  void name(std::span<int64_t> lines) const override {
    name_steps(last_.is_steady ? last_.line : kNoLine, last_.stride, lines);
  }

 private:
  struct Instruction {
    int64_t line = kNoLine, stride = 0;
    bool is_steady = false;
  };
  std::unordered_map<uint64_t, Instruction> known_;  // by PC
  Instruction last_;
};

class LastSuccessor : public Prefetcher {
 public:
  LastSuccessor(const NamedTensors& learned, const std::string& where) {
    const auto found = learned.find("successors");
    if (found == learned.end()) return;
    const at::Tensor& pairs = found->second;
    require(pairs.scalar_type() == at::kLong && pairs.dim() == 2 && pairs.size(1) == 2 &&
                pairs.is_contiguous(),
            ErrorKind::BadData, where, ": the table of successors must be int64 [lines, 2]");
    const int64_t* pair = pairs.data_ptr<int64_t>();
    successor_.reserve(size_t(pairs.size(0)));
    for (int64_t row = 0; row < pairs.size(0); ++row, pair += 2) {
      require(is_line(pair[0]) && is_line(pair[1]), ErrorKind::BadData, where,
              ": the table of successors has a line that cannot be, in row ", row);
      successor_[pair[0]] = pair[1];
    }
  }

  void see(const StoredAccess& access, bool learns) override {
    if (learns && line_ != kNoLine) successor_[line_] = access.line;
    line_ = access.line;
  }
  void name(std::span<int64_t> lines) const override {
    std::fill(lines.begin(), lines.end(), kNoLine);
    int64_t line = line_;
    for (size_t i = 0; i < lines.size(); ++i) {
      const auto found = successor_.find(line);
      if (found == successor_.end()) return;
      line = found->second;
      const auto named = lines.first(i);
      if (std::find(named.begin(), named.end(), line) != named.end()) return;  // in a circle
      lines[i] = line;
    }
  }
  NamedTensors learned() const override {
    std::vector<std::pair<int64_t, int64_t>> sorted(successor_.begin(), successor_.end());
    std::sort(sorted.begin(), sorted.end());  // the same file for the same trace
    at::Tensor pairs = at::empty({int64_t(sorted.size()), 2}, at::kLong);
    int64_t* pair = pairs.data_ptr<int64_t>();
    for (const auto& [line, next] : sorted) *pair++ = line, *pair++ = next;
    return {{"successors", pairs}};
  }

 private:
  std::unordered_map<int64_t, int64_t> successor_;
  int64_t line_ = kNoLine;
};

}  // namespace

std::unique_ptr<Prefetcher> make_prefetcher(const std::string& name, const NamedTensors& learned,
                                            const std::string& where) {
  if (name == "next_line") return std::make_unique<NextLine>();
  if (name == "stride") return std::make_unique<Stride>();
  require(name == "last_successor", ErrorKind::Internal, "there is no prefetcher '", name, "'");
  return std::make_unique<LastSuccessor>(learned, where);
}

}  // namespace fovea

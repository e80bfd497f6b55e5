// Traces of memory accesses, one a line, plain or gzip, of any size: one line at a time is in
// memory. Two formats, told apart by the first line (docs/formats/trace.md):
//   L 04acfa68 8 00109200      KIND ADDRESS SIZE PC
//   I  04017d90,3              valgrind --tool=lackey --trace-mem=yes: an instruction, and behind
//    L 1ffeffe7e8,8            it the accesses that it makes
// Addresses and PCs are unsigned 64-bit numbers in hexadecimal digits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/formats/line_stream.h"

namespace fovea {

struct TraceAccess {
  char kind = 'L';       // L load, S store, M modify: a load and a store of the same place
  uint64_t address = 0;  // virtual, of its first byte
  uint64_t pc = 0;       // of the instruction; 0 where it is not known
  bool operator==(const TraceAccess&) const = default;
};

/// "L 04acfa68 8 00109200", with or without 0x. BadData says what does not fit.
TraceAccess parse_access(std::string_view line);

/// What is done about a trace that ends in mid-line, or in the middle of an archive.
enum class CutTrace { Refuse, LeaveOut };

class TraceReader {
 public:
  /// NotFound or Io.
  TraceReader(const std::filesystem::path& path, CutTrace cut);

  /// False behind the last access. BadData with path:line.
  bool next(TraceAccess& access);

  /// What was left out, once the end was reached.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  enum class Format { Unknown, Columns, Lackey };
  bool next_line(std::string_view& line);
  /// False for a line that is no access.
  bool read_line(std::string_view line, TraceAccess& access);
  bool read_lackey(std::string_view line, TraceAccess& access);

  LineStream lines_;
  CutTrace cut_;
  Format format_ = Format::Unknown;
  uint64_t pc_ = 0;  // lackey: of the last instruction
  std::vector<std::string> notes_;
};

}  // namespace fovea

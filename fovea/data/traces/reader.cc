#include "fovea/data/traces/reader.h"

#include <charconv>

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr const char* kExpected =
    "; expected KIND ADDRESS SIZE PC, as L 04acfa68 8 00109200, or lines of valgrind's lackey";

bool is_field_end(char c) {
  return c == ' ' || c == '\t';
}

/// The next field, which is taken off the line; empty at its end.
std::string_view take_field(std::string_view& line) {
  size_t begin = 0;
  while (begin < line.size() && is_field_end(line[begin])) ++begin;
  size_t end = begin;
  while (end < line.size() && !is_field_end(line[end])) ++end;
  const std::string_view field = line.substr(begin, end - begin);
  line = line.substr(end);
  return field;
}

/// The whole of `text` as a number with that base; nothing else, no sign, at most 64 bits.
bool parse_unsigned(std::string_view text, int base, uint64_t& value) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return !text.empty() && problem == std::errc() && end == text.data() + text.size();
}

uint64_t field_number(std::string_view text, int base, const char* what) {
  uint64_t value = 0;
  require(parse_unsigned(text, base, value), ErrorKind::BadData, "'", text, "' is no ", what,
          kExpected);
  return value;
}

uint64_t address_in(std::string_view text) {
  return field_number(text, 16, "hexadecimal address of at most 64 bits");
}

/// An access of no bytes reads nothing; its size is not looked at otherwise.
void check_size(std::string_view text) {
  require(field_number(text, 10, "size in bytes") > 0, ErrorKind::BadData, "an access of 0 bytes");
}

char kind_in(std::string_view text) {
  require(text == "L" || text == "S" || text == "M", ErrorKind::BadData, "'", text,
          "' is no kind of access: L (load), S (store) or M (modify)", kExpected);
  return text[0];
}

/// Lines of valgrind itself, comments, and nothing.
bool says_nothing(std::string_view line) {
  return trim(line).empty() || line.starts_with("==") || line.starts_with("--") ||
         line.starts_with("#");
}

}  // namespace

TraceAccess parse_access(std::string_view line) {
  TraceAccess access;
  access.kind = kind_in(take_field(line));
  access.address = address_in(take_field(line));
  check_size(take_field(line));
  access.pc = address_in(take_field(line));
  require(take_field(line).empty(), ErrorKind::BadData, "more than four fields", kExpected);
  return access;
}

TraceReader::TraceReader(const std::filesystem::path& path, CutTrace cut)
    : lines_(path), cut_(cut) {}

bool TraceReader::next_line(std::string_view& line) {
  const auto at_end = [&](const std::string& why) {
    require(cut_ == CutTrace::LeaveOut, ErrorKind::BadData, why, why.ends_with('?') ? " " : ". ",
            "Make the trace anew, or do without what is missing: --set data.cut=leave_out");
    notes_.push_back("what is not whole was left out: " + why);
    return false;
  };
  bool found = false;
  try {
    found = lines_.next(line);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::BadData) throw;
    return at_end(error.what());
  }
  if (!found || lines_.has_end()) return found;
  return at_end(
      concat(lines_.place(), ": the last line has no end: the trace was cut in mid-line"));
}

bool TraceReader::read_lackey(std::string_view line, TraceAccess& access) {
  const std::string_view kind = take_field(line), place = take_field(line);
  const size_t comma = place.find(',');
  require(comma != std::string_view::npos && take_field(line).empty(), ErrorKind::BadData,
          "not a line of lackey, such as ' L 1ffeffe7e8,8' or 'I  04017d90,3'");
  const uint64_t address = address_in(place.substr(0, comma));
  check_size(place.substr(comma + 1));
  if (kind == "I") {
    pc_ = address;
    return false;
  }
  access = {kind_in(kind), address, pc_};
  return true;
}

bool TraceReader::read_line(std::string_view line, TraceAccess& access) {
  if (says_nothing(line)) return false;
  if (format_ == Format::Unknown)
    format_ = line.find(',') == std::string_view::npos ? Format::Columns : Format::Lackey;
  if (format_ == Format::Lackey) return read_lackey(line, access);
  access = parse_access(line);
  return true;
}

bool TraceReader::next(TraceAccess& access) {
  std::string_view line;
  while (next_line(line)) {
    try {
      if (read_line(line, access)) return true;
    } catch (const Error& error) {
      fail(error.kind(), lines_.place(), ": ", error.what());
    }
  }
  return false;
}

}  // namespace fovea

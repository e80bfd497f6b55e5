#include "fovea/data/formats/text_lines.h"

#include <algorithm>
#include <cstdio>

#include "fovea/base/error.h"

namespace fovea {

TextLines::TextLines(const std::filesystem::path& path, int64_t max_bytes)
    : path_(path.string()), stream_(path, max_bytes, /*text=*/true) {
  stream_.next(buffer_);
  if (buffer_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

std::string TextLines::place() const {
  return concat(path_, ":", number_);
}

bool TextLines::next(std::string_view& line) {
  size_t end = buffer_.find('\n', at_);
  while (end == std::string::npos) {
    const size_t looked = buffer_.size() - at_;
    buffer_.erase(0, at_);
    at_ = 0;
    if (!stream_.next(buffer_)) break;
    end = buffer_.find('\n', looked);
  }
  if (at_ >= buffer_.size()) return false;
  ++number_;
  end = std::min(end, buffer_.size());
  line = std::string_view(buffer_).substr(at_, end - at_);
  at_ = std::min(end + 1, buffer_.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (int64_t(line.size()) > kLongestLine)
    fail(ErrorKind::BadData, place(), ": the line has ", format_count(int64_t(line.size())),
         " bytes, the limit is ", format_count(kLongestLine), "; is this one sentence per line?");
  const size_t valid = valid_utf8_prefix(line);
  if (valid < line.size()) {
    char byte[8];
    std::snprintf(byte, sizeof byte, "0x%02X", static_cast<unsigned char>(line[valid]));
    fail(ErrorKind::BadData, place(), ": byte ", valid + 1, " of the line, ", byte,
         ", is not UTF-8; convert the file, for example: iconv -f ISO-8859-1 -t UTF-8 ", path_);
  }
  return true;
}

}  // namespace fovea

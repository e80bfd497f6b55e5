#include "fovea/data/formats/text_lines.h"

#include <algorithm>
#include <cstdio>

#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"

namespace fovea {

TextLines::TextLines(const std::filesystem::path& path, int64_t max_bytes) : path_(path.string()) {
  FileBytes bytes = read_text(path, max_bytes);
  content_ = std::move(bytes.content);
  hash_ = std::move(bytes.hash);
  if (content_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  count_ = std::count(content_.begin(), content_.end(), '\n');
  if (at_ < content_.size() && content_.back() != '\n') ++count_;
}

std::string TextLines::place() const {
  return concat(path_, ":", number_);
}

bool TextLines::next(std::string_view& line) {
  if (at_ >= content_.size()) return false;
  ++number_;
  const size_t end = std::min(content_.find('\n', at_), content_.size());
  line = std::string_view(content_).substr(at_, end - at_);
  at_ = end + 1;
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

// The bytes of a table as UTF-8, from what spreadsheets write: what decode_text() decodes, and
// Windows-1252.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// UTF-8 without a byte order mark, lines that end in LF or CR LF, and without the line "sep=;" of
/// Excel (its line end stays, so that lines keep their numbers). A guess is added to `notes`.
/// BadData, beginning with `name`, for bytes that are none of these.
class TableDecoder {
 public:
  TableDecoder(std::string name, std::vector<std::string>& notes)
      : name_(std::move(name)), notes_(notes) {}
  /// Adds the text of these bytes, which decode_text() has seen, at the end of `text`. The first
  /// bytes of a file must be some hundred, unless they are the `last`.
  void add(std::string_view bytes, bool last, std::string& text);

 private:
  void decode(std::string_view bytes, bool last, std::string& text);
  void append_windows_1252(std::string_view bytes, std::string& text) const;
  std::string place(std::string_view before) const;

  std::string name_;
  std::vector<std::string>& notes_;
  std::string waiting_;  // the beginning of a character
  std::string problem_;  // of Windows-1252: what is wrong if it is something else
  enum { kAscii, kUtf8, kWindows } encoding_ = kAscii;  // as far as is known
  bool first_ = true, line_feeds_ = false, carriage_returns_ = false;
  int64_t lines_ = 0;  // behind us
  size_t offset_ = 0;  // in the file
};

/// The same of all bytes at once.
std::string decode_table_text(std::string content, const std::string& name,
                              std::vector<std::string>& notes);

}  // namespace fovea

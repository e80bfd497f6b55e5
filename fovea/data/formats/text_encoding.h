// Bytes to text in UTF-8. What is no text (a spreadsheet, Parquet, an archive, a pickle, a web page
// saved under another name) is known by its first bytes, whatever the file is called, and refused
// with what to do; UTF-16 and UTF-32 are decoded; and of tables what spreadsheets write, which may
// be Windows-1252.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// "is an Excel workbook; save it as CSV, or: python3 -c …", or "" for bytes that may be text.
/// `path` stands in the commands.
std::string foreign_advice(std::string_view bytes, const std::string& path);

/// BadData with that advice.
void refuse_foreign(std::string_view bytes, const std::string& path);

/// The same by the first bytes of a file, where it is one that can be opened: for readers that take
/// no table. `wanted`: what they take instead of CSV, such as "jsonl".
void refuse_foreign_file(const std::filesystem::path& path, const std::string& wanted = "csv");

/// Whether a file begins with the byte order mark of UTF-16 or UTF-32.
bool is_wide_text(std::string_view content);

/// Bytes that should be text, as UTF-8: UTF-16 and UTF-32 with a byte order mark are decoded, and
/// what is no text is refused with what to do. Other bytes are left as they are: who reads them
/// knows the line of one that is not UTF-8. BadData begins with `name`.
std::string decode_text(std::string content, const std::string& name);

/// A table's bytes as UTF-8 without a byte order mark, lines that end in LF or CR LF, and without
/// the line "sep=;" of Excel (its line end stays, so that lines keep their numbers). A guess is
/// added to `notes`. BadData, beginning with `name`, for bytes that are none of these.
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

#include "fovea/data/formats/text_encoding.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr size_t kSample = 512;  // bytes to tell text from other things by

using std::string_view_literals::operator""sv;

enum class ForeignKind { Table, Array, Archive, Media, Page, Other };

struct ForeignFormat {
  std::string_view first;  // bytes
  const char* name;        // with its article
  ForeignKind kind;
  const char* tool;  // of pandas, or the command that unpacks
};

constexpr const char* kFromR = "write it as CSV in R: write.csv(x, \"x.csv\", row.names=FALSE)";

constexpr std::array kForeignFormats = {
    ForeignFormat{"\xD0\xCF\x11\xE0"sv, "an Excel workbook (.xls)", ForeignKind::Table,
                  "read_excel"},
    ForeignFormat{"PAR1"sv, "a Parquet file", ForeignKind::Table, "read_parquet"},
    ForeignFormat{"ARROW1"sv, "an Arrow (Feather) file", ForeignKind::Table, "read_feather"},
    ForeignFormat{"FEA1"sv, "a Feather file", ForeignKind::Table, "read_feather"},
    ForeignFormat{"ORC"sv, "an ORC file", ForeignKind::Table, "read_orc"},
    ForeignFormat{"\x89HDF"sv, "an HDF5 file", ForeignKind::Table, "read_hdf"},
    ForeignFormat{"<stata_dta>"sv, "a Stata file", ForeignKind::Table, "read_stata"},
    ForeignFormat{"$FL2"sv, "an SPSS file", ForeignKind::Table, "read_spss"},
    ForeignFormat{"\x93NUMPY"sv, "a NumPy array (.npy)", ForeignKind::Array, ""},
    ForeignFormat{"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", ForeignKind::Archive, "7z x"},
    ForeignFormat{"Rar!"sv, "a RAR archive", ForeignKind::Archive, "unrar x"},
    ForeignFormat{"BZh"sv, "a bzip2 file", ForeignKind::Archive, "bunzip2 -k"},
    ForeignFormat{"\xFD"
                  "7zXZ"sv,
                  "an xz file", ForeignKind::Archive, "unxz -k"},
    ForeignFormat{"\x28\xB5\x2F\xFD"sv, "a Zstandard file", ForeignKind::Archive, "unzstd"},
    ForeignFormat{"\x89PNG"sv, "a picture (PNG)", ForeignKind::Media, ""},
    ForeignFormat{"\xFF\xD8\xFF"sv, "a picture (JPEG)", ForeignKind::Media, ""},
    ForeignFormat{"GIF8"sv, "a picture (GIF)", ForeignKind::Media, ""},
    ForeignFormat{"fLaC"sv, "a sound (FLAC)", ForeignKind::Media, ""},
    ForeignFormat{"OggS"sv, "a sound (Ogg)", ForeignKind::Media, ""},
    ForeignFormat{"RIFF"sv, "a sound (WAV)", ForeignKind::Media, ""},
    ForeignFormat{"ID3"sv, "a sound (MP3)", ForeignKind::Media, ""},
    ForeignFormat{"version https://git-lfs"sv, "a pointer of Git LFS, not the file itself",
                  ForeignKind::Other, "fetch it: git lfs pull"},
    ForeignFormat{"%PDF-"sv, "a PDF document", ForeignKind::Other,
                  "take its text out first (pdftotext), one text a line"},
    ForeignFormat{"SQLite format 3"sv, "an SQLite database", ForeignKind::Other,
                  "write a table of it as CSV: sqlite3 -header -csv FILE \"select * from TABLE\""},
    ForeignFormat{"{\\rtf"sv, "a text with formatting (RTF)", ForeignKind::Other,
                  "save it as plain text"},
    ForeignFormat{"Obj\x01"sv, "an Avro file", ForeignKind::Other, "write it as CSV or JSON lines"},
    ForeignFormat{"MATLAB 5.0"sv, "a MATLAB file", ForeignKind::Other,
                  "write it as CSV: writematrix in MATLAB, or scipy.io.loadmat"},
    ForeignFormat{"RDX2\n"sv, "data of R", ForeignKind::Other, kFromR},
    ForeignFormat{"RDX3\n"sv, "data of R", ForeignKind::Other, kFromR},
    ForeignFormat{"\xBA\x16\x4F\x2F"sv, "a binary model of fastText", ForeignKind::Other,
                  "vectors are read from its text form (.vec)"},
};

std::string converted_name(const std::string& path) {
  return std::filesystem::path(path).stem().string() + ".csv";
}

/// The command that makes a CSV of a table, where pandas has a function for it.
std::string table_advice(const char* name, const std::string& function, const std::string& path) {
  return concat("is ", name, "; save it as CSV, for example: python3 -c \"import pandas; pandas.",
                function, "('", path, "').to_csv('", converted_name(path), "', index=False)\"");
}

std::string format_advice(const ForeignFormat& format, const std::string& path) {
  switch (format.kind) {
    case ForeignKind::Table:
      return table_advice(format.name, format.tool, path);
    case ForeignKind::Array:
      return concat("is ", format.name, "; save it as CSV with a header, for example: python3 -c ",
                    "\"import numpy, pandas; pandas.DataFrame(numpy.load('", path, "')).to_csv('",
                    converted_name(path), "', index=False)\"");
    case ForeignKind::Archive:
      return concat("is ", format.name, "; unpack it first: ", format.tool, " ", path,
                    " (only .gz is read as it is)");
    case ForeignKind::Media:
      return concat("is ", format.name, ", where a text file is needed; a task on pictures or ",
                    "sounds takes a folder or a table of such files (`fovea tasks` lists them)");
    default:
      return concat("is ", format.name, "; ", format.tool);
  }
}

/// A zip file is many things: the names in it, which stand unpacked in it, tell.
std::string zip_advice(std::string_view bytes, const std::string& path) {
  const auto holds = [&](std::string_view name) { return bytes.find(name) < bytes.size(); };
  if (holds("xl/workbook")) return table_advice("an Excel workbook", "read_excel", path);
  if (holds("opendocument.spreadsheet"))
    return table_advice("an OpenDocument spreadsheet", "read_excel", path);
  if (holds("word/document") || holds("opendocument.text"))
    return "is a text document (.docx, .odt); save it as plain text";
  if (holds("/data.pkl")) return "holds weights of PyTorch, not data";
  if (holds(".npy"))
    return "holds NumPy arrays (.npz); save the one that is meant as CSV: numpy.savetxt";
  return concat("is a zip archive; unpack it first: unzip ", path,
                " -d DATA, then give the file or the folder in it");
}

bool starts_with_word(std::string_view bytes, std::string_view word) {
  return bytes.size() >= word.size() &&
         std::equal(word.begin(), word.end(), bytes.begin(), [](char expected, char found) {
           return expected == std::tolower(static_cast<unsigned char>(found));
         });
}

/// Whether there are bytes that no text has.
bool is_binary_sample(std::string_view sample) {
  const bool controls = std::any_of(sample.begin(), sample.end(), [](unsigned char c) {
    return c < 0x20 &&
           std::string_view("\t\n\v\f\r\x1a\x1b").find(char(c)) == std::string_view::npos;
  });
  return controls || valid_utf8_prefix(sample) + 4 < sample.size();  // the last one may be cut
}

/// Opcodes PROTO 2 … 5, and its last one, STOP.
bool is_pickle(std::string_view bytes) {
  return bytes.size() > 3 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 &&
         bytes.back() == '.';
}

}  // namespace

std::string foreign_advice(std::string_view bytes, const std::string& path) {
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06"))
    return zip_advice(bytes, path);
  const bool binary = is_binary_sample(bytes.substr(0, kSample));
  for (const ForeignFormat& format : kForeignFormats)
    // A text may begin with PAR1 too.
    if (bytes.starts_with(format.first) &&
        (binary || (format.kind == ForeignKind::Other && format.first.size() > 4)))
      return format_advice(format, path);
  if (bytes.starts_with("\xFF\xFF\xFF\xFF"sv) && bytes.size() > 8 && bytes[7] == 0)
    return concat("is an Arrow stream; with Hugging Face's datasets: ", "Dataset.from_file('", path,
                  "').to_csv('", converted_name(path), "')");
  if (is_pickle(bytes))
    return concat("is a Python pickle; save what it holds as CSV or JSON lines, for example: ",
                  "python3 -c \"import pandas; pandas.read_pickle('", path, "').to_csv('",
                  converted_name(path), "', index=False)\"");
  if (bytes.size() > 262 && bytes.substr(257, 5) == "ustar")
    return concat("is a tar archive; unpack it first: tar xf ", path);
  const std::string_view text =
      bytes.substr(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  if (starts_with_word(text, "<!doctype html") || starts_with_word(text, "<html"))
    return "is a web page, not data; was the page saved in place of the file that it links to?";
  return "";
}

void refuse_foreign_file(const std::filesystem::path& path, const std::string& wanted) {
  constexpr std::streamsize kHead = 1 << 20;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;
  std::string bytes(kHead, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), kHead);
  bytes.resize(size_t(file.gcount()));
  std::string advice = foreign_advice(bytes, path.string());
  if (wanted == "jsonl") {
    const size_t csv = advice.find("CSV"), to_csv = advice.find(").to_csv(");
    if (to_csv < advice.size())
      advice =
          concat(advice.substr(0, csv), "JSON lines", advice.substr(csv + 3, to_csv - csv - 3),
                 ").to_json('", path.stem().string(), ".jsonl', orient='records', lines=True)\"");
  }
  require(advice.empty(), ErrorKind::BadData, path.string(), ": ", advice);
}

void refuse_foreign(std::string_view bytes, const std::string& path) {
  const std::string advice = foreign_advice(bytes, path);
  require(advice.empty(), ErrorKind::BadData, path, ": ", advice);
}

namespace {

/// An encoding with more than a byte a character, by the mark that files of it begin with.
struct WideEncoding {
  std::string_view mark;
  const char* name;
  size_t width;  // bytes of a code unit
  bool little_endian;
};

constexpr WideEncoding kWideEncodings[] = {{"\xFF\xFE\0\0"sv, "UTF-32", 4, true},
                                           {"\0\0\xFE\xFF"sv, "UTF-32", 4, false},
                                           {"\xFF\xFE"sv, "UTF-16", 2, true},
                                           {"\xFE\xFF"sv, "UTF-16", 2, false}};

/// Without the mark. BadData, with the line, for what is no character.
std::string decode_wide(std::string_view content, const WideEncoding& encoding,
                        const std::string& name) {
  std::string text;
  const auto check = [&](bool fits) {
    require(fits, ErrorKind::BadData, name, ":", 1 + std::count(text.begin(), text.end(), '\n'),
            ": damaged ", encoding.name, "; was the copy cut short? UTF-8 is read too: iconv -f ",
            encoding.name, " -t UTF-8 ", name);
  };
  size_t at = encoding.mark.size();
  const auto next_unit = [&] {
    check(at + encoding.width <= content.size());
    uint32_t unit = 0;
    for (size_t i = 0; i < encoding.width; ++i) {
      const size_t byte = encoding.little_endian ? encoding.width - 1 - i : i;
      unit = unit << 8 | static_cast<unsigned char>(content[at + byte]);
    }
    at += encoding.width;
    return unit;
  };
  const auto is_surrogate = [](uint32_t unit) { return unit >= 0xD800 && unit < 0xE000; };
  while (at < content.size()) {
    uint32_t point = next_unit();
    if (encoding.width == 2 && is_surrogate(point)) {
      check(point < 0xDC00);  // a high one comes first
      const uint32_t low = next_unit();
      check(low >= 0xDC00 && low < 0xE000);
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    check(point < 0x110000 && !is_surrogate(point));
    append_code_point(point, text);
  }
  return text;
}

}  // namespace

bool is_wide_text(std::string_view content) {
  return std::ranges::any_of(kWideEncodings, [&](const WideEncoding& encoding) {
    return content.starts_with(encoding.mark);
  });
}

std::string decode_text(std::string content, const std::string& name) {
  refuse_foreign(content, name);
  for (const WideEncoding& encoding : kWideEncodings)
    if (content.starts_with(encoding.mark)) return decode_wide(content, encoding, name);
  return content;
}

namespace {

/// 0x80 to 0x9F; 0: no character.
constexpr std::array<uint16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

bool is_ascii_text(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080ull;
  size_t at = 0;
  for (uint64_t word; at + 8 <= text.size(); at += 8) {
    std::memcpy(&word, text.data() + at, 8);
    if (word & kHighBits) return false;
  }
  for (; at < text.size(); ++at)
    if (text[at] & 0x80) return false;
  return true;
}

/// "sep=;" tells Excel what separates the cells; the header tells us.
std::string_view without_separator_line(std::string_view content) {
  if (content.size() < 5 || !content.starts_with("sep=")) return content;
  const size_t end = std::min(content.find_first_of("\r\n"), content.size());
  return end == 5 ? content.substr(end) : content;
}

}  // namespace

std::string TableDecoder::place(std::string_view before) const {
  return concat(name_, ":", 1 + lines_ + std::count(before.begin(), before.end(), '\n'));
}

void TableDecoder::append_windows_1252(std::string_view bytes, std::string& text) const {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool special = byte >= 0x80 && byte < 0xA0;
    if (special && kWindows1252[byte - 0x80] == 0) fail(ErrorKind::BadData, problem_);
    append_code_point(special ? kWindows1252[byte - 0x80] : byte, text);
  }
}

void TableDecoder::decode(std::string_view bytes, bool last, std::string& text) {
  if (encoding_ == kWindows) return append_windows_1252(bytes, text);
  const size_t valid = is_ascii_text(bytes) ? bytes.size() : valid_utf8_prefix(bytes);
  const std::string_view good = bytes.substr(0, valid);
  if (!is_ascii_text(good)) encoding_ = kUtf8;
  if (valid == bytes.size()) {
    text += good;
    return;
  }
  constexpr size_t kLongestCharacter = 4;  // bytes
  if (!last && bytes.size() - valid < kLongestCharacter) {
    text += good;
    waiting_ = bytes.substr(valid);
    return;
  }
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02X", static_cast<unsigned char>(bytes[valid]));
  problem_ = concat(place(good), ": byte ", byte, " (at offset ", offset_ + valid,
                    " of the file) is not valid UTF-8. Convert the file, for example: iconv -f "
                    "ISO-8859-1 -t UTF-8 ",
                    name_);
  require(encoding_ == kAscii, ErrorKind::BadData, problem_);
  encoding_ = kWindows;
  append_windows_1252(bytes, text);
  notes_.push_back(concat(place(good), ": byte ", byte,
                          " is not UTF-8; the file is read as Windows-1252 (Western European)"));
}

void TableDecoder::add(std::string_view bytes, bool last, std::string& text) {
  if (std::exchange(first_, false)) {
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    const std::string_view table = without_separator_line(bytes);
    offset_ = bytes.size() - table.size();
    bytes = table;
  }
  std::string joined = std::exchange(waiting_, "");
  if (!joined.empty()) bytes = joined += bytes;
  const size_t nul = bytes.find('\0');
  if (nul != std::string_view::npos) {
    const bool wide = bytes.size() > 3 && nul < 2 && bytes[nul + 2] == '\0';
    fail(ErrorKind::BadData, place(bytes.substr(0, nul)), ": a zero byte (at offset ",
         offset_ + nul, " of the file); a text file is needed",
         wide ? concat(" (is it UTF-16 without a byte order mark? iconv -f UTF-16",
                       nul == 0 ? "BE" : "LE", " -t UTF-8 ", name_, " > NEW)")
              : "");
  }
  decode(bytes, last, text);
  bytes.remove_suffix(waiting_.size());
  offset_ += bytes.size();
  lines_ += std::count(bytes.begin(), bytes.end(), '\n');
  line_feeds_ = line_feeds_ || lines_ > 0;
  carriage_returns_ = carriage_returns_ || bytes.find('\r') != std::string_view::npos;
  require(!last || line_feeds_ || !carriage_returns_, ErrorKind::BadData, name_,
          ":1: its lines end in CR alone; convert it: tr '\\r' '\\n'");
}

std::string decode_table_text(std::string content, const std::string& name,
                              std::vector<std::string>& notes) {
  std::string text;
  TableDecoder(name, notes).add(decode_text(std::move(content), name), true, text);
  return text;
}

}  // namespace fovea

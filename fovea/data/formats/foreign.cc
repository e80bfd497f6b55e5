#include "fovea/data/formats/foreign.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

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

void refuse_foreign(std::string_view bytes, const std::string& path) {
  const std::string advice = foreign_advice(bytes, path);
  require(advice.empty(), ErrorKind::BadData, path, ": ", advice);
}

}  // namespace fovea

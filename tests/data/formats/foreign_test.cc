#include <gtest/gtest.h>

#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/line_stream.h"
#include "fovea/data/formats/text_encoding.h"
#include "fovea/data/formats/text_lines.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::foreign_test {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;
using std::string_literals::operator""s;

TEST(Foreign, FormatsByTheirFirstBytes) {
  const std::string zip = "PK\x03\x04\x14\0\0\0"s;
  const std::vector<std::pair<std::string, std::string>> cases{
      {zip + "xl/workbook.xml", "read_excel('data/a.b')"},
      {zip + "mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "OpenDocument"},
      {zip + "word/document.xml", "plain text"},
      {zip + "archive/data.pkl", "PyTorch"},
      {zip + "x.npy", ".npz"},
      {zip + "train.csv", "unzip data/a.b"},
      {"PAR1\x15\x04\x15\x10"s, "read_parquet('data/a.b').to_csv('a.csv'"},
      {"ARROW1\0\0"s, "read_feather"},
      {"\xFF\xFF\xFF\xFF\x70\0\0\0\x10"s, "Dataset.from_file"},
      {"\xD0\xCF\x11\xE0\xA1\xB1"s, "read_excel"},
      {"%PDF-1.7\n", "pdftotext"},
      {"\x80\x04\x95\x05\0\0\0]q\0."s, "read_pickle"},
      {"\x93NUMPY\x01\0"s, "numpy.load"},
      {"BZh91AY&SY\x01\x02", "bunzip2"},
      {"SQLite format 3\0"s, "sqlite3"},
      {"\n <!DOCTYPE html><title>x", "web page"},
      {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
      {std::string(257, 'x') + "ustar\0"s, "tar xf"},
      {"\x89PNG\r\n\x1a\n\0"s, "picture"},
      {"RIFF\x24\0\0\0WAVE"s, "sound"}};
  for (const auto& [bytes, words] : cases)
    EXPECT_NE(foreign_advice(bytes, "data/a.b").find(words), std::string::npos)
        << words << " not in: " << foreign_advice(bytes, "data/a.b");
}

TEST(Foreign, TextsThatBeginLikeThem) {
  for (const char* text : {"PAR1,x\n1,2\n", "ORC and elf\n", "ID3,a\n", "BZhx", "RIFF raff", "<p>",
                           "a,b\n1,2\n", "", "\x80", "grün", "htmlx"})
    EXPECT_EQ(foreign_advice(text, "a"), "") << text;
}

TEST(Foreign, EveryReaderOfTextRefusesThem) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x.csv", "PAR1\x15\x04\x15\x10\nx,y\n1,2\n"s);
  const std::vector<std::string> words{"x.csv", "Parquet", "to_csv"};
  expect_error(ErrorKind::BadData, words, [&] { read_csv(path); });
  expect_error(ErrorKind::BadData, words, [&] { TextLines(path, 1000); });
  expect_error(ErrorKind::BadData, words, [&] {
    std::string_view line;
    LineStream(path).next(line);
  });
}

/// `text`, which has ASCII and ü only, in another encoding.
std::string encoded(const std::string& text, const std::string& mark, size_t width, bool little) {
  std::string bytes = mark;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool umlaut = text[i] == '\xC3';
    const char low = umlaut ? '\xFC' : text[i];
    i += umlaut;
    std::string unit(width, '\0');
    unit[little ? 0 : width - 1] = low;
    bytes += unit;
  }
  return bytes;
}

TEST(Foreign, WideEncodingsAreDecoded) {
  const std::string text = "name,n\ngr\xC3\xBCn,1\n";
  EXPECT_EQ(decode_text(encoded(text, "\xFF\xFE", 2, true), "a"), text);
  EXPECT_EQ(decode_text(encoded(text, "\xFE\xFF", 2, false), "a"), text);
  EXPECT_EQ(decode_text(encoded(text, "\xFF\xFE\0\0"s, 4, true), "a"), text);
  EXPECT_EQ(decode_text(encoded(text, "\0\0\xFE\xFF"s, 4, false), "a"), text);
  EXPECT_EQ(decode_text("\xFF\xFE\x3D\xD8\x00\xDE"s, "a"), "\xF0\x9F\x98\x80");  // two units
  const TemporaryFolder folder;
  const std::string path = folder.write("x.csv", encoded(text, "\xFF\xFE", 2, true));
  EXPECT_EQ(read_csv(path).cell(0, 0), "gr\xC3\xBCn");
  for (const std::string& damaged : {"\xFF\xFEx"s, "\xFF\xFE\n\0\x00\xDC"s, "\xFF\xFE\x00\xD8x\0"s})
    expect_error(ErrorKind::BadData, {"a:", "damaged UTF-16", "iconv"},
                 [&] { decode_text(damaged, "a"); });
}

}  // namespace
}  // namespace fovea::foreign_test

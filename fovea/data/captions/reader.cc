#include "fovea/data/captions/reader.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fovea/base/error.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// The columns of a table, by their roles; -1: not there.
struct CaptionColumns {
  CaptionColumns(const MediaTable& media, const Roles& roles)
      : image(needed(media, "image")),
        boxes(media.find("boxes", {"boxes"})),
        split(media.split_column()) {
    const auto named = roles.find("caption");
    if (named == roles.end())
      captions = {needed(media, "caption")};
    else
      for (const std::string& name : named->second) captions.push_back(media.table().column(name));
  }

  int64_t image, boxes, split;
  std::vector<int64_t> captions;

 private:
  static int64_t needed(const MediaTable& media, const std::string& role) {
    const int64_t column = media.find(role, {role});
    require(column >= 0, ErrorKind::NotFound, media.table().path, ": there is no column '", role,
            "'; say which one holds the ", role, ": --columns ", role,
            "=NAME. The columns are: ", join(media.table().names));
    return column;
  }
};

/// Puts the rows of one picture together.
class Gathering {
 public:
  explicit Gathering(const CsvTable& table) : table_(table) {}

  void add(int64_t row, CaptionedImage image, int split) {
    const std::string place = table_.place(row);
    const auto [known, is_new] = rows_.emplace(image.image.string(), result_.rows.size());
    if (is_new) {
      image.place = place;
      result_.add(std::move(image), split >= 0 ? std::optional(Split(split)) : std::nullopt);
      return;
    }
    CaptionedImage& before = result_.rows[known->second];
    require(split < 0 || result_.splits[known->second] == split, ErrorKind::BadData, place,
            ": the picture ", image.image.string(), " is in another split on ", before.place,
            "; a picture belongs to one split");
    require(image.boxes.empty(), ErrorKind::BadData, place, ": only the first row of a picture, ",
            before.place, ", may have boxes");
    before.captions.insert(before.captions.end(), image.captions.begin(), image.captions.end());
  }

  void count_empty() { ++empty_; }

  FileRows<CaptionedImage> take(const RowSink<CaptionedImage>& sink) {
    require(!result_.rows.empty(), ErrorKind::BadData, table_.path, ": holds no captions");
    result_.hash = table_.hash;
    if (empty_ > 0)
      result_.notes.push_back(concat(table_.path, ": ", format_count(empty_),
                                     " rows without picture or caption were left out"));
    if (!sink) return std::move(result_);
    FileRows<CaptionedImage> streamed{sink};
    streamed.hash = result_.hash;
    streamed.notes = std::move(result_.notes);
    for (size_t i = 0; i < result_.rows.size(); ++i)
      streamed.add(std::move(result_.rows[i]),
                   result_.splits.empty() ? std::nullopt : std::optional(result_.splits[i]));
    return streamed;
  }

 private:
  const CsvTable& table_;
  std::unordered_map<std::string, size_t> rows_;
  int64_t empty_ = 0;
  FileRows<CaptionedImage> result_;
};

[[noreturn]] void refuse_box(std::string_view text, const std::string& place,
                             const std::string& why) {
  fail(ErrorKind::BadData, place, ": the box '", text, "' ", why,
       "; expected begin-end:left,top,right,bottom with bytes of the caption and shares of the "
       "picture, as in 2-12:0.1,0.25,0.5,0.75");
}

CaptionBox parse_box(const std::string& text, size_t caption_bytes, const std::string& place) {
  const std::vector<std::string> halves = split(text, ':');
  const std::vector<std::string> bytes = split(halves[0], '-'),
                                 sides = split(halves.size() == 2 ? halves[1] : "", ',');
  CaptionBox box;
  double numbers[4] = {};
  bool fits = bytes.size() == 2 && sides.size() == 4 && parse_integer(bytes[0], box.begin) &&
              parse_integer(bytes[1], box.end);
  for (size_t i = 0; fits && i < 4; ++i)
    fits = parse_number(sides[i], numbers[i]) && std::isfinite(numbers[i]);
  if (!fits) refuse_box(text, place, "cannot be read");
  if (box.begin < 0 || box.begin >= box.end || box.end > int64_t(caption_bytes))
    refuse_box(text, place, concat("leaves the caption of ", caption_bytes, " bytes"));
  box.left = numbers[0], box.top = numbers[1], box.right = numbers[2], box.bottom = numbers[3];
  if (box.left < 0 || box.top < 0 || box.left >= box.right || box.top >= box.bottom ||
      box.right > 1 || box.bottom > 1)
    refuse_box(text, place, "leaves the picture or is empty");
  return box;
}

}  // namespace

std::string format_boxes(const std::vector<CaptionBox>& boxes) {
  std::vector<std::string> texts;
  for (const CaptionBox& box : boxes)
    texts.push_back(concat(box.begin, "-", box.end, ":", format_exact(box.left), ",",
                           format_exact(box.top), ",", format_exact(box.right), ",",
                           format_exact(box.bottom)));
  return join(texts, " ");
}

std::vector<CaptionBox> parse_boxes(std::string_view text, size_t caption_bytes,
                                    const std::string& place) {
  std::vector<CaptionBox> boxes;
  for (const std::string& one : split(trim(text), ' '))
    if (!one.empty()) boxes.push_back(parse_box(one, caption_bytes, place));
  return boxes;
}

FileRows<CaptionedImage> read_captions(const fs::path& path, const MediaTableOptions& options,
                                       const RowSink<CaptionedImage>& sink) {
  const MediaTable media(path, options, "data.images", "png/{}.png");
  const CsvTable& table = media.table();
  const CaptionColumns columns(media, options.roles);
  Gathering gathering(table);
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string cell(trim(table.cell(row, columns.image)));
    CaptionedImage image;
    for (const int64_t column : columns.captions)
      if (const std::string_view caption = trim(table.cell(row, column)); !caption.empty())
        image.captions.emplace_back(caption);
    if (cell.empty() || image.captions.empty()) {
      gathering.count_empty();
      continue;
    }
    image.image = media.file_of(cell);
    if (columns.boxes >= 0)
      image.boxes =
          parse_boxes(table.cell(row, columns.boxes), image.captions[0].size(), table.place(row));
    gathering.add(
        row, std::move(image),
        columns.split < 0 ? -1 : split_in_cell(table.cell(row, columns.split), table.place(row)));
  }
  return gathering.take(sink);
}

SplitRows<CaptionedImage> open_captions(const DataSource& source, const SplitOptions& split,
                                        MediaTableOptions options) {
  check_roles(source, {"image", "caption", "boxes", "split"});
  options.roles = source.roles;
  return read_splits<CaptionedImage>(
      source, split,
      {kMediaTableEndings,
       [options](const fs::path& path, const RowSink<CaptionedImage>& sink) {
         return read_captions(path, options, sink);
       },
       "pictures"});
}

}  // namespace fovea

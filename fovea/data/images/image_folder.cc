#include "fovea/data/images/image_folder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/names.h"
#include "fovea/data/class_folders.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/images/resize.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostBytes = int64_t{1} << 34;  // of all pictures of a split, in memory
constexpr size_t kLookedAt = 256;                 // pictures that decide size and colours
constexpr int kColourNoise = 24;                  // that JPEG leaves in a grey picture

struct ImageFile {
  fs::path path;
  std::string label, place;
};

bool is_picture_name(const fs::path& path) {
  const std::string ending = small_ending(path);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

bool is_other_picture_name(const fs::path& path) {
  const std::string ending = small_ending(path);
  for (const char* other : {".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif", ".svg"})
    if (ending == other) return true;
  return false;
}

bool has_colour(const Image& image) {
  for (size_t i = 0; i + 2 < image.pixels.size(); i += 3) {
    const auto [low, high] =
        std::minmax({image.pixels[i], image.pixels[i + 1], image.pixels[i + 2]});
    if (high - low > kColourNoise) return true;
  }
  return false;
}

/// What all pictures become, by some of them; what cannot be read says so later.
PictureShape choose_shape(const std::vector<ImageFile>& files, const ImageFileOptions& options,
                          Notes& notes) {
  const bool asks_colour = options.colours == "auto";
  PictureShape shape{options.colours == "grey" ? 1 : 3, options.side, options.side};
  bool colour = !asks_colour && shape.channels == 3, alike = true;
  std::vector<int64_t> longer;
  int64_t height = 0, width = 0;
  const size_t count = std::min(files.size(), kLookedAt);
  for (size_t i = 0; i < count; ++i) {
    try {
      const Image image = read_image(files[i * files.size() / count].path, options.reading(3));
      colour = colour || (asks_colour && has_colour(image));
      alike = alike && (longer.empty() || (image.height == height && image.width == width));
      height = image.height, width = image.width;
      longer.push_back(std::max(height, width));
    } catch (const Error&) {
    }
  }
  if (asks_colour) shape.channels = colour ? 3 : 1;
  if (longer.empty()) return {shape.channels, 1, 1};  // none can be read
  const auto middle = longer.begin() + std::ptrdiff_t(longer.size() / 2);
  std::nth_element(longer.begin(), middle, longer.end());
  const bool keeps = alike && std::max(height, width) <= ImageFileOptions::kLargestSide;
  if (options.side == 0) {
    shape.height = keeps ? height : std::min(*middle, ImageFileOptions::kLargestSide);
    shape.width = keeps ? width : shape.height;
  }
  if (!alike || height != shape.height || width != shape.width)
    notes.push_back(concat("pictures of ", alike ? concat(width, " x ", height) : "several sizes",
                           " become ", shape.width, " x ", shape.height, " pixels (data.image_size",
                           alike && height == width ? "" : ", data.fit=" + options.fit, ")"));
  return shape;
}

/// The pictures of one file or folder, all in one shape.
class ImageFileReader {
 public:
  explicit ImageFileReader(const ImageFileOptions& options)
      : options_(options), shape_(options.shape) {}

  /// `splits` are those of the files, or empty.
  FileRows<LabelledImage> read(const std::vector<ImageFile>& files,
                               const RowSink<LabelledImage>& sink,
                               const std::vector<Split>& splits = {}) {
    FileRows<LabelledImage> result{sink};
    if (files.empty()) return result;
    if (!shape_) shape_ = choose_shape(files, options_, result.notes);
    const auto count = int64_t(files.size());
    require(shape_->height * shape_->width <= kMostBytes / shape_->channels / count,
            ErrorKind::BadData, files.front().place, " and others: ", format_count(count),
            " pictures of ", shape_->height, " x ", shape_->width,
            " pixels do not fit into memory; set data.image_size to less");
    std::vector<LabelledImage> rows(files.size());
    std::vector<std::string> hashes(files.size());
    const std::vector<bool> bad = read_files(
        count,
        [&](int64_t i) {
          const ImageFile& file = files[size_t(i)];
          const ReadImageOptions reading = options_.reading(shape_->channels);
          const std::string bytes = read_small_file(file.path, reading.largest_file);
          const Image image = decode_image(bytes, file.path.string(), reading);
          rows[size_t(i)] = {tensor_of(fit_image(image, shape_->height, shape_->width, options_.fit,
                                                 options_.resample)),
                             file.label};
          ContentHash hash;
          hash.add(bytes);
          hashes[size_t(i)] = hash.text();
        },
        [&](int64_t i) { return files[size_t(i)].place; }, {}, options_.max_bad_share,
        result.notes);
    ContentHash hash;
    for (size_t i = 0; i < files.size(); ++i) {
      if (bad[i]) continue;
      hash.add(concat(files[i].label, " ", hashes[i], "\n"));
      result.add(std::move(rows[i]), splits.empty() ? std::nullopt : std::optional(splits[i]));
    }
    result.hash = hash.text();
    return result;
  }

 private:
  ImageFileOptions options_;
  std::optional<PictureShape> shape_;  // the first files decide
};

FileRows<LabelledImage> read_table_of_images(const fs::path& path, const DataSource& source,
                                             const ImageFileOptions& options,
                                             ImageFileReader& reader,
                                             const RowSink<LabelledImage>& sink) {
  const MediaTable media(path, {source.roles, options.images, "auto"}, "data.images", "png/{}.png");
  const CsvTable& table = media.table();
  const int64_t image = media.find("image", {"image", "file", "filename", "path", "picture"});
  const int64_t label = media.find(source.roles.contains("target") ? "target" : "label",
                                   {"label", "class", "category"});
  const auto needed = [&](int64_t column, const char* role) {
    require(column >= 0, ErrorKind::NotFound, table.path, ": there is no column '", role,
            "'; say which one it is: --columns ", role,
            "=NAME. The columns are: ", join(table.names));
  };
  needed(image, "image");
  needed(label, "label");
  const int64_t split = media.split_column();
  std::vector<ImageFile> files;
  std::vector<Split> splits;
  int64_t empty = 0;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string cell(trim(table.cell(row, image))), name(trim(table.cell(row, label)));
    empty += cell.empty() || name.empty();
    if (cell.empty() || name.empty()) continue;
    files.push_back({media.file_of(cell), name, table.place(row)});
    if (split >= 0) splits.push_back(split_in_cell(table.cell(row, split), table.place(row)));
  }
  FileRows<LabelledImage> rows = reader.read(files, sink, splits);
  require(rows.count > 0, ErrorKind::BadData, table.path, ": names no pictures with a label");
  if (empty > 0)
    rows.notes.push_back(concat(table.path, ": ", format_count(empty),
                                " rows without picture or label were left out"));
  return rows;
}

}  // namespace

ReadImageOptions ImageFileOptions::reading(int64_t channels) const {
  ReadImageOptions reading;
  reading.channels = channels;
  reading.largest_image = largest_image;
  return reading;
}

bool holds_image_folders(const fs::path& path) {
  return holds_class_folders(path, is_picture_name);
}

bool holds_image_table(const fs::path& path) {
  if (fs::is_directory(path)) {
    const SplitFiles files = find_split_files(path, kMediaTableEndings);
    return std::any_of(files.begin(), files.end(), [](const auto& file) { return file; });
  }
  const std::string ending = small_ending(without_gz(path));
  return std::find(kMediaTableEndings.begin(), kMediaTableEndings.end(), ending) !=
         kMediaTableEndings.end();
}

SplitRows<LabelledImage> read_image_folder(const DataSource& source, const SplitOptions& split,
                                           const ImageFileOptions& options) {
  require(holds_image_folders(source.path), ErrorKind::NotFound, source.path.string(),
          ": holds no pictures; expected CLASS/*.png or .jpg in it, or in train, val and test");
  ImageFileReader files(options);
  Reader<LabelledImage> reader;
  reader.keeps_rows = true;
  reader.read = [&](const fs::path& folder, const RowSink<LabelledImage>& sink) {
    std::vector<ImageFile> found;
    for (ClassFile& file : files_by_class(folder, is_picture_name))
      found.push_back({file.path, file.label, folder.string()});
    FileRows<LabelledImage> rows = files.read(found, sink);
    if (const auto others = files_by_class(folder, is_other_picture_name); !others.empty())
      rows.notes.push_back(concat(folder.string(), ": ", format_count(int64_t(others.size())),
                                  " pictures in other formats are left out, first ",
                                  others[0].path.string(), "; convert them to PNG or JPEG"));
    return rows;
  };
  reader.rows = "pictures";
  reader.find = [&](const fs::path& folder) { return find_class_folders(folder, source.whole); };
  reader.expected = "train/CLASS/*.png or .jpg";
  return read_splits(source, split, reader);
}

SplitRows<LabelledImage> read_image_table(const DataSource& source, const SplitOptions& split,
                                          const ImageFileOptions& options) {
  check_roles(source, {"image", "label", "target", "split"});
  ImageFileReader files(options);
  Reader<LabelledImage> reader;
  reader.endings = kMediaTableEndings;
  reader.keeps_rows = true;
  reader.read = [&](const fs::path& path, const RowSink<LabelledImage>& sink) {
    return read_table_of_images(path, source, options, files, sink);
  };
  reader.rows = "pictures";
  return read_splits(source, split, reader);
}

}  // namespace fovea

#include "fovea/data/images/image_folder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cctype>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/images/resize.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostBytes = int64_t{1} << 34;  // of all pictures of a split, in memory

struct ImageFile {
  fs::path path;
  std::string label;
};

bool is_picture_name(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = char(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

/// What lies in the folder, by name, without what is hidden.
std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder))
    if (!entry.path().filename().string().starts_with(".")) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<ImageFile> files_by_class(const fs::path& folder) {
  std::vector<ImageFile> files;
  for (const fs::path& label : sorted_entries(folder)) {
    if (!fs::is_directory(label)) continue;
    for (const fs::path& path : sorted_entries(label))
      if (fs::is_regular_file(path) && is_picture_name(path))
        files.push_back({path, label.filename().string()});
  }
  return files;
}

/// The folders called train, val and test.
SplitFiles split_folders(const fs::path& folder) {
  SplitFiles found;
  for (const fs::path& path : sorted_entries(folder)) {
    const int split = fs::is_directory(path) ? split_named(path.filename().string()) : -1;
    if (split < 0) continue;
    std::optional<fs::path>& place = found[size_t(split)];
    require(!place, ErrorKind::BadData, folder.string(), ": holds both ",
            place ? place->filename().string() : "", " and ", path.filename().string(),
            "; remove one");
    place = path;
  }
  return found;
}

bool has_splits(const SplitFiles& folders) {
  return std::any_of(folders.begin(), folders.end(), [](const auto& path) { return path; });
}

struct DecodedFile {
  Image image;
  std::string hash;
};

DecodedFile decode(const ImageFile& file, const ReadImageOptions& options) {
  require(int64_t(fs::file_size(file.path)) <= options.largest_file, ErrorKind::BadData,
          file.path.string(), ": has more than ", format_count(options.largest_file), " bytes");
  const std::string bytes = read_file(file.path);
  ContentHash hash;
  hash.add(bytes);
  return {decode_image(bytes, file.path.string(), options), hash.text()};
}

/// Height and width that all pictures are to have.
std::pair<int64_t, int64_t> size_of(const ImageFile& first, const ImageFolderOptions& options) {
  if (options.side > 0) return {options.side, options.side};
  const Image image = decode(first, options.reading).image;
  return {image.height, image.width};
}

FileRows<LabelledImage> read_classes(const fs::path& folder, const ImageFolderOptions& options) {
  const std::vector<ImageFile> files = files_by_class(folder);
  FileRows<LabelledImage> rows;
  if (files.empty()) return rows;
  const auto [height, width] = size_of(files.front(), options);
  const auto count = int64_t(files.size());
  require(height * width <= kMostBytes / options.reading.channels / count, ErrorKind::BadData,
          files.front().path.string(), " and others: ", format_count(count), " pictures of ",
          height, " x ", width, " pixels do not fit into memory; set data.image_size to less");
  rows.rows.resize(files.size());
  std::vector<std::string> hashes(files.size());
  run_parallel(count, [&](int64_t row) {
    const ImageFile& file = files[size_t(row)];
    DecodedFile decoded = decode(file, options.reading);
    Image& image = decoded.image;
    if (options.side > 0) image = resize(image, height, width);
    require(image.height == height && image.width == width, ErrorKind::BadData, file.path.string(),
            ": is ", image.height, " x ", image.width, " pixels, ",
            files.front().path.filename().string(), " is ", height, " x ", width,
            "; set data.image_size to make them alike");
    rows.rows[size_t(row)] = {tensor_of(image), file.label};
    hashes[size_t(row)] = decoded.hash;
  });
  ContentHash hash;
  for (size_t row = 0; row < files.size(); ++row)
    hash.add(concat(files[row].label, " ", hashes[row], "\n"));
  rows.hash = hash.text();
  return rows;
}

}  // namespace

bool holds_image_folders(const fs::path& path) {
  if (!fs::is_directory(path)) return false;
  const SplitFiles folders = split_folders(path);
  if (!has_splits(folders)) return !files_by_class(path).empty();
  return std::any_of(folders.begin(), folders.end(),
                     [](const auto& folder) { return folder && !files_by_class(*folder).empty(); });
}

SplitRows<LabelledImage> read_image_folder(const DataSource& source, const SplitOptions& split,
                                           const ImageFolderOptions& options) {
  require(holds_image_folders(source.path), ErrorKind::NotFound, source.path.string(),
          ": holds no pictures; expected CLASS/*.png or .jpg in it, or in train, val and test");
  Reader<LabelledImage> reader;
  reader.read = [&](const fs::path& folder) { return read_classes(folder, options); };
  reader.rows = "pictures";
  reader.find = [&](const fs::path& folder) {
    SplitFiles folders = split_folders(folder);
    if (!has_splits(folders)) folders[source.whole ? kTest : kTrain] = folder;
    return folders;
  };
  reader.expected = "train/CLASS/*.png or .jpg";
  return read_splits(source, split, reader);
}

}  // namespace fovea

#include "fovea/data/images/image_folder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/images/resize.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostBytes = int64_t{1} << 34;  // of all pictures of a part, in memory

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

/// The folders called train, val and test; empty where there are none.
std::array<fs::path, kSplitCount> split_folders(const fs::path& folder) {
  std::array<fs::path, kSplitCount> found;
  for (const fs::path& path : sorted_entries(folder)) {
    const int part = fs::is_directory(path) ? split_named(path.filename().string()) : -1;
    if (part < 0) continue;
    fs::path& place = found[size_t(part)];
    require(place.empty(), ErrorKind::BadData, folder.string(), ": holds both ",
            place.filename().string(), " and ", path.filename().string(), "; remove one");
    place = path;
  }
  return found;
}

bool has_parts(const std::array<fs::path, kSplitCount>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [](const fs::path& path) { return !path.empty(); });
}

struct Decoded {
  Image image;
  std::string hash;
};

Decoded decode(const ImageFile& file, const ReadImageOptions& options) {
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

LabelledImages read_files(const std::vector<ImageFile>& files, const ImageFolderOptions& options,
                          ContentHash& hash) {
  LabelledImages part;
  if (files.empty()) return part;
  const auto [height, width] = size_of(files.front(), options);
  const auto count = int64_t(files.size()), channels = options.reading.channels;
  require(height * width <= kMostBytes / channels / count, ErrorKind::BadData,
          files.front().path.string(), " and others: ", format_count(count), " pictures of ",
          height, " x ", width, " pixels do not fit into memory; set data.image_size to less");
  part.pixels = at::empty({count, channels, height, width}, at::kByte);
  std::vector<std::string> hashes(files.size());
  run_parallel(count, [&](int64_t row) {
    const ImageFile& file = files[size_t(row)];
    Decoded decoded = decode(file, options.reading);
    Image& image = decoded.image;
    if (options.side > 0) image = resize(image, height, width);
    require(image.height == height && image.width == width, ErrorKind::BadData, file.path.string(),
            ": is ", image.height, " x ", image.width, " pixels, ",
            files.front().path.filename().string(), " is ", height, " x ", width,
            "; set data.image_size to make them alike");
    const at::Tensor pixels = tensor_of(image).contiguous();  // [C, H, W]
    std::memcpy(part.pixels.data_ptr<uint8_t>() + row * pixels.numel(), pixels.data_ptr<uint8_t>(),
                size_t(pixels.numel()));
    hashes[size_t(row)] = decoded.hash;
  });
  for (size_t row = 0; row < files.size(); ++row) {
    part.labels.push_back(files[row].label);
    hash.add(concat(files[row].label, " ", hashes[row], "\n"));
  }
  return part;
}

}  // namespace

bool holds_image_folders(const fs::path& path) {
  if (!fs::is_directory(path)) return false;
  const std::array<fs::path, kSplitCount> folders = split_folders(path);
  if (!has_parts(folders)) return !files_by_class(path).empty();
  return std::any_of(folders.begin(), folders.end(), [](const fs::path& folder) {
    return !folder.empty() && !files_by_class(folder).empty();
  });
}

SplitImages read_image_folder(const DataSource& source, const ImageFolderOptions& options) {
  std::array<fs::path, kSplitCount> folders = split_folders(source.path);
  if (!has_parts(folders)) folders[source.whole ? kTest : kTrain] = source.path;
  SplitImages result;
  ContentHash hash;
  int64_t pictures = 0;
  for (size_t part = 0; part < kSplitCount; ++part) {
    if (folders[part].empty()) continue;
    result.parts[part] = read_files(files_by_class(folders[part]), options, hash);
    pictures += result.parts[part].size();
  }
  require(pictures > 0, ErrorKind::NotFound, source.path.string(),
          ": holds no pictures; expected CLASS/*.png or .jpg in it, or in train, val and test");
  result.hash = hash.text();
  return result;
}

}  // namespace fovea

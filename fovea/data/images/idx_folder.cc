#include "fovea/data/images/idx_folder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/formats/idx.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

/// The name with one word in the place of another; nothing where that does not occur.
std::optional<std::string> replaced(const std::string& name, const std::string& word,
                                    const std::string& by) {
  const size_t place = name.find(word);
  if (place == std::string::npos) return {};
  return name.substr(0, place) + by + name.substr(place + word.size());
}

bool is_images_name(const std::string& name) {
  return name.find("images") != std::string::npos && name.find("idx") != std::string::npos;
}

/// The split that a word of the name says, or -1.
int split_named_in(const std::string& name) {
  std::string word;
  for (const char c : name + ".") {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += c;
      continue;
    }
    if (word == "t10k") return kTest;
    if (const int split = split_named(word); split >= 0) return split;
    word.clear();
  }
  return -1;
}

/// The labels' file beside that of the pictures, packed or not.
fs::path labels_beside(const fs::path& images) {
  const std::string name = images.filename().string();
  const std::string with_labels = replaced(name, "images", "labels").value_or(name);
  const std::string expected = replaced(with_labels, "idx3", "idx1").value_or(with_labels);
  std::string other = expected;  // the same, packed or not
  if (!other.ends_with(".gz"))
    other += ".gz";
  else
    other.resize(other.size() - 3);
  for (const std::string& candidate : {expected, other})
    if (const fs::path path = images.parent_path() / candidate; path != images && fs::exists(path))
      return path;
  fail(ErrorKind::NotFound, images.string(), ": its labels are missing; expected ", expected,
       " beside it");
}

at::Tensor pixels_of(const IdxFile& file, const fs::path& path) {
  const at::Tensor& values = file.values;
  require(values.scalar_type() == at::kByte && (values.dim() == 3 || values.dim() == 4),
          ErrorKind::BadData, path.string(), ": holds ", values.scalar_type(), " numbers of shape ",
          values.sizes(), "; pictures are unsigned bytes [count, rows, columns]");
  require(values.size(1) > 0 && values.size(2) > 0, ErrorKind::BadData, path.string(),
          ": its pictures are ", values.size(1), " x ", values.size(2), " pixels");
  if (values.dim() == 3) return values.unsqueeze(1);  // [N, 1, H, W]
  require(values.size(3) == 1 || values.size(3) == 3, ErrorKind::BadData, path.string(),
          ": its pictures have ", values.size(3), " channels; 1 and 3 are known");
  return values.permute({0, 3, 1, 2}).contiguous();  // [N, C, H, W]
}

std::vector<std::string> labels_of(const IdxFile& file, int64_t pictures, const fs::path& path) {
  const at::Tensor& values = file.values;
  require(values.dim() == 1 && !values.is_floating_point(), ErrorKind::BadData, path.string(),
          ": holds ", values.scalar_type(), " numbers of shape ", values.sizes(),
          "; labels are whole numbers [count]");
  require(values.size(0) == pictures, ErrorKind::BadData, path.string(), ": has ",
          format_count(values.size(0)), " labels for ", format_count(pictures), " pictures");
  const at::Tensor numbers = values.to(at::kLong);
  std::vector<std::string> labels;
  for (int64_t row = 0; row < pictures; ++row)
    labels.push_back(std::to_string(numbers.data_ptr<int64_t>()[row]));
  return labels;
}

FileRows<LabelledImage> read_pair(const fs::path& images, const RowSink<LabelledImage>& sink) {
  const fs::path labels = labels_beside(images);
  const IdxFile pictures = read_idx(images), classes = read_idx(labels);
  const at::Tensor pixels = pixels_of(pictures, images);  // [N, C, H, W]
  const std::vector<std::string> names = labels_of(classes, pixels.size(0), labels);
  FileRows<LabelledImage> rows{sink};
  for (size_t row = 0; row < names.size(); ++row) rows.add({pixels[int64_t(row)], names[row]});
  ContentHash hash;
  hash.add(concat(pictures.hash, " ", classes.hash, "\n"));
  rows.hash = hash.text();
  return rows;
}

/// The files of pictures, in the order of their names.
std::vector<fs::path> images_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && is_images_name(entry.path().filename().string()))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

SplitFiles find_idx_files(const fs::path& folder) {
  SplitFiles files;
  for (const fs::path& path : images_in(folder)) {
    const std::string name = path.filename().string();
    const int split = split_named_in(name);
    require(
        split >= 0, ErrorKind::BadData, path.string(),
        ": its name does not say which split it is; expected train, val or test (or t10k) in it");
    std::optional<fs::path>& file = files[size_t(split)];
    require(!file, ErrorKind::BadData, folder.string(), ": holds both ",
            file ? file->filename().string() : "", " and ", name,
            "; remove one, or name the file that is meant");
    file = path;
  }
  return files;
}

}  // namespace

bool holds_idx_images(const fs::path& path) {
  return fs::is_directory(path) ? !images_in(path).empty()
                                : is_images_name(path.filename().string());
}

SplitRows<LabelledImage> read_idx_images(const DataSource& source, const SplitOptions& split) {
  Reader<LabelledImage> reader;
  reader.keeps_rows = true;
  reader.read = read_pair;
  reader.rows = "pictures";
  reader.find = find_idx_files;
  reader.expected = "train-images-idx3-ubyte and its labels";
  return read_splits(source, split, reader);
}

}  // namespace fovea

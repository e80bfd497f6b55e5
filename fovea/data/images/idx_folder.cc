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

/// The part that a word of the name says, or -1.
int part_named_in(const std::string& name) {
  std::string word;
  for (const char c : name + ".") {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += c;
      continue;
    }
    if (word == "t10k") return kTest;
    if (const int part = split_named(word); part >= 0) return part;
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

LabelledImages read_pair(const fs::path& images, ContentHash& hash) {
  const fs::path labels = labels_beside(images);
  const IdxFile pictures = read_idx(images), classes = read_idx(labels);
  LabelledImages part;
  part.pixels = pixels_of(pictures, images);
  part.labels = labels_of(classes, part.pixels.size(0), labels);
  hash.add(concat(pictures.hash, " ", classes.hash, "\n"));
  return part;
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

}  // namespace

bool holds_idx_images(const fs::path& path) {
  return fs::is_directory(path) ? !images_in(path).empty()
                                : is_images_name(path.filename().string());
}

SplitImages read_idx_images(const DataSource& source) {
  SplitImages result;
  ContentHash hash;
  if (!fs::is_directory(source.path)) {
    result.parts[source.whole ? kTest : kTrain] = read_pair(source.path, hash);
    result.hash = hash.text();
    return result;
  }
  std::array<fs::path, kSplitCount> files;
  for (const fs::path& path : images_in(source.path)) {
    const std::string name = path.filename().string();
    const int part = part_named_in(name);
    require(
        part >= 0, ErrorKind::BadData, path.string(),
        ": its name does not say which part it is; expected train, val or test (or t10k) in it");
    require(files[size_t(part)].empty(), ErrorKind::BadData, source.path.string(), ": holds both ",
            files[size_t(part)].filename().string(), " and ", name,
            "; remove one, or name the file that is meant");
    files[size_t(part)] = path;
  }
  for (size_t part = 0; part < kSplitCount; ++part)
    if (!files[part].empty()) result.parts[part] = read_pair(files[part], hash);
  result.hash = hash.text();
  return result;
}

}  // namespace fovea

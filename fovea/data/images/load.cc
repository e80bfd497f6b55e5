#include "fovea/data/images/load.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/formats/idx.h"
#include "fovea/data/formats/text_encoding.h"
#include "fovea/data/images/idx_folder.h"
#include "fovea/data/images/resize.h"
#include "fovea/data/labels.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTask = "images";
constexpr const char* kObjectsAreBright = "bright";  // truth of dataset.json
constexpr size_t kMostClasses = 10000;
constexpr LabelWords kWords{"picture", "class", "NAME"};

/// Numbers by value, else by name.
std::vector<std::string> in_order(const std::set<std::string>& labels) {
  std::vector<std::string> classes(labels.begin(), labels.end());
  const auto value = [](const std::string& label) {
    int64_t number = 0;
    return parse_integer(label, number) ? std::optional<int64_t>(number) : std::nullopt;
  };
  if (std::all_of(classes.begin(), classes.end(), [&](auto& label) { return value(label); }))
    std::sort(classes.begin(), classes.end(),
              [&](auto& left, auto& right) { return *value(left) < *value(right); });
  return classes;
}

SplitRows<LabelledImage> read_images(const DataSource& source, const ImageDataOptions& options,
                                     const ImageCoding& coding, uint64_t seed) {
  require(fs::exists(source.path), ErrorKind::NotFound, source.path.string(),
          ": no such file or folder");
  const SplitOptions split{kTask, options.validation_fraction, seed, !coding.fitted()};
  ImageFileOptions files = options.files;
  if (coding.fitted()) files.shape = coding.pictures;
  const bool is_table = holds_image_table(source.path);
  if (holds_image_folders(source.path) || !is_table) check_roles(source, {});
  if (holds_idx_images(source.path)) return read_idx_images(source, split);
  if (holds_image_folders(source.path)) return read_image_folder(source, split, files);
  if (is_table) return read_image_table(source, split, files);
  refuse_foreign_file(source.path);
  fail(ErrorKind::NotFound, source.path.string(),
       ": holds neither idx files (train-images-idx3-ubyte, perhaps with .gz, and its labels) nor "
       "pictures by class (CLASS/*.png or .jpg), and is no table of their paths (columns image "
       "and label)");
}

/// Whether dataset.json says that objects are what is not dark.
bool says_objects_are_bright(const fs::path& folder) {
  const fs::path path = folder / "dataset.json";
  if (!fs::is_directory(folder) || !fs::exists(path)) return false;
  const Json description = read_description(path, kTask);
  if (!description.contains("truth")) return false;
  require(description["truth"] == Json{{"objects", kObjectsAreBright}}, ErrorKind::BadData,
          path.string(), ": \"truth\" must be {\"objects\": \"", kObjectsAreBright, "\"}");
  return true;
}

void fit_classes(const SplitRows<LabelledImage>& rows, const ImageDataOptions& options,
                 ImageCoding& coding, Notes& notes) {
  std::set<std::string> all, trained;
  rows.for_each([&](const LabelledImage& row, Split split) {
    all.insert(row.label);
    if (split == kTrain) trained.insert(row.label);
    require(all.size() <= kMostClasses, ErrorKind::BadData, "the pictures have more than ",
            format_count(kMostClasses), " different classes, such as '", row.label, "'");
  });
  const at::Tensor first = rows.train[0].pixels;
  coding.classes = in_order(all);
  coding.pictures = {first.size(0), first.size(1), first.size(2)};
  coding.shape = shape_of_views(coding.pictures, options.views);
  notes.push_back(concat(coding.classes.size(), " classes; the network sees ", coding.shape.height,
                         " x ", coding.shape.width, " pixels, ",
                         coding.shape.channels == 1 ? "grey" : "in colour"));
  for (const std::string& label : all)
    if (!trained.contains(label))
      notes.push_back(concat("no training picture has the class '", label, "'"));
}

/// uint8 [N, channels, height, width]
at::Tensor stack_pixels(const std::vector<LabelledImage>& rows) {
  std::vector<at::Tensor> pixels;
  for (const LabelledImage& row : rows) pixels.push_back(row.pixels);
  return at::stack(pixels);
}

}  // namespace

void ImageDataOptions::describe(OptionList& list) {
  generator.describe(list);
  views.describe(list);
  list.add("image_size", files.side,
           concat("pixels of a side that picture files are brought to; 0: their own size where it "
                  "is one of at most ",
                  ImageFileOptions::kLargestSide, ", else a square of at most that"))
      .within(0, 4096);
  list.add("fit", files.fit,
           "picture files of another shape: stretched, cut, or whole with a border")
      .choices(fit_names());
  list.add("resample", files.resample,
           "how picture files change their size: area, or as PIL does; networks of others were "
           "mostly trained with bilinear or bicubic")
      .choices(filter_names());
  list.add("colours", files.colours, "of picture files; auto: colour where one has any")
      .choices({"auto", "grey", "colour"});
  list.add("images", files.images,
           "where a table's picture lies, {} being its cell: png/{}.png; empty: the cell is the "
           "path");
  list.add("largest_image", files.largest_image, "pictures of more pixels are refused").at_least(1);
  describe_bad_share(list, files.max_bad_share);
  describe_share(list, "validation_fraction", validation_fraction,
                 "share of the training pictures held out when there are none for validation");
}

Json ImageCoding::to_json() const {
  return {{"classes", classes},
          {"channels", shape.channels},
          {"height", shape.height},
          {"width", shape.width},
          {"picture_height", pictures.height},
          {"picture_width", pictures.width}};
}

ImageCoding ImageCoding::from_json(const Json& json, const std::string& where) {
  ImageCoding coding;
  const Field root = Field::root(json, where);
  coding.classes = root.at("classes").texts();
  constexpr int64_t kLongestSide = 1 << 16, kMostPixels = 1 << 26;
  coding.shape = {root.at("channels").integer(1, 3), root.at("height").integer(1, kLongestSide),
                  root.at("width").integer(1, kLongestSide)};
  const PictureShape& shape = coding.shape;
  const auto own = [&](const char* key, int64_t seen) {
    const auto found = root.find(key);
    return found ? found->integer(1, seen) : seen;
  };
  coding.pictures = {shape.channels, own("picture_height", shape.height),
                     own("picture_width", shape.width)};
  require(
      !coding.classes.empty() && shape.channels != 2 && shape.height * shape.width <= kMostPixels,
      ErrorKind::BadData, where, ": ", coding.classes.size(), " classes of pictures with ",
      shape.channels, " x ", shape.height, " x ", shape.width,
      " numbers (channels, height, width) cannot be");
  return coding;
}

Splits load_images(const DataSource& source, const ImageDataOptions& options, ImageCoding& coding,
                   const MakePictureEncoder& encoder, uint64_t seed) {
  const bool synthetic = source.path.empty();
  if (synthetic) check_roles(source, {});
  SplitRows<LabelledImage> images =
      synthetic ? draw_images(options.generator) : read_images(source, options, coding, seed);
  const bool knows_objects =
      synthetic || !options.views.is_plain() || says_objects_are_bright(source.path);
  const Random random = Random(seed).split("views");
  const auto fit = [&](const SplitRows<LabelledImage>& rows, Notes& notes) {
    if (!coding.fitted()) fit_classes(rows, options, coding, notes);
  };
  return encode_splits(images, fit, [&](const Rows<LabelledImage>& rows, Split split, Notes&) {
    std::vector<int64_t> targets;
    for (const LabelledImage& row : rows)
      targets.push_back(label_index(row.label, coding.classes, split, kWords));
    return std::make_shared<ImageDataset>(stack_pixels(rows.kept()), std::move(targets),
                                          options.views, encoder(coding.shape),
                                          random.split(kSplitNames[split]), knows_objects);
  });
}

void write_image_data(const fs::path& folder, const ImageDataOptions& options) {
  const SplitRows<LabelledImage> images = draw_images(options.generator);
  make_folder(folder);
  for (int split = 0; split < kSplitCount; ++split) {
    const std::vector<LabelledImage>& own = images[split].kept();
    if (own.empty()) continue;
    at::Tensor labels = at::empty({int64_t(own.size())}, at::kByte);
    for (size_t row = 0; row < own.size(); ++row)
      labels.data_ptr<uint8_t>()[row] = uint8_t(own[row].label[0] - '0');
    write_file(folder / concat(kSplitFileNames[split], "-images-idx3-ubyte"),
               idx_bytes(stack_pixels(own).squeeze(1)));
    write_file(folder / concat(kSplitFileNames[split], "-labels-idx1-ubyte"), idx_bytes(labels));
  }
  write_description(folder, kTask, options_json(options.generator),
                    {{"truth", {{"objects", kObjectsAreBright}}}});
}

}  // namespace fovea

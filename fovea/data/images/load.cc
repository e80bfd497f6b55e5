#include "fovea/data/images/load.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/formats/idx.h"
#include "fovea/data/images/idx_folder.h"
#include "fovea/data/images/image_folder.h"
#include "fovea/data/labels.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTask = "glimpse";
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

PictureShape shape_of(const LabelledImages& images) {
  return {images.pixels.size(1), images.pixels.size(2), images.pixels.size(3)};
}

/// Validation rows out of the training rows, when there are none.
void hold_out(SplitImages& images, double fraction, uint64_t seed) {
  LabelledImages &train = images.parts[kTrain], &validation = images.parts[kValidation];
  if (train.size() < 2 || validation.size() > 0 || fraction == 0) return;
  const RowSplit rows = split_rows(train.size(), fraction, seed);
  const auto take = [&](const std::vector<int64_t>& chosen) {
    LabelledImages some;
    some.pixels = train.pixels.index_select(0, at::tensor(chosen, at::kLong));
    for (const int64_t row : chosen) some.labels.push_back(train.labels[size_t(row)]);
    return some;
  };
  images.notes.push_back(concat("validation: ", format_count(int64_t(rows.validation.size())),
                                " of the ", format_count(train.size()),
                                " training pictures, chosen with seed ", seed));
  validation = take(rows.validation);
  train = take(rows.train);
}

SplitImages read_parts(const DataSource& source, const GlimpseDataOptions& options) {
  require(fs::exists(source.path), ErrorKind::NotFound, source.path.string(),
          ": no such file or folder");
  if (holds_idx_images(source.path)) return read_idx_images(source);
  if (holds_image_folders(source.path)) {
    ImageFolderOptions how;
    how.side = options.image_size;
    how.reading.channels = options.channels();
    how.reading.largest_image = options.largest_image;
    return read_image_folder(source, how);
  }
  fail(ErrorKind::NotFound, source.path.string(),
       ": holds neither idx files (train-images-idx3-ubyte, perhaps with .gz, and its labels) nor "
       "pictures by class (CLASS/*.png or .jpg)");
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

void fit(const SplitImages& images, const GlimpseDataOptions& options, GlimpseCoding& coding,
         std::vector<std::string>& notes) {
  std::set<std::string> all;
  for (int part = 0; part < kSplitCount; ++part)
    for (const std::string& label : images.parts[size_t(part)].labels) {
      all.insert(label);
      require(all.size() <= kMostClasses, ErrorKind::BadData, "the pictures have more than ",
              format_count(kMostClasses), " different classes, such as '", label, "'");
    }
  const LabelledImages& train = images.parts[kTrain];
  const std::set<std::string> trained(train.labels.begin(), train.labels.end());
  coding.classes = in_order(all);
  coding.shape = shape_of_views(shape_of(train), options.views);
  notes.push_back(concat(coding.classes.size(), " classes; the network sees ", coding.shape.height,
                         " x ", coding.shape.width, " pixels, ",
                         coding.shape.channels == 1 ? "grey" : "in colour"));
  for (const std::string& label : all)
    if (!trained.contains(label))
      notes.push_back(concat("no training picture has the class '", label, "'"));
}

std::vector<int64_t> targets_of(const LabelledImages& images, const GlimpseCoding& coding,
                                int part) {
  std::vector<int64_t> targets;
  for (const std::string& label : images.labels)
    targets.push_back(number_of(label, coding.classes, part, kWords));
  return targets;
}

}  // namespace

void GlimpseDataOptions::describe(OptionList& list) {
  generator.describe(list);
  views.describe(list);
  list.add("image_size", image_size,
           "pictures of a folder are resized to so many pixels in each direction; 0: they all have "
           "one size")
      .at_least(0)
      .at_most(4096);
  list.add("colours", colours, "what is read of the pictures of a folder")
      .choices({"grey", "colour"});
  list.add("largest_image", largest_image, "pictures of more pixels are refused").at_least(1);
  list.add("validation_fraction", validation_fraction,
           "share of the training pictures held out when there are none for validation")
      .at_least(0)
      .below(1);
}

Json GlimpseCoding::to_json() const {
  return {{"classes", classes},
          {"channels", shape.channels},
          {"height", shape.height},
          {"width", shape.width}};
}

GlimpseCoding GlimpseCoding::from_json(const Json& json, const std::string& where) {
  GlimpseCoding coding;
  const Field root = Field::root(json, where);
  coding.classes = root.at("classes").texts();
  constexpr int64_t kLongestSide = 1 << 16, kMostPixels = 1 << 26;
  coding.shape = {root.at("channels").integer(1, 3), root.at("height").integer(1, kLongestSide),
                  root.at("width").integer(1, kLongestSide)};
  const PictureShape& shape = coding.shape;
  require(
      !coding.classes.empty() && shape.channels != 2 && shape.height * shape.width <= kMostPixels,
      ErrorKind::BadData, where, ": ", coding.classes.size(), " classes of pictures with ",
      shape.channels, " x ", shape.height, " x ", shape.width,
      " numbers (channels, height, width) cannot be");
  return coding;
}

Splits load_glimpses(const DataSource& source, const GlimpseDataOptions& options,
                     GlimpseCoding& coding, int64_t glimpses, uint64_t seed) {
  check_roles(source, {});
  const bool built_in = source.path.empty();
  SplitImages images = built_in ? draw_digits(options.generator) : read_parts(source, options);
  if (built_in) images.hash = hash_of_built_in(kTask, options_json(options.generator));
  if (!built_in && !source.whole) hold_out(images, options.validation_fraction, seed);
  Splits splits;
  splits.hash = images.hash;
  splits.notes = images.notes;
  if (!coding.fitted()) {
    require(images.parts[kTrain].size() > 0, ErrorKind::BadData, source.path.string(),
            ": there are no pictures to train on");
    fit(images, options, coding, splits.notes);
  }
  const bool knows_objects =
      built_in || !options.views.is_plain() || says_objects_are_bright(source.path);
  const Random random = Random(seed).split("views");
  const auto encode = [&](int part) -> std::shared_ptr<Dataset> {
    LabelledImages& own = images.parts[size_t(part)];
    if (own.size() == 0) return nullptr;
    std::vector<int64_t> targets = targets_of(own, coding, part);
    return std::make_shared<GlimpseDataset>(std::move(own), std::move(targets), options.views,
                                            PictureEncoder{coding.shape, glimpses},
                                            random.split(kSplitNames[part]), knows_objects);
  };
  splits.train = encode(kTrain);
  splits.validation = encode(kValidation);
  splits.test = encode(kTest);
  return splits;
}

void write_glimpse_data(const fs::path& folder, const GlimpseDataOptions& options) {
  const SplitImages images = draw_digits(options.generator);
  make_folder(folder);
  constexpr const char* kNames[kSplitCount] = {"train", "val", "test"};
  for (size_t part = 0; part < kSplitCount; ++part) {
    const LabelledImages& own = images.parts[part];
    if (own.size() == 0) continue;
    at::Tensor labels = at::empty({own.size()}, at::kByte);
    for (int64_t row = 0; row < own.size(); ++row)
      labels.data_ptr<uint8_t>()[row] = uint8_t(own.labels[size_t(row)][0] - '0');
    write_file(folder / concat(kNames[part], "-images-idx3-ubyte"),
               idx_bytes(own.pixels.squeeze(1)));
    write_file(folder / concat(kNames[part], "-labels-idx1-ubyte"), idx_bytes(labels));
  }
  write_description(folder, kTask, options_json(options.generator),
                    {{"truth", {{"objects", kObjectsAreBright}}}});
}

}  // namespace fovea

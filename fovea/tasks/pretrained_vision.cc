#include "fovea/tasks/pretrained_vision.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/base/text.h"
#include "fovea/models/vision_names.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/hugging_face_folder.h"
#include "fovea/tasks/take_sizes.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"
#include "fovea/training/run_folder.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kLongestSideOfPictures = 4096;
const std::string kHead = "output.";
const char* const kPreprocessor = "preprocessor_config.json";
const char* const kCodingOfRun = "pictures.json";

/// A side, or [height, width].
PictureShape shape_in(const Field& field, int64_t channels) {
  if (field.value().is_array()) {
    std::vector<int64_t> sides;
    field.each(
        2, [&](const Field& side) { sides.push_back(side.integer(1, kLongestSideOfPictures)); });
    return {channels, sides[0], sides[1]};
  }
  const int64_t side = field.integer(1, kLongestSideOfPictures);
  return {channels, side, side};
}

/// Numbers of channels as the text of an option.
std::string channel_numbers(const Field& field, int64_t channels) {
  std::vector<std::string> texts;
  for (const double number : field.numbers(size_t(channels))) texts.push_back(format_exact(number));
  return join(texts, ",");
}

bool asks_for(const Field& config, const char* key, bool otherwise) {
  const auto found = config.find(key);
  return found && !found->value().is_null() ? found->mark() : otherwise;
}

/// PIL's number of a filter.
std::string filter_of(const Field& config) {
  constexpr const char* kNames[] = {"nearest", "lanczos", "bilinear", "bicubic"};
  const auto found = config.find("resample");
  if (!found || found->value().is_null()) return "bilinear";
  const int64_t number = found->integer(0, 5);
  require(number < 4, ErrorKind::Unsupported, found->place(), ": the filter ", number,
          " of PIL is not read; expected 0 (nearest), 1 (lanczos), 2 (bilinear) or 3 (bicubic)");
  return kNames[number];
}

/// The size that pictures are brought to: {"height", "width"}, or {"shortest_edge"} and a crop.
void read_size(const Field& config, PretrainedVision& start) {
  const PictureShape& wanted = start.coding.shape;
  const auto size = config.find("size");
  if (!size || size->value().is_null()) return;
  const auto check = [&](const Field& field, int64_t height, int64_t width) {
    require(height == wanted.height && width == wanted.width, ErrorKind::Unsupported, field.place(),
            ": pictures of ", height, " x ", width, " for a network of ", wanted.height, " x ",
            wanted.width, " are not read");
  };
  const bool named = size->value().is_object();
  if (named && size->find("shortest_edge")) {
    const int64_t edge = size->at("shortest_edge").integer(1, kLongestSideOfPictures);
    check(*size, edge, edge);
    require(asks_for(config, "do_center_crop", false), ErrorKind::Unsupported, size->place(),
            ": shortest_edge without do_center_crop is not read");
    start.fit = "crop";
  } else if (named) {
    check(*size, size->at("height").integer(1, kLongestSideOfPictures),
          size->at("width").integer(1, kLongestSideOfPictures));
  } else {
    const PictureShape square = shape_in(*size, wanted.channels);
    check(*size, square.height, square.width);
  }
}

void read_preprocessor(const fs::path& path, PretrainedVision& start) {
  constexpr double kOf255 = 1.0 / 255, kTolerance = 1e-6;
  const Json json = read_json_file(path);
  const Field config = Field::root(json, path.string());
  const int64_t channels = start.coding.shape.channels;
  start.resample = filter_of(config);
  read_size(config, start);
  const auto factor = config.find("rescale_factor");
  require(asks_for(config, "do_rescale", true) && asks_for(config, "do_resize", true) &&
              (!factor || std::abs(factor->finite() - kOf255) < kTolerance),
          ErrorKind::Unsupported, path.string(),
          ": only pictures that are resized, and whose pixels become 0 to 1, are read");
  if (!asks_for(config, "do_normalize", true)) {
    start.options.mean = "0", start.options.deviation = "1";
    return;
  }
  if (const auto mean = config.find("image_mean"))
    start.options.mean = channel_numbers(*mean, channels);
  if (const auto deviation = config.find("image_std"))
    start.options.deviation = channel_numbers(*deviation, channels);
}

VisionTransformerOptions options_in(const HuggingFaceFolder& folder) {
  folder.choice("hidden_act", {"gelu"});
  folder.choice("qkv_bias", {"true"});
  VisionTransformerOptions options;
  OptionList list;
  options.describe(list);
  list.merge({{"patch", folder.size("patch_size")},
              {"convolutions", 0},
              {"layers", folder.size("num_hidden_layers")},
              {"hidden", folder.size("hidden_size")},
              {"heads", folder.size("num_attention_heads")},
              {"feed_forward", folder.size("intermediate_size")},
              {"dropout", folder.number("hidden_dropout_prob", 0)},
              {"attention_dropout", folder.number("attention_probs_dropout_prob", 0)},
              {"epsilon", folder.number("layer_norm_eps", 1e-12)}},
             folder.where());
  require(options.hidden % options.heads == 0, ErrorKind::BadData, folder.where(),
          ": num_attention_heads (", options.heads, ") does not divide hidden_size (",
          options.hidden, ")");
  return options;
}

/// The weights as VisionTransformer names them; "vit." in front is left out.
void read_vision_weights(const HuggingFaceFolder& folder, bool has_head, PretrainedVision& start) {
  WeightMap theirs;
  for (const auto& [name, tensor] : folder.weights())
    theirs[name.starts_with("vit.") ? name.substr(4) : name] = tensor;
  const int64_t channels = start.coding.shape.channels;
  std::vector<WeightNames> names =
      vision_encoder_names(start.options, channels, start.grid.rows * start.grid.columns);
  if (has_head) {
    const auto head = vision_head_names(start.options.hidden, int64_t(start.coding.classes.size()));
    names.insert(names.end(), head.begin(), head.end());
  }
  const WeightShapes wanted = shapes_of(names);
  WeightProblems problems;
  problems.check(wanted, theirs);
  for (const auto& [name, tensor] : theirs) {
    if (wanted.contains(name)) continue;
    const bool ours = name.starts_with("embeddings.") || name.starts_with("encoder.");
    (ours ? problems.unknown : problems.unused).push_back(name);
  }
  problems.report(folder.path().string());
  if (!problems.unused.empty())
    start.notes.push_back("not used of the weights: " + join(problems.unused));
  start.weights = from_hugging_face(names, theirs);
}

PretrainedVision read_vision_folder(const fs::path& path) {
  const HuggingFaceFolder folder(path);
  const std::string type = folder.model_type(), name = folder.architecture();
  const bool has_head = name == "ViTForImageClassification";
  require(type == "vit" && (has_head || name == "ViTModel"), ErrorKind::Unsupported, folder.where(),
          ": model_type is ", type.empty() ? "none" : type, " and the architecture ",
          name.empty() ? "none" : name,
          "; of networks for pictures ViTForImageClassification and ViTModel are read");
  PretrainedVision start;
  start.fit = "stretch";
  start.resample = "bilinear";
  start.options = options_in(folder);
  const int64_t channels = folder.config().integer_or("num_channels", 3, 1, 3);
  require(channels != 2, ErrorKind::Unsupported, folder.where(), ": pictures of 2 channels");
  start.coding.shape = shape_in(folder.config().at("image_size"), channels);
  start.coding.pictures = start.coding.shape;
  if (has_head) start.coding.classes = folder.labels();
  const PictureShape& shape = start.coding.shape;
  require(shape.height % start.options.patch == 0 && shape.width % start.options.patch == 0,
          ErrorKind::BadData, folder.where(), ": patch_size (", start.options.patch,
          ") does not divide image_size (", shape.height, " x ", shape.width, ")");
  start.grid = patch_grid(start.options, shape.height, shape.width);
  if (fs::exists(path / kPreprocessor)) read_preprocessor(path / kPreprocessor, start);
  read_vision_weights(folder, has_head, start);
  return start;
}

PretrainedVision read_vision_run(const fs::path& path) {
  const RunFolder folder(path);
  const Json config = folder.read_config();
  folder.check_assets();
  const Json model = config.value("model", Json::object());
  require(config.value("task", "") == "images" && model.value("name", "") == "vit",
          ErrorKind::InvalidArgument, path.string(),
          ": this run has no vision transformer; runs of images with model.name=vit have one, and "
          "Hugging Face folders of ViT");
  PretrainedVision start;
  start.weights = read_weights(folder);
  OptionList list;
  start.options.describe(list);
  list.merge(model, folder.config().string());
  start.coding = read_asset_as<ImageCoding>(folder, kCodingOfRun);
  const Json data = config.value("data", Json::object());
  start.fit = data.value("fit", "letterbox");
  start.resample = data.value("resample", "area");
  start.grid = patch_grid(start.options, start.coding.shape.height, start.coding.shape.width);
  return start;
}

}  // namespace

PretrainedVision read_pretrained_vision(const fs::path& run_or_folder) {
  return is_hugging_face(run_or_folder) ? read_vision_folder(run_or_folder)
                                        : read_vision_run(run_or_folder);
}

void take_sizes(VisionTransformerOptions& options, const PretrainedVision& start) {
  const VisionTransformerOptions& found = start.options;
  SizesOfStart sizes(options, found);
  sizes.take("layers", &VisionTransformerOptions::layers);
  sizes.take("hidden", &VisionTransformerOptions::hidden);
  sizes.take("heads", &VisionTransformerOptions::heads);
  sizes.take("feed_forward", &VisionTransformerOptions::feed_forward);
  sizes.take("convolutions", &VisionTransformerOptions::convolutions);
  sizes.compare("patch", options.patch, VisionTransformerOptions().patch, start.grid.patch);
  sizes.check("encoder");
  sizes.take_pruned_heads();
  options.patch = start.grid.patch;
  options.epsilon = found.epsilon;
  options.mean = found.mean;
  options.deviation = found.deviation;
}

void take_weights(VisionTransformer& model, const PretrainedVision& start, bool with_head) {
  torch::NoGradGuard no_gradients;
  const PatchEmbeddingOptions& grid = model.patches().options();
  std::map<std::string, at::Tensor> own = state_of(model);
  for (const auto& [name, tensor] : start.weights) {
    if (!with_head && name.starts_with(kHead)) continue;
    const at::Tensor fitting = name == "patches.positions"
                                   ? resized_positions(tensor, start.grid.rows, start.grid.columns,
                                                       grid.rows, grid.columns)
                                   : tensor;
    const auto found = own.find(name);
    require(found != own.end() && found->second.sizes() == fitting.sizes(),
            ErrorKind::InvalidArgument, "--from: the tensor '", name, "' ", fitting.sizes(),
            " does not fit this network; are its pictures of other colours?");
    found->second.copy_(fitting);
  }
}

}  // namespace fovea

#include "fovea/nn/vision/image_encoder.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/nn/ops/layer_norm.h"
#include "fovea/nn/vision/residual_network.h"
#include "fovea/nn/vision/vgg_network.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr size_t kMostNamed = 5;        // tensors that a message lists
constexpr double kBiasDeviation = 0.5;  // of fresh biases

class SmallEncoder : public ImageEncoder {
 public:
  explicit SmallEncoder(const ImageEncoderOptions& options) : options_(options) {
    require(!options.channels.empty() && options.channels.size() <= 8, ErrorKind::InvalidArgument,
            "model.channels needs 1 to 8 blocks, found ", options.channels.size());
    int64_t in = options.inputs;
    for (size_t block = 0; block < options.channels.size(); ++block)
      for (int64_t i = 0; i < options.convolutions; ++i) {
        const int64_t out = options.channels[block];
        require(out >= 1, ErrorKind::InvalidArgument, "model.channels: a block of ", out,
                " channels");
        const std::string name = concat("block", block, "_", i);
        weights_.push_back(register_parameter(name + "_weight", at::zeros({out, in, 3, 3})));
        biases_.push_back(register_parameter(name + "_bias", at::zeros({out})));
        norms_.push_back(register_module(name + "_norm", std::make_shared<LayerNorm>(out)));
        in = out;
      }
  }

  void initialise(const Random& random) override {
    torch::NoGradGuard no_gradients;
    for (size_t i = 0; i < weights_.size(); ++i) {
      weights_[i].copy_(he_normal(weights_[i].sizes(), random.split(i)));
      // Without them the norm behind would forget how bright a place is: only its hue would count.
      biases_[i].copy_(random.split(weights_.size() + i)
                           .normal_tensor(biases_[i].sizes(), 0, kBiasDeviation, at::kFloat));
      norms_[i]->initialise();
    }
  }

  Tensor normalise(const Tensor& images) const override {
    return (images.to(weights_[0].scalar_type()) - 127.5) / 64;
  }

  Tensor forward(const Tensor& normalised) const override {
    // The channels of a place side by side: the norm then needs no copy.
    Tensor x = normalised.contiguous(at::MemoryFormat::ChannelsLast);
    const auto in_block = size_t(options_.convolutions);
    for (size_t i = 0; i < weights_.size(); ++i) {
      x = at::conv2d(x, weights_[i], biases_[i], 1, 1);  // [B, C, s, s]
      x = norms_[i]->forward(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2}).relu();
      if ((i + 1) % in_block == 0) x = at::max_pool2d(x, 2);  // [B, C, s / 2, s / 2]
    }
    return x;
  }

  int64_t features() const override { return options_.channels.back(); }
  int64_t stride() const override { return stride_of(options_); }

 private:
  ImageEncoderOptions options_;
  std::vector<Tensor> weights_;  // [out, in, 3, 3]
  std::vector<Tensor> biases_;   // [out]
  std::vector<std::shared_ptr<LayerNorm>> norms_;
};

template <class Shapes>
bool is_one_of(const Shapes& shapes, const std::string& name) {
  return std::ranges::any_of(shapes, [&](const auto& shape) { return shape.name == name; });
}

std::vector<std::string> encoder_names() {
  std::vector<std::string> names{"small"};
  for (const ResidualShape& shape : residual_shapes()) names.push_back(shape.name);
  for (const VggShape& shape : vgg_shapes()) names.push_back(shape.name);
  return names;
}

/// "a, b, … (7 in all)".
std::string some_of(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + int64_t(std::min(names.size(), kMostNamed)));
  if (shown.size() == names.size()) return join(shown);
  return concat(join(shown), ", … (", names.size(), " in all)");
}

}  // namespace

void ImageEncoderOptions::describe(OptionList& list) {
  list.add("encoder", name, "small: learned here; the others: weights from elsewhere")
      .choices(encoder_names());
  list.add("channels", channels, "small: numbers per place in each block; each halves the sides");
  list.add("convolutions", convolutions, "small: in each block").within(1, 8);
  list.add("encoder_layers", encoder_layers,
           "layers of a resnet that are kept, 1 to 4, or blocks of a vgg, 1 to 5")
      .within(1, 5);
  list.add("encoder_weights", weights,
           "resnet, vgg: a safetensors file with torchvision's names to begin with");
  list.add("freeze_encoder", freeze, "the encoder stays as it is: only what follows it learns");
}

int64_t stride_of(const ImageEncoderOptions& options) {
  if (options.name == "small") return int64_t{1} << options.channels.size();
  return is_one_of(vgg_shapes(), options.name) ? int64_t{1} << (options.encoder_layers - 1)
                                               : int64_t{2} << options.encoder_layers;
}

std::shared_ptr<ImageEncoder> make_image_encoder(const ImageEncoderOptions& options) {
  if (options.name == "small") return std::make_shared<SmallEncoder>(options);
  if (is_one_of(vgg_shapes(), options.name))
    return std::make_shared<VggNetwork>(options.encoder_layers, options.name);
  require(is_one_of(residual_shapes(), options.name), ErrorKind::InvalidArgument,
          "there is no image encoder '", options.name, "'; known: ", join(encoder_names()));
  return std::make_shared<ResidualNetwork>(options.encoder_layers, options.name);
}

void load_encoder_weights(ImageEncoder& encoder, const std::filesystem::path& path) {
  const auto found = read_safetensors(path).tensors;
  std::map<std::string, Tensor> wanted;
  for (const auto& item : encoder.named_parameters()) wanted[item.key()] = item.value();
  for (const auto& item : encoder.named_buffers()) wanted[item.key()] = item.value();
  std::vector<std::string> missing, unknown, shapes;
  for (const auto& [name, tensor] : wanted) {
    const auto own = found.find(name);
    if (own == found.end())
      missing.push_back(name);
    else if (own->second.sizes() != tensor.sizes())
      shapes.push_back(concat(name, " ", own->second.sizes(), " in place of ", tensor.sizes()));
  }
  for (const auto& [name, tensor] : found)
    if (!wanted.contains(name) && !encoder.may_leave_out(name)) unknown.push_back(name);
  std::vector<std::string> problems;
  if (!missing.empty()) problems.push_back("missing: " + some_of(missing));
  if (!unknown.empty()) problems.push_back("unknown: " + some_of(unknown));
  if (!shapes.empty()) problems.push_back("of another shape: " + some_of(shapes));
  require(problems.empty(), ErrorKind::BadData, path.string(),
          ": these are not the weights of the image encoder; ", join(problems, "; "));
  torch::NoGradGuard no_gradients;
  for (auto& [name, tensor] : wanted) tensor.copy_(found.at(name));
}

}  // namespace fovea

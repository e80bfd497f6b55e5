#include "fovea/models/vision_names.h"

#include "fovea/base/text.h"

namespace fovea {

std::vector<WeightNames> vision_encoder_names(const VisionTransformerOptions& options,
                                              int64_t channels, int64_t patches) {
  const int64_t D = options.hidden, P = options.patch;
  const int64_t wide = options.feed_forward > 0 ? options.feed_forward : 4 * D;
  std::vector<WeightNames> names{
      {"patches.class_token", {"embeddings.cls_token"}, {{1, 1, D}}},
      {"patches.positions", {"embeddings.position_embeddings"}, {{1, 1 + patches, D}}},
      {"patches.weight", {"embeddings.patch_embeddings.projection.weight"}, {{D, channels, P, P}}},
      {"patches.bias", {"embeddings.patch_embeddings.projection.bias"}, {{D}}}};
  for (int64_t i = 0; i < options.layers; ++i) {
    const std::string own = concat("encoder.layers.", i), other = concat("encoder.layer.", i);
    const std::string attention = other + ".attention.attention.";
    for (const std::string part : {"weight", "bias"}) {
      const std::vector<int64_t> shape = part == "bias" ? std::vector{D} : std::vector{D, D};
      names.push_back(
          {own + ".self_attn.in_proj_" + part,
           {attention + "query." + part, attention + "key." + part, attention + "value." + part},
           {shape, shape, shape}});
    }
    add_linear(names, own + ".self_attn.out_proj", other + ".attention.output.dense", D, D);
    add_layer_norm(names, own + ".norm1", other + ".layernorm_before", D);
    add_linear(names, own + ".linear1", other + ".intermediate.dense", wide, D);
    add_linear(names, own + ".linear2", other + ".output.dense", D, wide);
    add_layer_norm(names, own + ".norm2", other + ".layernorm_after", D);
  }
  add_layer_norm(names, "encoder.norm", "layernorm", D);
  return names;
}

std::vector<WeightNames> vision_head_names(int64_t hidden, int64_t classes) {
  std::vector<WeightNames> names;
  add_linear(names, "output", "classifier", classes, hidden);
  return names;
}

}  // namespace fovea

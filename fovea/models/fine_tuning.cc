#include "fovea/models/fine_tuning.h"

#include <cmath>
#include <string_view>

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr std::string_view kLayers = "encoder.layers.", kPooler = "pooler.";

/// Of a parameter by its name inside the encoder.
int64_t depth_in_encoder(std::string_view name, int64_t layers) {
  if (name.starts_with(kPooler)) return layers + 1;
  if (!name.starts_with(kLayers)) return 0;
  const std::string_view rest = name.substr(kLayers.size());
  int64_t layer = 0;  // from 0 in the name
  require(parse_integer(rest.substr(0, rest.find('.')), layer), ErrorKind::Internal,
          "the encoder's parameter ", name, " names no layer");
  return layer + 1;
}

}  // namespace

void FineTuningOptions::describe(OptionList& list) {
  list.add("freeze", freeze,
           "what keeps its weights: 0: nothing, 1: the embeddings, 1 + k: also the k lowest layers")
      .within(0, 65);
  list.add("layer_decay", layer_decay,
           "a layer's learning rate is this times that of the layer above it; 1: all learn alike")
      .above(0)
      .at_most(1);
}

void FineTuningOptions::check(int64_t layers) const {
  require(freeze <= layers + 1, ErrorKind::InvalidArgument, "model.freeze=", freeze,
          ": the encoder has ", layers, " layers; ", layers + 1, " freezes all of it");
}

ParameterRule FineTuningOptions::rule_of(const std::string& name, const std::string& encoder,
                                         int64_t layers) const {
  const bool inside = name.starts_with(encoder);
  const int64_t depth =
      inside ? depth_in_encoder(std::string_view(name).substr(encoder.size()), layers) : layers + 1;
  ParameterRule rule;
  rule.rate = depth < freeze ? 0 : std::pow(layer_decay, double(layers + 1 - depth));
  rule.decays = !name.ends_with("bias") && name.find("norm") == std::string::npos;
  return rule;
}

}  // namespace fovea

#include "fovea/core/tap.h"

#include <torch/torch.h>

#include "fovea/core/error.h"

namespace fovea {

at::Tensor Tap::report(AttentionMap map) {
  at::Tensor weights = map.weights;
  if (const auto replacement = replacements_.find(map.name); replacement != replacements_.end()) {
    weights = replacement->second(map);
    require(weights.defined(), ErrorKind::InvalidArgument, "map '", map.name,
            "': the replacement is no tensor");
    require(weights.sizes() == map.weights.sizes(), ErrorKind::InvalidArgument, "map '", map.name,
            "': the replacement has shape ", weights.sizes(), ", the map ", map.weights.sizes());
  }
  maps_.push_back(std::move(map));
  return weights;
}

at::Tensor Tap::leaf(const std::string& name, const at::Tensor& input) {
  return leaves_[name] = input.detach().clone().set_requires_grad(true);
}

const AttentionMap& Tap::map(const std::string& name) const {
  for (auto map = maps_.rbegin(); map != maps_.rend(); ++map)
    if (map->name == name) return *map;
  std::vector<std::string> names;
  for (const AttentionMap& map : maps_) names.push_back(map.name);
  fail(ErrorKind::NotFound, "no map called '", name, "' was recorded; there is: ", join(names));
}

void Tap::clear() {
  maps_.clear();
  leaves_.clear();
}

at::Tensor report_to(Tap* tap, AttentionMap map) {
  return tap ? tap->report(std::move(map)) : map.weights;
}

at::Tensor leaf_of(Tap* tap, const std::string& name, const at::Tensor& input) {
  return tap ? tap->leaf(name, input) : input;
}

}  // namespace fovea

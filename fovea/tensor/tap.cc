#include "fovea/tensor/tap.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// Query q is that of step q, the only one there.
class StepProducts : public ProductSource {
 public:
  explicit StepProducts(std::vector<std::shared_ptr<const ProductSource>> steps)
      : steps_(std::move(steps)) {}
  ProductRow row(int64_t example, int64_t head, int64_t query) const override {
    return steps_[size_t(query)]->row(example, head, 0);
  }

 private:
  std::vector<std::shared_ptr<const ProductSource>> steps_;
};

}  // namespace

at::Tensor Tap::replaced(const AttentionMap& map) const {
  const auto replacement = replacements_.find(map.name);
  if (replacement == replacements_.end()) return map.weights;
  const at::Tensor weights = replacement->second(map);
  require(weights.defined(), ErrorKind::InvalidArgument, "map '", map.name,
          "': the replacement is no tensor");
  require(weights.sizes() == map.weights.sizes(), ErrorKind::InvalidArgument, "map '", map.name,
          "': the replacement has shape ", weights.sizes(), ", the map ", map.weights.sizes());
  return weights;
}

at::Tensor Tap::report(AttentionMap map) {
  const at::Tensor weights = replaced(map);
  record(std::move(map));
  return weights;
}

at::Tensor StepTap::report(AttentionMap map) {
  require(map.layout == MapLayout::Dense, ErrorKind::Internal, "map '", map.name,
          "': only dense maps can be put together from steps");
  const at::Tensor weights = outer_.replaced(map);
  const auto own = std::find_if(steps_.begin(), steps_.end(), [&](const auto& steps) {
    return steps.front().name == map.name && steps.front().layer == map.layer;
  });
  auto& steps = own == steps_.end() ? steps_.emplace_back() : *own;
  steps.push_back(std::move(map));
  return weights;
}

void StepTap::finish() {
  for (auto& steps : steps_) {
    AttentionMap whole = steps.front();
    std::vector<at::Tensor> rows;
    for (const AttentionMap& step : steps) {
      rows.push_back(step.weights);                               // [B, H, 1, K]
      if (step.kind == MapKind::Partial) whole.kind = step.kind;  // the weakest promise holds
    }
    whole.weights = torch::cat(rows, 2);  // [B, H, Q, K]
    outer_.record(std::move(whole));
  }
  steps_.clear();
  for (auto& [place, steps] : products_)
    outer_.keep_products(place.first, place.second,
                         std::make_shared<StepProducts>(std::move(steps)));
  products_.clear();
}

at::Tensor Tap::leaf(const std::string& axis, const at::Tensor& input,
                     std::vector<int64_t> unit_of) {
  require(unit_of.empty() || (input.dim() > 1 && input.size(1) == int64_t(unit_of.size())),
          ErrorKind::Internal, "leaf '", axis, "': ", unit_of.size(),
          " units for an input of shape ", input.sizes());
  if (leaves_.count(axis) > 0) leaves_.clear();  // another run
  // The first one cuts the graph; one that may come of it (sentences of words) stays in it.
  const bool stays = !leaves_.empty() && input.requires_grad();
  Leaf& leaf = leaves_[axis];
  leaf = {stays ? input : input.detach().clone().set_requires_grad(true), std::move(unit_of)};
  if (stays) leaf.values.retain_grad();
  return leaf.values;
}

std::shared_ptr<const ProductSource> Tap::products(const AttentionMap& map) const {
  const auto found = products_.find({map.name, map.layer});
  return found == products_.end() ? nullptr : found->second;
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
  products_.clear();
}

at::Tensor report_to(Tap* tap, AttentionMap map) {
  return tap ? tap->report(std::move(map)) : map.weights;
}

at::Tensor leaf_of(Tap* tap, const std::string& axis, const at::Tensor& input,
                   const std::vector<int64_t>& unit_of) {
  return tap ? tap->leaf(axis, input, unit_of) : input;
}

}  // namespace fovea

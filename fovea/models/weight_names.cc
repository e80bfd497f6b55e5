#include "fovea/models/weight_names.h"

#include "fovea/base/error.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

bool is_half_matrix(const at::Tensor& tensor) {
  const auto type = tensor.scalar_type();
  return tensor.dim() == 2 && (type == at::kBFloat16 || type == at::kHalf);
}

}  // namespace

void add_linear(std::vector<WeightNames>& names, const std::string& ours, const std::string& theirs,
                int64_t out, int64_t in, bool bias, bool transposed) {
  const std::vector<int64_t> shape = transposed ? std::vector{in, out} : std::vector{out, in};
  names.push_back({ours + ".weight", {theirs + ".weight"}, {shape}, transposed});
  if (bias) names.push_back({ours + ".bias", {theirs + ".bias"}, {{out}}});
}

void add_layer_norm(std::vector<WeightNames>& names, const std::string& ours,
                    const std::string& theirs, int64_t width) {
  for (const char* part : {".weight", ".bias"})
    names.push_back({ours + part, {theirs + part}, {{width}}});
}

WeightShapes shapes_of(std::span<const WeightNames> names) {
  WeightShapes shapes;
  for (const WeightNames& weight : names)
    for (size_t i = 0; i < weight.theirs.size(); ++i) shapes[weight.theirs[i]] = weight.shapes[i];
  return shapes;
}

WeightMap from_hugging_face(std::span<const WeightNames> names, const WeightMap& theirs,
                            bool as_stored) {
  WeightMap ours;
  for (const WeightNames& weight : names) {
    std::vector<at::Tensor> parts;
    for (const std::string& name : weight.theirs)
      if (const auto found = theirs.find(name); found != theirs.end())
        parts.push_back(as_stored && is_half_matrix(found->second) ? found->second
                                                                   : found->second.to(at::kFloat));
    if (parts.size() != weight.theirs.size()) continue;
    const at::Tensor joined = parts.size() == 1 ? parts[0] : at::cat(parts);
    ours[weight.ours] = weight.transposed ? joined.t().contiguous() : joined;
    if (!as_stored || ours[weight.ours].is_alias_of(parts[0])) continue;
    for (const std::string& name : weight.theirs) forget_pages(theirs.at(name));  // it is a copy
  }
  return ours;
}

WeightMap to_hugging_face(std::span<const WeightNames> names, const WeightMap& ours) {
  WeightMap theirs;
  for (const WeightNames& weight : names) {
    const auto found = ours.find(weight.ours);
    if (found == ours.end()) continue;
    const at::Tensor whole = weight.transposed ? found->second.t() : found->second;
    int64_t first = 0;
    for (size_t i = 0; i < weight.theirs.size(); ++i) {
      const int64_t rows = weight.shapes[i][0];
      theirs[weight.theirs[i]] = whole.narrow(0, first, rows).contiguous();
      first += rows;
    }
  }
  return theirs;
}

}  // namespace fovea

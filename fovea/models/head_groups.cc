#include "fovea/models/head_groups.h"

#include "fovea/attention/multi_head.h"

namespace fovea {

std::vector<HeadGroup> head_groups(const Model& model) {
  std::vector<HeadGroup> groups;
  for (const HeadBlock& block : model.head_blocks()) {
    const MultiHeadOptions& options = block.attention->options();
    const auto shared = size_t(options.heads / options.key_heads);
    const std::vector<int64_t>& heads = block.attention->heads();
    for (size_t i = 0; i < heads.size(); ++i) {
      if (i % shared == 0) groups.emplace_back();
      groups.back().members.push_back({{block.map, block.layer, heads[i] + 1}, int64_t(i) + 1});
    }
  }
  return groups;
}

}  // namespace fovea

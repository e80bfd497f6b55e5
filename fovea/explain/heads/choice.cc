#include "fovea/explain/heads/choice.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

bool holds(const std::vector<int64_t>& numbers, int64_t number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

/// 0 stands for the only layer.
int64_t layer_number(const AttentionMap& map) {
  return std::max<int64_t>(1, map.layer);
}

}  // namespace

void check_choice(const HeadChoice& choice, const std::vector<AttentionMap>& maps) {
  int64_t layers = 0, heads = 0;
  for (const AttentionMap& map : maps) {
    layers = std::max(layers, layer_number(map));
    if (choice.layers.empty() || holds(choice.layers, layer_number(map)))
      heads = std::max(heads, heads_of(map));
  }
  const auto check = [](const std::vector<int64_t>& asked, int64_t highest, const char* what) {
    for (const int64_t number : asked)
      require(number >= 1 && number <= highest, ErrorKind::InvalidArgument, "there is no ", what,
              " ", number, "; there ",
              highest == 0   ? concat("are no maps")
              : highest == 1 ? concat("is only one ", what)
                             : concat("are ", what, "s 1 to ", highest));
  };
  check(choice.layers, layers, "layer");
  check(choice.heads, heads, "head");
}

std::vector<int64_t> chosen_heads(const AttentionMap& map, const HeadChoice& choice) {
  if (!choice.layers.empty() && !holds(choice.layers, layer_number(map))) return {};
  std::vector<int64_t> chosen;
  for (int64_t head = 1; head <= heads_of(map); ++head)
    if (choice.heads.empty() || holds(choice.heads, head)) chosen.push_back(head);
  return chosen;
}

AttentionMap with_heads(const AttentionMap& map, const std::vector<int64_t>& heads) {
  if (map.layout != MapLayout::Dense || (!map.source && int64_t(heads.size()) == heads_of(map)))
    return map;
  std::vector<at::Tensor> rows;
  for (const int64_t head : heads) rows.push_back(head_of(map, 0, head - 1));  // [Q, K]
  AttentionMap chosen = map;
  chosen.weights = torch::stack(rows).unsqueeze(0);  // [1, H', Q, K]
  chosen.source = nullptr;
  return chosen;
}

}  // namespace fovea

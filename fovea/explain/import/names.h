// What the names of saved tensors say: "attentions.0" … "attentions.11" are layers of one family,
// "layer_1_head_2" also names a head. A number counts a layer after a word like layer, block,
// attention or arr (numpy.savez's own names), or when it is the whole name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

/// A tensor to be placed; a tensor that has layers or heads inside takes none from its name.
struct TensorName {
  std::string name;
  bool one_layer = true, one_head = true;
};

struct TensorPlace {
  size_t tensor = 0;  // index of its TensorName
  std::string family;
  int64_t layer = 0, head = 0;  // from 1, also where the names count from 0; 0: none
};

/// Sorted by family, layer and head; numbers in names count as numbers (2 before 10). No two
/// places are equal.
std::vector<TensorPlace> place_tensors(const std::vector<TensorName>& names);

/// What attends to what, as far as the name says.
enum class AttentionRole { Unknown, Encoder, Decoder, Cross };
AttentionRole attention_role(const std::string& name);

}  // namespace fovea

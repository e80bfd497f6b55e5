// Heads that are taken out of a trained network, and where they were. One text names them all, for
// options and files:
//   encoder.1:2,5;attention.3:1     heads 2 and 5 of layer 1 of the map "encoder", and head 1 of
//                                   layer 3 of the map "attention"
//   attention:4                     head 4 of attention that has one layer only
// Layers and heads count from 1, and heads keep the numbers that they were built with: to take out
// more is to make the text longer.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fovea {

class MultiHeadAttention;

/// One head of a network.
struct HeadPlace {
  std::string map;    // under which its weights are reported
  int64_t layer = 0;  // from 1; 0: there is only one
  int64_t head = 0;   // from 1, as it was built
  auto operator<=>(const HeadPlace&) const = default;
};

/// One attention of a network whose heads can be taken out.
struct HeadBlock {
  std::string map;
  int64_t layer = 0;
  std::shared_ptr<MultiHeadAttention> attention;
};

/// InvalidArgument shows what of the text is wrong.
std::vector<HeadPlace> parse_pruned_heads(const std::string& text);
/// The shortest text for these heads, in order.
std::string pruned_heads_text(std::vector<HeadPlace> heads);

/// Takes the heads out. InvalidArgument names a head that there is not, and what there is.
void prune_heads(std::span<const HeadBlock> blocks, std::span<const HeadPlace> heads);

/// What is there, block by block, in the order of the rows of their maps.
std::vector<HeadPlace> heads_there(std::span<const HeadBlock> blocks);
/// What was taken out.
std::vector<HeadPlace> heads_gone(std::span<const HeadBlock> blocks);

}  // namespace fovea

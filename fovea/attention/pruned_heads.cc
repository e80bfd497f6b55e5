#include "fovea/attention/pruned_heads.h"

#include <algorithm>
#include <map>

#include "fovea/attention/multi_head.h"
#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea {

namespace {

const char* const kShape = "; expected map.layer:head,head, for example encoder.1:2,5";

/// A number from 1 on.
int64_t parse_count(std::string_view digits, const std::string& part) {
  int64_t number = 0;
  require(parse_integer(digits, number) && number > 0, ErrorKind::InvalidArgument,
          "model.pruned_heads: '", part, "' has '", digits, "' where a number from 1 on should be",
          kShape);
  return number;
}

void parse_block(const std::string& part, std::vector<HeadPlace>& heads) {
  const size_t colon = part.find(':');
  require(colon != std::string::npos && colon > 0 && colon + 1 < part.size(),
          ErrorKind::InvalidArgument, "model.pruned_heads: '", part, "' names no heads", kShape);
  HeadPlace place{part.substr(0, colon)};
  if (const size_t dot = place.map.rfind('.'); dot != std::string::npos) {
    place.layer = parse_count(std::string_view(place.map).substr(dot + 1), part);
    place.map.resize(dot);
  }
  for (const std::string& digits : split(part.substr(colon + 1), ',')) {
    place.head = parse_count(trim(digits), part);
    heads.push_back(place);
  }
}

std::string map_name(const std::string& map, int64_t layer) {
  return layer > 0 ? concat(map, ".", layer) : map;
}

}  // namespace

std::vector<HeadPlace> parse_pruned_heads(const std::string& text) {
  std::vector<HeadPlace> heads;
  if (trim(text).empty()) return heads;
  for (const std::string& part : split(text, ';')) parse_block(std::string(trim(part)), heads);
  std::sort(heads.begin(), heads.end());
  const auto twice = std::adjacent_find(heads.begin(), heads.end());
  require(twice == heads.end(), ErrorKind::InvalidArgument, "model.pruned_heads names head ",
          twice == heads.end() ? 0 : twice->head, " of ",
          twice == heads.end() ? "" : map_name(twice->map, twice->layer), " twice");
  return heads;
}

std::string pruned_heads_text(std::vector<HeadPlace> heads) {
  std::sort(heads.begin(), heads.end());
  std::string text;
  for (size_t i = 0; i < heads.size(); ++i) {
    const HeadPlace& place = heads[i];
    const bool goes_on =
        i > 0 && heads[i - 1].map == place.map && heads[i - 1].layer == place.layer;
    if (!goes_on) text += concat(text.empty() ? "" : ";", map_name(place.map, place.layer));
    text += concat(goes_on ? "," : ":", place.head);
  }
  return text;
}

void prune_heads(std::span<const HeadBlock> blocks, std::span<const HeadPlace> heads) {
  std::vector<std::vector<int64_t>> going(blocks.size());  // numbers from 0, by block
  for (const HeadPlace& place : heads) {
    const auto block = std::find_if(blocks.begin(), blocks.end(), [&](const HeadBlock& one) {
      return one.map == place.map && one.layer == place.layer;
    });
    if (block == blocks.end()) {
      std::vector<std::string> names;
      for (const HeadBlock& one : blocks) names.push_back(map_name(one.map, one.layer));
      fail(ErrorKind::InvalidArgument, "model.pruned_heads: there is no attention ",
           map_name(place.map, place.layer), "; there is: ", join(names));
    }
    const std::vector<int64_t>& there = block->attention->heads();
    require(std::find(there.begin(), there.end(), place.head - 1) != there.end(),
            ErrorKind::InvalidArgument, "model.pruned_heads: ", map_name(place.map, place.layer),
            " has no head ", place.head, "; it was built with ", block->attention->built_heads(),
            " heads, ", there.size(), " of which are there");
    going[size_t(block - blocks.begin())].push_back(place.head - 1);
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    if (!going[i].empty()) blocks[i].attention->prune(going[i]);
}

std::vector<HeadPlace> heads_there(std::span<const HeadBlock> blocks) {
  std::vector<HeadPlace> places;
  for (const HeadBlock& block : blocks)
    for (const int64_t head : block.attention->heads())
      places.push_back({block.map, block.layer, head + 1});
  return places;
}

std::vector<HeadPlace> heads_gone(std::span<const HeadBlock> blocks) {
  std::vector<HeadPlace> places;
  for (const HeadBlock& block : blocks) {
    const std::vector<int64_t>& there = block.attention->heads();
    for (int64_t head = 0; head < block.attention->built_heads(); ++head)
      if (std::find(there.begin(), there.end(), head) == there.end())
        places.push_back({block.map, block.layer, head + 1});
  }
  return places;
}

}  // namespace fovea

#include "fovea/models/bert_names.h"

#include <torch/torch.h>

#include "fovea/core/error.h"

namespace fovea {

namespace {

using at::Tensor;

struct Pair {
  std::string ours, theirs;  // without "weight" or "bias"
};

/// What has one name on either side.
std::vector<Pair> plain_pairs(int64_t layers) {
  std::vector<Pair> pairs = {{"norm.", "embeddings.LayerNorm."}, {"pooler.", "pooler.dense."}};
  for (int64_t i = 0; i < layers; ++i) {
    const std::string own = concat("encoder.layers.", i, "."),
                      other = concat("encoder.layer.", i, ".");
    pairs.push_back({own + "self_attn.out_proj.", other + "attention.output.dense."});
    pairs.push_back({own + "norm1.", other + "attention.output.LayerNorm."});
    pairs.push_back({own + "linear1.", other + "intermediate.dense."});
    pairs.push_back({own + "linear2.", other + "output.dense."});
    pairs.push_back({own + "norm2.", other + "output.LayerNorm."});
  }
  return pairs;
}

const std::pair<const char*, const char*> kTables[] = {
    {"tokens.weight", "embeddings.word_embeddings.weight"},
    {"positions.weight", "embeddings.position_embeddings.weight"},
    {"segments.weight", "embeddings.token_type_embeddings.weight"}};

const char* const kThirds[] = {"query", "key", "value"};

std::string third_name(int64_t layer, const char* third, const char* part) {
  return concat("encoder.layer.", layer, ".attention.self.", third, ".", part);
}

/// The old names of a norm's two parameters.
std::string old_name(const std::string& name) {
  const std::string norm = "LayerNorm.";
  if (name.ends_with(norm + "weight")) return name.substr(0, name.size() - 6) + "gamma";
  if (name.ends_with(norm + "bias")) return name.substr(0, name.size() - 4) + "beta";
  return "";
}

}  // namespace

WeightMap bert_from_hugging_face(WeightMap& theirs, int64_t layers,
                                 std::vector<std::string>& missing) {
  const auto take = [&](const std::string& name) {
    for (const std::string& candidate : {name, old_name(name)})
      for (const char* prefix : {"", "bert."}) {
        const auto found = candidate.empty() ? theirs.end() : theirs.find(prefix + candidate);
        if (found == theirs.end()) continue;
        const Tensor tensor = found->second;
        theirs.erase(found);
        return tensor;
      }
    missing.push_back(name);
    return Tensor();
  };
  WeightMap ours;
  const auto keep = [&](const std::string& name, const Tensor& tensor) {
    if (tensor.defined()) ours[name] = tensor.to(at::kFloat);
  };
  for (const auto& [own, other] : kTables) keep(own, take(other));
  for (const Pair& pair : plain_pairs(layers))
    for (const char* part : {"weight", "bias"}) keep(pair.ours + part, take(pair.theirs + part));
  for (int64_t i = 0; i < layers; ++i)
    for (const char* part : {"weight", "bias"}) {
      std::vector<Tensor> thirds;
      for (const char* third : kThirds)
        if (const Tensor found = take(third_name(i, third, part)); found.defined())
          thirds.push_back(found);
      const bool fit = thirds.size() == 3 && thirds[0].sizes() == thirds[1].sizes() &&
                       thirds[0].sizes() == thirds[2].sizes() && thirds[0].dim() > 0;
      if (fit)
        keep(concat("encoder.layers.", i, ".self_attn.in_proj_", part), at::cat(thirds));
      else if (thirds.size() == 3)
        missing.push_back(third_name(i, "*", part) + " (of one shape)");
    }
  theirs.erase("embeddings.position_ids");  // 0, 1, 2, …: not a weight
  theirs.erase("bert.embeddings.position_ids");
  return ours;
}

WeightMap bert_to_hugging_face(const WeightMap& ours, int64_t layers, const std::string& prefix) {
  WeightMap theirs;
  for (const auto& [own, other] : kTables) theirs[prefix + other] = ours.at(own);
  for (const Pair& pair : plain_pairs(layers))
    for (const char* part : {"weight", "bias"})
      theirs[prefix + pair.theirs + part] = ours.at(pair.ours + part);
  for (int64_t i = 0; i < layers; ++i)
    for (const char* part : {"weight", "bias"}) {
      const auto thirds =
          ours.at(concat("encoder.layers.", i, ".self_attn.in_proj_", part)).chunk(3);
      for (size_t third = 0; third < 3; ++third)
        theirs[prefix + third_name(i, kThirds[third], part)] = thirds[third].contiguous();
    }
  return theirs;
}

}  // namespace fovea

#include "fovea/tasks/hugging_face_names.h"

#include "fovea/core/error.h"

namespace fovea {

namespace {

const HeadNames kHeads[] = {
    {true,
     {{"masked.dense.weight", "cls.predictions.transform.dense.weight"},
      {"masked.dense.bias", "cls.predictions.transform.dense.bias"},
      {"masked.norm.weight", "cls.predictions.transform.LayerNorm.weight"},
      {"masked.norm.bias", "cls.predictions.transform.LayerNorm.bias"},
      {"masked.bias", "cls.predictions.bias"}}},
    {false,
     {{"next.weight", "cls.seq_relationship.weight"}, {"next.bias", "cls.seq_relationship.bias"}}}};

/// `name` with another ending where it ends in `old`.
std::string renamed(const std::string& name, const std::string& old, const std::string& now) {
  return name.ends_with(old) ? name.substr(0, name.size() - old.size()) + now : name;
}

}  // namespace

std::string hugging_face_name(const std::string& name) {
  const std::string plain = name.starts_with("bert.") ? name.substr(5) : name;
  return renamed(renamed(plain, "LayerNorm.gamma", "LayerNorm.weight"), "LayerNorm.beta",
                 "LayerNorm.bias");
}

WeightShapes encoder_shapes(const BertOptions& o, int64_t vocabulary) {
  WeightShapes shapes{{"embeddings.word_embeddings.weight", {vocabulary, o.hidden}},
                      {"embeddings.position_embeddings.weight", {o.maximum_length, o.hidden}},
                      {"embeddings.token_type_embeddings.weight", {o.segments, o.hidden}}};
  const auto norm = [&](const std::string& name) {
    shapes[name + "LayerNorm.weight"] = shapes[name + "LayerNorm.bias"] = {o.hidden};
  };
  const auto dense = [&](const std::string& name, int64_t out, int64_t in) {
    shapes[name + ".weight"] = {out, in};
    shapes[name + ".bias"] = {out};
  };
  norm("embeddings.");
  dense("pooler.dense", o.hidden, o.hidden);
  for (int64_t i = 0; i < o.layers; ++i) {
    const std::string layer = concat("encoder.layer.", i, ".");
    for (const char* third : {"query", "key", "value"})
      dense(layer + "attention.self." + third, o.hidden, o.hidden);
    dense(layer + "attention.output.dense", o.hidden, o.hidden);
    norm(layer + "attention.output.");
    dense(layer + "intermediate.dense", o.feed_forward, o.hidden);
    dense(layer + "output.dense", o.hidden, o.feed_forward);
    norm(layer + "output.");
  }
  return shapes;
}

std::span<const HeadNames> head_names() {
  return kHeads;
}

WeightShapes head_shapes(const HeadNames& head, int64_t hidden, int64_t vocabulary) {
  WeightShapes shapes;
  for (const auto& [ours, theirs] : head.names) {
    if (ours == "masked.bias")
      shapes[theirs] = {vocabulary};
    else if (ours == "masked.dense.weight")
      shapes[theirs] = {hidden, hidden};
    else if (ours == "next.weight")
      shapes[theirs] = {2, hidden};
    else
      shapes[theirs] = {ours == "next.bias" ? 2 : hidden};
  }
  return shapes;
}

}  // namespace fovea

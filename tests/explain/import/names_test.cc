#include "fovea/explain/import/names.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "fovea/base/text.h"

namespace fovea::names_test {
namespace {

std::vector<TensorName> named(const std::vector<std::string>& names) {
  std::vector<TensorName> result;
  for (const std::string& name : names) result.push_back({name});
  return result;
}

/// "family/layer/head" of each tensor, in the order in which they are shown.
std::vector<std::string> shown(const std::vector<TensorName>& names) {
  std::vector<std::string> result;
  for (const TensorPlace& place : place_tensors(names))
    result.push_back(concat(place.family, "/", place.layer, "/", place.head));
  return result;
}
std::vector<std::string> shown(const std::vector<std::string>& names) {
  return shown(named(names));
}

using Texts = std::vector<std::string>;

TEST(ImportNames, NumbersAreLayersInNaturalOrder) {
  EXPECT_EQ(shown(Texts{"attentions.0", "attentions.1", "attentions.10", "attentions.2"}),
            (Texts{"attentions/1/0", "attentions/2/0", "attentions/3/0", "attentions/11/0"}));
  const auto places = place_tensors(named({"attentions.10", "attentions.9"}));
  EXPECT_EQ(places[0].tensor, 1u);
  EXPECT_EQ(places[1].tensor, 0u);
}

TEST(ImportNames, CountingFromOneStaysAsItIs) {
  EXPECT_EQ(shown(Texts{"layer_1", "layer_2"}), (Texts{"attention/1/0", "attention/2/0"}));
  EXPECT_EQ(shown(Texts{"layer_3"}), (Texts{"attention/3/0"}));
}

TEST(ImportNames, WhatModelsCallTheirLayers) {
  const std::pair<const char*, const char*> cases[] = {
      {"encoder_attentions.%", "encoder_attentions"},
      {"cross_attentions.%", "cross_attentions"},
      {"decoder.layers.%.self_attn", "decoder.self_attn"},
      {"bert.encoder.layer.%.attention.self", "bert.encoder.attention.self"},
      {"transformer.h.%.attn", "transformer.attn"},
      {"encoder.block.%.layer.0.SelfAttention", "encoder.layer.0.SelfAttention"},
      {"encoderLayer%", "encoder"},
      {"arr_%", "attention"},
      {"%", "attention"},
      {"attn%", "attn"},
      {"attention_weights_%", "attention_weights"}};
  for (const auto& [pattern, family] : cases) {
    Texts names;
    for (const char* number : {"2", "11"})
      names.push_back(std::string(pattern).replace(std::string(pattern).find('%'), 1, number));
    EXPECT_EQ(shown(names), (Texts{concat(family, "/2/0"), concat(family, "/11/0")})) << pattern;
  }
}

TEST(ImportNames, NumbersThatCountNothingStayInTheName) {
  EXPECT_EQ(shown(Texts{"model1", "model2"}), (Texts{"model1/0/0", "model2/0/0"}));
  EXPECT_EQ(shown(Texts{"attentions.0"}), (Texts{"attentions.0/0/0"}));
  EXPECT_EQ(shown(Texts{"arr_0"}), (Texts{"attention/0/0"}));
  EXPECT_EQ(shown(Texts{"run20240131"}), (Texts{"run20240131/0/0"}));
  EXPECT_EQ(shown(Texts{"text10", "text9"}), (Texts{"text9/0/0", "text10/0/0"}));
  EXPECT_EQ(shown(Texts{"attention12345678", "attention12345679"}),
            (Texts{"attention12345678/0/0", "attention12345679/0/0"}));
}

TEST(ImportNames, FamiliesThatWouldBeCalledTheSameStayApart) {
  EXPECT_EQ(shown(Texts{"layer_0", "layer_1", "block_0", "block_1"}),
            (Texts{"attention/1/0", "attention/2/0", "block_*/1/0", "block_*/2/0"}));
  EXPECT_EQ(shown(Texts{"attn", "attn.1", "attn.2"}),
            (Texts{"attn/0/0", "attn.*/1/0", "attn.*/2/0"}));
}

TEST(ImportNames, HeadsAreNamedToo) {
  EXPECT_EQ(shown(Texts{"layer_0_head_0", "layer_0_head_1", "layer_1_head_0"}),
            (Texts{"attention/1/1", "attention/1/2", "attention/2/1"}));
  EXPECT_EQ(shown(Texts{"head2", "head10"}), (Texts{"attention/0/2", "attention/0/10"}));
}

TEST(ImportNames, LayersInsideATensorAreNotNamed) {
  EXPECT_EQ(
      shown(std::vector<TensorName>{{"attentions.0", false, true}, {"attentions.1", false, true}}),
      (Texts{"attentions.0/0/0", "attentions.1/0/0"}));
  EXPECT_EQ(shown(std::vector<TensorName>{{"head_1", true, false}, {"head_2", true, false}}),
            (Texts{"head_1/0/0", "head_2/0/0"}));
}

TEST(ImportNames, NoTwoPlacesAreEqual) {
  const Texts pieces = {"layer", "attentions", "head", "h", "x", ".", "_", "0", "1", "01", "12"};
  std::mt19937 engine(1);
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> names;
    for (int i = 0; i < 20; ++i) {
      std::string name;
      for (uint32_t piece = 0; piece <= engine() % 5; ++piece)
        name += pieces[engine() % pieces.size()];
      names.insert(name);
    }
    const Texts all = shown(Texts(names.begin(), names.end()));
    EXPECT_EQ(all.size(), names.size());
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << round;
  }
}

TEST(ImportNames, RolesAreRead) {
  const std::pair<const char*, AttentionRole> roles[] = {
      {"cross_attentions.1", AttentionRole::Cross},
      {"decoder.layers.0.encoder_attn", AttentionRole::Cross},
      {"decoder.block.0.layer.1.EncDecAttention", AttentionRole::Cross},
      {"decoder.layers.0.multihead_attn", AttentionRole::Cross},
      {"encoder_decoder_attention", AttentionRole::Cross},
      {"encoder_attentions.0", AttentionRole::Encoder},
      {"encoder.layers.0.multihead_attn", AttentionRole::Encoder},
      {"decoder_attentions.0", AttentionRole::Decoder},
      {"attentions.0", AttentionRole::Unknown}};
  for (const auto& [name, role] : roles) EXPECT_EQ(attention_role(name), role) << name;
}

}  // namespace
}  // namespace fovea::names_test

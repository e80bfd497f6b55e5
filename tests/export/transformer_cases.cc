#include "fovea/base/text.h"
#include "fovea/models/transformer.h"
#include "fovea/tensor/torch.h"
#include "tests/export/sequence_answers.h"

namespace fovea::testing {

namespace {

/// "encoder" is put out by the encoder, "decoder" and "attention" by each step.
void add_layer_maps(const Tap& tap, Json& answer) {
  for (const AttentionMap& map : tap.maps()) {
    if (map.name == "encoder")
      answer["encoded"][concat("encoder_attention_", map.layer)] = tensor_json(map.weights);
    else
      answer["outputs"]
            [concat(map.name == "decoder" ? "decoder_attention_" : "attention_", map.layer)] =
                tensor_json(map.weights.transpose(1, 2));  // [B, T, H, K]
  }
}

TransformerOptions small_transformer() {
  TransformerOptions options;
  options.hidden = 8, options.layers = 2, options.heads = 2;
  options.feed_forward = 12, options.maximum_length = 16;
  return options;
}

struct TransformerCases {
  std::vector<ExportCase> cases;

  std::shared_ptr<Transformer> add(const std::string& name,
                                   const std::function<void(TransformerOptions&)>& change,
                                   bool shared = false) {
    TransformerOptions options = small_transformer();
    change(options);
    const auto model =
        std::make_shared<Transformer>(options, SearchOptions{}, symbol_shape(shared));
    randomise(*model, 6);
    cases.push_back({"transformer-" + name,
                     [model](const ExportOptions& chosen) { return export_model(*model, chosen); },
                     [model](int64_t rows, int64_t length) {
                       return text_answers(*model, rows, length, add_layer_maps);
                     }});
    return model;
  }
};

}  // namespace

std::vector<ExportCase> transformer_cases() {
  TransformerCases builder;
  for (const std::string norm : {"pre", "post"})
    for (const std::string positions : {"sinusoidal", "learned", "rotary", "alibi"})
      builder.add(norm + "-" + positions,
                  [&](TransformerOptions& o) { o.norm = norm, o.positions = positions; });
  for (const std::string positions : {"rotary", "alibi"})
    builder.add("grouped-window-" + positions, [&](TransformerOptions& o) {
      o.hidden = 16, o.heads = 4, o.key_heads = 2, o.window = 2, o.positions = positions;
    });
  builder.add("untied-gelu",
              [](TransformerOptions& o) { o.tie_embeddings = false, o.activation = "gelu"; });
  builder.add(
      "shared", [](TransformerOptions& o) { o.decoder_layers = 1; }, true);
  builder.add("odd-width", [](TransformerOptions& o) { o.hidden = 9, o.heads = 3; });
  for (const std::string positions : {"rotary", "alibi"})
    prune_heads(*builder.add("pruned-" + positions,
                             [&](TransformerOptions& o) { o.positions = positions; }));
  return std::move(builder.cases);
}

}  // namespace fovea::testing

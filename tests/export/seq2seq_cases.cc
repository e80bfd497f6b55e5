#include "fovea/export/attention.h"
#include "fovea/models/seq2seq.h"
#include "fovea/tensor/torch.h"
#include "tests/export/sequence_answers.h"

namespace fovea::testing {

namespace {

constexpr int64_t kSourceWidth = 3, kTargetWidth = 2;

void add_attention(const Tap& tap, Json& answer) {
  if (!tap.maps().empty())
    answer["outputs"]["attention"] =
        tensor_json(tap.map("attention").weights.squeeze(1));  // [B, T, K]
}

Json number_answers(const Seq2Seq& model, int64_t rows, int64_t length) {
  torch::NoGradGuard no_gradients;
  Batch batch;
  batch.size = rows;
  batch.tensors["source"] =
      Random(23).normal_tensor({rows, length, kSourceWidth}, 0, 1, at::kFloat);
  batch.tensors["source.keep"] = at::ones({rows, length}, at::kBool);
  Tap tap;
  const at::Tensor values = model.replay(batch, {}, &tap).view({rows, kSteps, kTargetWidth});
  Json answer{{"inputs", {{"source", tensor_json(batch.at("source"))}}},
              {"outputs", {{"value", tensor_json(values)}}}};
  add_attention(tap, answer);
  return answer;
}

Seq2SeqOptions small_seq2seq() {
  Seq2SeqOptions options;
  options.hidden = 8;
  options.embedding = 6;
  options.score = {"additive", 0, 0, 5, false, 12, 3, 5};
  options.normaliser.top_k = 3;
  options.alignment.hidden_size = 4;
  options.alignment.half_width = 2;
  return options;
}

struct Seq2SeqCases {
  std::vector<ExportCase> cases;

  void add(const std::string& name, const std::function<void(Seq2SeqOptions&)>& change,
           bool numbers = false, bool shared = false) {
    Seq2SeqOptions options = small_seq2seq();
    change(options);
    SequenceShape shape = numbers ? SequenceShape() : symbol_shape(shared);
    if (numbers)
      shape.source_width = kSourceWidth, shape.target_width = kTargetWidth, shape.horizon = kSteps;
    const auto model = std::make_shared<Seq2Seq>(options, SearchOptions{}, shape);
    randomise(*model, 5);
    cases.push_back({"seq2seq-" + name,
                     [model](const ExportOptions& chosen) { return export_model(*model, chosen); },
                     [model, numbers](int64_t rows, int64_t length) {
                       return numbers ? number_answers(*model, rows, length)
                                      : text_answers(*model, rows, length, add_attention);
                     }});
  }
};

/// Whatever attention/ has in its tables.
void add_attention_cases(Seq2SeqCases& builder) {
  for (const std::string& score : onnx::exported_scores())
    builder.add("score-" + score, [&](Seq2SeqOptions& o) { o.score.name = score; });
  for (const std::string& normaliser : normaliser_names())
    if (normaliser != "hard")  // the decoder itself refuses it
      builder.add("normaliser-" + normaliser,
                  [&](Seq2SeqOptions& o) { o.normaliser.name = normaliser; });
  for (const std::string& alignment : alignment_names())
    builder.add("alignment-" + alignment, [&](Seq2SeqOptions& o) { o.alignment.name = alignment; });
}

void add_decoder_cases(Seq2SeqCases& builder) {
  for (const std::string cell : {"rnn", "lstm"})
    builder.add("cell-" + cell, [&](Seq2SeqOptions& o) { o.cell = cell, o.layers = 2; });
  builder.add("score-bias", [](Seq2SeqOptions& o) { o.score.bias = true; });
  builder.add("feeding", [](Seq2SeqOptions& o) { o.input_feeding = true; });
  builder.add("maxout-feeding",
              [](Seq2SeqOptions& o) { o.input_feeding = true, o.readout = "maxout"; });
  builder.add("tied", [](Seq2SeqOptions& o) { o.tie_embeddings = true; });
  builder.add(
      "tied-shared", [](Seq2SeqOptions& o) { o.tie_embeddings = true; }, false, true);
  builder.add("own", [](Seq2SeqOptions& o) { o.feedback = "own"; });
  builder.add("bahdanau-paper", [](Seq2SeqOptions& o) {
    o.decoder = "bahdanau", o.readout = "maxout", o.readout_from = "previous",
    o.bridge = "backward", o.encoder_hidden = 8;
  });
  builder.add("bahdanau-linear", [](Seq2SeqOptions& o) {
    o.decoder = "bahdanau", o.readout = "linear", o.cell = "lstm", o.layers = 2,
    o.score.name = "location-aware", o.alignment.name = "median";
  });
  builder.add("luong-paper", [](Seq2SeqOptions& o) {
    o.cell = "lstm", o.layers = 2, o.bidirectional = false, o.bridge = "copy",
    o.reverse_source = true, o.input_feeding = true, o.score.name = "general",
    o.alignment.name = "local-p";
  });
  builder.add("reversed-both-ways", [](Seq2SeqOptions& o) { o.reverse_source = true; });
  builder.add("summary", [](Seq2SeqOptions& o) { o.attention = "none", o.readout = "maxout"; });
  builder.add("cho", [](Seq2SeqOptions& o) {
    o.attention = "none", o.bidirectional = false, o.reset = "before", o.summary_gated = true,
    o.bridge = "summary", o.readout = "maxout", o.output_rank = 5;
  });
  builder.add("cho-two-layers", [](Seq2SeqOptions& o) {
    o.attention = "none", o.layers = 2, o.summary_gated = true, o.bridge = "summary";
  });
  builder.add("demonstration", [](Seq2SeqOptions& o) {
    o.one_hot = true, o.encoder_cell = "lstm", o.encoder_hidden = 8, o.reset = "before",
    o.bridge = "first", o.feedback = "own", o.decoder = "bahdanau", o.readout = "linear",
    o.readout_from = "previous", o.score.bias = true;
  });
  builder.add("one-hot", [](Seq2SeqOptions& o) { o.one_hot = true, o.reset = "before"; });
  builder.add("lstm-from-gru", [](Seq2SeqOptions& o) { o.cell = "lstm", o.encoder_cell = "gru"; });
  builder.add("sutskever", [](Seq2SeqOptions& o) {
    o.attention = "none", o.cell = "lstm", o.layers = 2, o.bidirectional = false, o.bridge = "copy",
    o.summary = false, o.reverse_source = true, o.readout = "state";
  });
  builder.add("blind-linear",
              [](Seq2SeqOptions& o) { o.attention = "none", o.readout = "linear"; });
  builder.add("blind-previous",
              [](Seq2SeqOptions& o) { o.attention = "none", o.readout_from = "previous"; });
}

void add_number_cases(Seq2SeqCases& builder) {
  builder.add(
      "numbers", [](Seq2SeqOptions&) {}, true);
  builder.add(
      "numbers-local-p",
      [](Seq2SeqOptions& o) {
        o.cell = "lstm", o.decoder = "bahdanau", o.alignment.name = "local-p",
        o.reverse_source = true;
      },
      true);
  builder.add(
      "numbers-blind", [](Seq2SeqOptions& o) { o.attention = "none"; }, true);
}

}  // namespace

std::vector<ExportCase> seq2seq_cases() {
  Seq2SeqCases builder;
  add_attention_cases(builder);
  add_decoder_cases(builder);
  add_number_cases(builder);
  return std::move(builder.cases);
}

}  // namespace fovea::testing

#include "fovea/base/text.h"
#include "fovea/models/language_model.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"

namespace fovea::testing {

namespace {

constexpr int64_t kTokens = 11;

LanguageModelOptions small_language(const std::string& name) {
  LanguageModelOptions o;
  o.name = name;
  o.layers = 2, o.hidden = 8, o.heads = 4, o.maximum_length = 24;
  if (name == "llama") o.key_heads = 2, o.feed_forward = 12;
  return o;
}

void put_memories(Json& to, const std::string& what, const std::vector<TransformerMemory>& memories,
                  int64_t rows) {
  for (size_t i = 0; i < memories.size(); ++i)
    for (const bool is_key : {true, false}) {
      const Memory& written = memories[i].written;
      const at::Tensor there = is_key ? written.keys : written.values;
      const at::Tensor none = at::zeros({rows, 0, 0, 0});
      to[concat(what, ".", i, is_key ? ".key" : ".value")] =
          tensor_json(there.defined() ? there : none);
    }
}

/// The prompt where `past` is 0; else tokens that follow so many.
Json language_answers(const LanguageModel& model, int64_t rows, int64_t length, int64_t past) {
  torch::NoGradGuard no_gradients;
  const at::Tensor all = Random(uint64_t(20 + rows))
                             .uniform_tensor({rows, past + length}, 0, kTokens, at::kFloat)
                             .to(at::kLong);
  std::vector<TransformerMemory> memories(size_t(model.options().layers));
  if (past > 0) model.go_on(all.narrow(1, 0, past), 0, memories);
  const at::Tensor ids = all.narrow(1, past, length).contiguous();
  Json inputs{{"input_ids", tensor_json(ids)}}, outputs = Json::object();
  if (past > 0) {
    put_memories(inputs, "past_key_values", memories, rows);
  } else {
    const LanguageModelOptions& o = model.options();
    const at::Tensor none = at::zeros({rows, o.key_heads, 0, o.head_size});
    for (int64_t i = 0; i < o.layers; ++i)
      for (const char* part : {"key", "value"})
        inputs[concat("past_key_values.", i, ".", part)] = tensor_json(none);
  }
  outputs["logits"] = tensor_json(model.logits(model.go_on(ids, past, memories)));
  put_memories(outputs, "present", memories, rows);
  Tap tap;
  model.states(all, nullptr, &tap);
  for (const AttentionMap& map : tap.maps())
    outputs[concat("attention_", map.layer)] =
        tensor_json(map.weights.narrow(2, past, length).contiguous());
  return {{"inputs", inputs}, {"outputs", outputs}};
}

}  // namespace

std::vector<ExportCase> language_cases() {
  std::vector<ExportCase> cases;
  const auto add = [&](const std::string& name, const LanguageModelOptions& options) {
    const auto model =
        std::make_shared<LanguageModel>(options, SearchOptions{}, LanguageShape{kTokens, 0});
    randomise(*model, 31);
    const auto graphs = [model](const ExportOptions& chosen) {
      return export_model(*model, chosen);
    };
    cases.push_back({"language-" + name + "-prompt", graphs, [model](int64_t rows, int64_t length) {
                       return language_answers(*model, rows, length, 0);
                     }});
    cases.push_back({"language-" + name + "-step", graphs, [model](int64_t rows, int64_t length) {
                       return language_answers(*model, rows, 1, length);
                     }});
    cases.push_back(
        {"language-" + name + "-further", graphs, [model](int64_t rows, int64_t length) {
           return language_answers(*model, rows, 3, length);
         }});
  };
  for (const std::string name : {"gpt2", "llama"}) add(name, small_language(name));
  LanguageModelOptions other = small_language("llama");  // Qwen2's biases, Mistral's window
  other.query_bias = other.forward_bias = true;
  other.tie_embeddings = false;
  other.window = 4;
  other.rotary = {.base = 500, .scaling = "llama3", .factor = 4, .original_length = 8};
  add("llama-window", other);
  LanguageModelOptions adapted = small_language("gpt2");
  adapted.lora_rank = 2;
  adapted.lora_targets = {"all-linear"};
  adapted.bias = false;
  add("gpt2-adapters", adapted);
  return cases;
}

}  // namespace fovea::testing

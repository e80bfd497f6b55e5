// A BERT of ours as a Hugging Face folder.
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/tokenisers/hugging_face/files.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// The class of transformers that has these heads.
std::string architecture_of(const PretrainedBert& bert) {
  const bool masked = bert.heads.count("masked.bias") > 0, next = bert.heads.count("next.bias") > 0;
  if (masked && next) return "BertForPreTraining";
  if (masked) return "BertForMaskedLM";
  return next ? "BertForNextSentencePrediction" : "BertModel";
}

/// {"0": [2, 5]}: layer and heads from 0.
Json pruned_heads_of(const BertOptions& options) {
  Json pruned = Json::object();
  for (const HeadPlace& place : parse_pruned_heads(options.pruned_heads))
    pruned[std::to_string(place.layer - 1)].push_back(place.head - 1);
  return pruned;
}

Json config_of(const PretrainedBert& bert) {
  const BertOptions& o = bert.options;
  Json config{{"architectures", {architecture_of(bert)}},
              {"model_type", "bert"},
              {"vocab_size", bert.tokeniser->size()},
              {"hidden_size", o.hidden},
              {"num_hidden_layers", o.layers},
              {"num_attention_heads", o.heads},
              {"intermediate_size", o.feed_forward},
              {"hidden_act", "gelu"},
              {"max_position_embeddings", o.maximum_length},
              {"type_vocab_size", o.segments},
              {"hidden_dropout_prob", o.dropout},
              {"attention_probs_dropout_prob", o.attention_dropout},
              {"layer_norm_eps", o.epsilon},
              {"initializer_range", 0.02},
              {"position_embedding_type", "absolute"},
              {"pad_token_id", bert.tokeniser->special().padding},
              {"torch_dtype", "float32"}};
  if (!o.pruned_heads.empty()) config["pruned_heads"] = pruned_heads_of(o);
  return config;
}

WeightMap weights_of(const PretrainedBert& bert) {
  const std::string prefix = bert.heads.empty() ? "" : "bert.";
  const int64_t hidden = bert.options.hidden, vocabulary = bert.tokeniser->size();
  WeightMap theirs = to_hugging_face(masked_head_names(hidden, vocabulary), bert.heads);
  theirs.merge(to_hugging_face(next_head_names(hidden), bert.heads));
  for (const auto& [name, tensor] :
       to_hugging_face(encoder_names(bert.options, vocabulary), bert.encoder))
    theirs[prefix + name] = tensor;
  return theirs;
}

Json tokeniser_config_of(const WordPiece& tokeniser, int64_t longest) {
  const WordPieceOptions& o = tokeniser.options();
  return {{"tokenizer_class", "BertTokenizer"},
          {"do_lower_case", o.lowercase},
          {"strip_accents", o.strip_accents ? Json(*o.strip_accents) : Json()},
          {"tokenize_chinese_chars", o.split_ideographs},
          {"model_max_length", longest},
          {"pad_token", "[PAD]"},
          {"unk_token", "[UNK]"},
          {"cls_token", "[CLS]"},
          {"sep_token", "[SEP]"},
          {"mask_token", "[MASK]"}};
}

}  // namespace

void write_hugging_face(const std::filesystem::path& folder, const PretrainedBert& bert) {
  require(!std::filesystem::exists(folder / "config.json"), ErrorKind::InvalidArgument,
          folder.string(), ": holds a config.json already; choose another folder");
  AtomicFolder whole(folder);
  write_safetensors(whole.path() / "model.safetensors", weights_of(bert), {{"format", "pt"}});
  bert.tokeniser->write_vocabulary(whole.path() / "vocab.txt");
  write_json_file(whole.path() / "tokenizer.json", wordpiece_tokenizer_json(*bert.tokeniser));
  write_json_file(whole.path() / "tokenizer_config.json",
                  tokeniser_config_of(*bert.tokeniser, bert.options.maximum_length));
  write_json_file(whole.path() / "config.json", config_of(bert));
  whole.commit();
}

}  // namespace fovea

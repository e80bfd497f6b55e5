// A BERT of ours, or one of its kin, as a Hugging Face folder.
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/tokenisers/wordpiece.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// What of the heads goes out.
WeightMap written_heads(const PretrainedBert& bert) {
  WeightMap heads;
  for (const auto& [name, tensor] : bert.heads)
    if (bert.head != EncoderHead::None || !name.starts_with("output.")) heads[name] = tensor;
  return heads;
}

/// The class of transformers that has these heads.
std::string architecture_of(const PretrainedBert& bert, const EncoderFamily& family) {
  const auto named = [&](const char* end) { return concat(family.class_name, end); };
  if (bert.head == EncoderHead::Class) return named("ForSequenceClassification");
  if (bert.head == EncoderHead::Tags) return named("ForTokenClassification");
  if (bert.head == EncoderHead::Answer) return named("ForQuestionAnswering");
  if (bert.head == EncoderHead::Choice) return named("ForMultipleChoice");
  const bool masked = bert.heads.count("masked.bias") > 0, next = bert.heads.count("next.bias") > 0;
  const bool is_bert = std::string(family.model_type) == "bert";  // others have no next sentence
  if (masked && next && is_bert) return named("ForPreTraining");
  if (masked) return named("ForMaskedLM");
  return next && is_bert ? named("ForNextSentencePrediction") : named("Model");
}

/// {"0": [2, 5]}: layer and heads from 0.
Json pruned_heads_of(const BertOptions& options) {
  Json pruned = Json::object();
  for (const HeadPlace& place : parse_pruned_heads(options.pruned_heads))
    pruned[std::to_string(place.layer - 1)].push_back(place.head - 1);
  return pruned;
}

Json sizes_of(const PretrainedBert& bert, const EncoderFamily& family) {
  const BertOptions o = bert.options.whole();
  if (std::string(family.model_type) == "distilbert")
    return {{"dim", o.hidden},
            {"n_layers", o.layers},
            {"n_heads", o.heads},
            {"hidden_dim", o.feed_forward},
            {"activation", "gelu"},
            {"dropout", o.dropout},
            {"attention_dropout", o.attention_dropout},
            {"sinusoidal_pos_embds", false}};
  Json sizes{{"hidden_size", o.hidden},
             {"num_hidden_layers", o.layers},
             {"num_attention_heads", o.heads},
             {"intermediate_size", o.feed_forward},
             {"hidden_act", "gelu"},
             {"type_vocab_size", o.segments},
             {"hidden_dropout_prob", o.dropout},
             {"attention_probs_dropout_prob", o.attention_dropout},
             {"layer_norm_eps", o.epsilon},
             {"position_embedding_type", "absolute"}};
  if (std::string(family.model_type) == "electra") sizes["embedding_size"] = o.embedding;
  return sizes;
}

Json encoder_config(const PretrainedBert& bert, const EncoderFamily& family) {
  const BertOptions& o = bert.options;
  Json config{{"architectures", {architecture_of(bert, family)}},
              {"model_type", family.model_type},
              {"vocab_size", bert.tokeniser->size()},
              {"max_position_embeddings", o.maximum_length + o.first_position},
              {"initializer_range", 0.02},
              {"pad_token_id",  // RoBERTa's positions begin behind it
               o.first_position > 0 ? o.first_position - 1 : bert.tokeniser->special().padding},
              {"dtype", "float32"},
              {"torch_dtype", "float32"}};
  config.update(sizes_of(bert, family));
  if (!o.pruned_heads.empty()) config["pruned_heads"] = pruned_heads_of(o);
  if (bert.head != EncoderHead::Class && bert.head != EncoderHead::Tags) return config;
  if (!bert.problem.empty()) config["problem_type"] = bert.problem;
  config["id2label"] = Json::object();
  config["label2id"] = Json::object();
  for (size_t i = 0; i < bert.labels.size(); ++i) {
    config["id2label"][std::to_string(i)] = bert.labels[i];
    config["label2id"][bert.labels[i]] = i;
  }
  return config;
}

WeightMap weights_of(const PretrainedBert& bert, const EncoderFamily& family) {
  const std::string type = family.model_type;
  const WeightMap heads = written_heads(bert);
  const std::string prefix = heads.empty() ? "" : family.prefix;
  const int64_t hidden = bert.options.whole().hidden, vocabulary = bert.tokeniser->size();
  WeightMap theirs = to_hugging_face(masked_head_names(bert.options, vocabulary, type), heads);
  if (type == "bert") theirs.merge(to_hugging_face(next_head_names(hidden), heads));
  const int64_t numbers = bert.head == EncoderHead::Choice ? 1
                          : bert.labels.empty()            ? 2
                                                           : int64_t(bert.labels.size());
  theirs.merge(to_hugging_face(output_head_names(bert.head, hidden, numbers, type), heads));
  // The pooler belongs to BERT's own encoder, elsewhere to the head of a classifier.
  const std::string pooler = pooler_name(family, bert.head);
  const bool pooler_is_own = pooler.starts_with("pooler.");
  const bool next = heads.count("next.weight") > 0;
  const bool needs_pooler = bert.head == EncoderHead::Class || bert.head == EncoderHead::Choice ||
                            (pooler_is_own && (bert.head == EncoderHead::None || next));
  for (const auto& [name, tensor] : to_hugging_face(
           encoder_names(bert.options.whole(), vocabulary, type, bert.head), bert.encoder)) {
    const bool is_pooler = name.starts_with(pooler);
    if (!is_pooler)
      theirs[prefix + name] = tensor;
    else if (needs_pooler)
      theirs[pooler_is_own ? prefix + name : name] = tensor;
  }
  return theirs;
}

Json tokeniser_config_of(const PretrainedBert& bert) {
  const PieceTokeniser& tokeniser = *bert.tokeniser;
  const PieceTokeniser::Special& special = tokeniser.special();
  Json config{{"tokenizer_class", "PreTrainedTokenizerFast"},
              {"model_max_length", bert.options.maximum_length}};
  const std::pair<const char*, int64_t> roles[] = {{"pad_token", special.padding},
                                                   {"unk_token", special.unknown},
                                                   {"cls_token", special.begin},
                                                   {"sep_token", special.separator},
                                                   {"mask_token", special.mask}};
  for (const auto& [role, id] : roles)
    if (id >= 0) config[role] = tokeniser.piece(id);
  const bool told = tokeniser.tells_segments() && bert.options.segments > 1;
  config["model_input_names"] = {"input_ids", "attention_mask"};
  if (told) config["model_input_names"].push_back("token_type_ids");
  const auto* words = dynamic_cast<const WordPiece*>(&tokeniser);
  if (words == nullptr) return config;
  const WordPieceOptions& o = words->options();
  config["tokenizer_class"] = "BertTokenizer";
  config["do_lower_case"] = o.lowercase;
  config["strip_accents"] = o.strip_accents ? Json(*o.strip_accents) : Json();
  config["tokenize_chinese_chars"] = o.split_ideographs;
  return config;
}

}  // namespace

void write_hugging_face(const std::filesystem::path& folder, const PretrainedBert& bert) {
  require(!std::filesystem::exists(folder / "config.json"), ErrorKind::InvalidArgument,
          folder.string(), ": holds a config.json already; choose another folder");
  const EncoderFamily& family = family_of(bert.options);
  AtomicFolder whole(folder);
  write_safetensors(whole.path() / "model.safetensors", weights_of(bert, family),
                    {{"format", "pt"}});
  if (const auto* words = dynamic_cast<const WordPiece*>(bert.tokeniser.get()))
    words->write_vocabulary(whole.path() / "vocab.txt");
  write_json_file(whole.path() / "tokenizer.json", bert.tokeniser->tokenizer_json());
  write_json_file(whole.path() / "tokenizer_config.json", tokeniser_config_of(bert));
  write_json_file(whole.path() / "config.json", encoder_config(bert, family));
  whole.commit();
}

}  // namespace fovea

#include "fovea/tasks/architectures.h"

#include "fovea/base/error.h"
#include "fovea/models/bert_names.h"

namespace fovea {

namespace {

// The table: one row for each network, but of encoders one for each head, whatever the family.
const Architecture kNetworks[] = {
    {"BertForPreTraining", "bert", "pretrain", "bert"},
    {"BertForNextSentencePrediction", "bert", "pretrain", "bert"},
    {"ElectraForPreTraining", "electra", "pretrain", "bert"},
    {"GPT2LMHeadModel", "gpt2", "language", "gpt2"},
    {"LlamaForCausalLM", "llama", "language", "llama"},
    {"MistralForCausalLM", "mistral", "language", "llama"},
    {"Qwen2ForCausalLM", "qwen2", "language", "llama"},
    {"T5ForConditionalGeneration", "t5", "translate", "t5"},
    {"MT5ForConditionalGeneration", "mt5", "translate", "t5"},
    {"ViTForImageClassification", "vit", "images", "vit"},
};
const Architecture kEncoderHeads[] = {
    {"Model", "", "pretrain", "bert"},
    {"ForMaskedLM", "", "pretrain", "bert"},
    {"ForSequenceClassification", "", "documents", "bert"},
    {"ForTokenClassification", "", "tag", "bert"},
    {"ForQuestionAnswering", "", "questions", "bert"},
    {"ForMultipleChoice", "", "choices", "bert"},
};

std::vector<Architecture> all_architectures() {
  std::vector<Architecture> all;
  for (const EncoderFamily& family : encoder_families())
    for (Architecture row : kEncoderHeads) {
      row.name = family.class_name + row.name;
      row.model_type = family.model_type;
      all.push_back(std::move(row));
    }
  all.insert(all.end(), std::begin(kNetworks), std::end(kNetworks));
  return all;
}

}  // namespace

const std::vector<Architecture>& architecture_table() {
  static const std::vector<Architecture> all = all_architectures();
  return all;
}

const Architecture& find_architecture(const HuggingFaceFolder& folder) {
  constexpr size_t kShown = 200;  // of a name, in a message
  const std::string name = folder.architecture(), type = folder.model_type();
  std::vector<std::string> known;
  for (const Architecture& row : architecture_table()) {
    const bool same_type = type.empty() || row.model_type == type;
    if (name.empty() ? row.model_type == type : row.name == name && same_type) return row;
    if (row.model_type == type) known.push_back(row.name);
  }
  if (known.empty())
    for (const Architecture& row : architecture_table()) known.push_back(row.name);
  fail(ErrorKind::Unsupported, folder.where(), ": model_type is ",
       type.empty() ? "none" : shorten_bytes(type, kShown), " and the architecture ",
       name.empty() ? "none" : shorten_bytes(name, kShown), suggestion(name, known),
       "; these are read: ", join(known));
}

}  // namespace fovea

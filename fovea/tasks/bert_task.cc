#include "fovea/tasks/bert_task.h"

#include "fovea/base/error.h"

namespace fovea {

void BertTask::load_pretrained(const std::filesystem::path& run_or_folder) {
  begin_with(read_pretrained(run_or_folder));
}

void BertTask::begin_with(PretrainedBert start) {
  take_sizes(encoder_options(), start);
  tokeniser() = start.tokeniser;
  start_ = std::move(start);
}

void BertTask::copy_pretrained(Model& model) const {
  if (start_) take_encoder(model, *start_);
}

Splits BertTask::noted(Splits splits) const {
  if (start_) splits.notes.insert(splits.notes.begin(), start_->notes.begin(), start_->notes.end());
  return splits;
}

TextInput read_text_input(const std::string& line) {
  if (!is_json_object(line)) return {line, {}};
  const Json json = parse_json(line, "input");
  const auto is_text = [&](const char* key) { return json.contains(key) && json[key].is_string(); };
  require(is_text("text") && (!json.contains("second") || is_text("second")), ErrorKind::BadData,
          "input: expected {\"text\": \"a text\"}, perhaps with a \"second\" text");
  TextInput input{json["text"].get<std::string>(), {}};
  if (json.contains("second")) input.second = json["second"].get<std::string>();
  return input;
}

}  // namespace fovea

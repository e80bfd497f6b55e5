#include "fovea/tasks/text_input.h"

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/formats/json_rows.h"

namespace fovea {

TextInput read_text_input(const std::string& line) {
  if (!is_json_object(line)) return {line, {}};
  const Json json = parse_json(line, "input");
  const auto is_text = [&](const char* key) { return json.contains(key) && json[key].is_string(); };
  if (!is_text("text") || (json.contains("second") && !is_text("second")))
    fail(ErrorKind::BadData,
         "input: expected {\"text\": \"a text\"}, perhaps with a \"second\" text; found the keys ",
         quoted_list(keys_of(json)));
  TextInput input{json["text"].get<std::string>(), {}};
  if (json.contains("second")) input.second = json["second"].get<std::string>();
  return input;
}

}  // namespace fovea

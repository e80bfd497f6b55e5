// The networks of Hugging Face's transformers that open as runs. Each name that "architectures" of
// config.json may have is a row of the table: which task answers with it, and which model of the
// task. A further network is a row here, and open_pretrained of the ModelSpec (model_spec.h) that
// the row names, which reads the folder (hugging_face_folder.h).
#pragma once

#include <string>
#include <vector>

#include "fovea/tasks/hugging_face_folder.h"

namespace fovea {

struct Architecture {
  std::string name;         // "BertForMaskedLM"
  std::string model_type;   // "bert"
  std::string task, model;  // of the catalogue, and its model.name
};

/// Where config.json names no architecture, the first row of its model_type counts.
const std::vector<Architecture>& architecture_table();

/// Unsupported for one that is not in the table, naming what was found and what is known.
const Architecture& find_architecture(const HuggingFaceFolder& folder);

}  // namespace fovea

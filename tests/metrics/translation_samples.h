// Texts whose scores are known: the example of sacrebleu's README, where they are printed, and the
// sections of tests/golden/translation.json.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/metrics/translation.h"

namespace fovea {

inline const std::vector<std::string> kDogOutputs = {
    "The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
inline const std::vector<References> kDogReferences = {
    {"The dog bit the man.", "The dog had bit the man."},
    {"It was not unexpected.", "No one was surprised."},
    {"The man bit him first.", "The man had bitten the dog."}};

inline Json translation_golden(const std::string& section) {
  return read_json_file(std::string(FOVEA_TEST_FILES) + "/golden/translation.json").at(section);
}

}  // namespace fovea

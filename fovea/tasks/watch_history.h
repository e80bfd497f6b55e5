// What a training has written so far, read by people who watch it: the server's board and the file
// that `fovea board --out` makes (docs/formats/board.md). Reads plain files of the run and nothing
// else, so that it does not matter whether the training still goes on.
#pragma once

#include <string>

#include "fovea/base/json.h"
#include "fovea/training/run_folder.h"

namespace fovea {

/// As in docs/formats/board.md. A folder without a run, a damaged line: the error says which.
Json training_history(const RunFolder& folder, const std::string& name);

/// Changes whenever training_history() would say something else.
std::string history_tag(const RunFolder& folder);

/// The explanation on a line of attention.jsonl, from 0, as JSON. NotFound where there is none.
std::string watched_attention(const RunFolder& folder, size_t line);

}  // namespace fovea

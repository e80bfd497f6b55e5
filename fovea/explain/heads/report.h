// What is known of a network's heads, for people and programs: a table, JSON, and heat maps of
// layers and heads as an Explanation, which every output of explain/ can draw.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "fovea/explain/heads/importance.h"
#include "fovea/explain/heads/statistics.h"
#include "fovea/explain/record/explanation.h"

namespace fovea {

struct HeadReport {
  std::vector<HeadStatistics> statistics;
  std::vector<HeadImportance> importance;  // of the same heads, or empty
  int64_t rows = 0;                        // measured on
  bool of_values = false;                  // the answers are numbers, so `drop` is a distance
};

/// A row per head.
TextTable head_table(const HeadReport& report);

/// {"rows", "heads": [{"map", "layer", "head", "importance", "drop", "entropy", …}]}; what was not
/// measured is left out.
Json heads_to_json(const HeadReport& report);

/// A heat map per measure and attention, layers downwards, heads to the right. With `everything`
/// all measures, else the importance alone (the entropy, where it was not measured).
Explanation explain_heads(const HeadReport& report, const std::string& title, bool everything);

}  // namespace fovea

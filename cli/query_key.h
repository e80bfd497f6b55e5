// fovea explain --query-key: the text that names a weight, and what it is made of as a table.
#pragma once

#include <string>

#include "fovea/explain/record/query_key.h"

namespace fovea::cli {

/// "[MAP.]LAYER.HEAD:QUERY,KEY", numbers from 1, as "encoder.2.1:5,7" or "2.1:5,7"; of attention
/// with one layer or head these are left out, "attention:5,7", ":5,7". Units may be labels. Errors
/// say what of the text is wrong, or which maps and units there are.
WeightPlace parse_weight_place(const std::string& text, const Explanation& explanation);

/// Lines for a terminal, each ending in a newline.
std::string query_key_table(const QueryKey& made);

/// The bars of the products, under the title and answer of the explanation they belong to.
Explanation picture_of(const QueryKey& made, const Explanation& explanation);

}  // namespace fovea::cli

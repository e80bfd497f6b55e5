// JSON from strangers. Stricter than core's parse_json: nesting and the number of keys have limits,
// a key may stand only once in an object, and there are no comments, no NaN, no Infinity. The text
// must be UTF-8. Memory grows with the text alone, and nothing here is recursive.
#pragma once

#include <cstddef>
#include <string_view>

#include "fovea/core/json.h"

namespace fovea::serving {

struct JsonLimits {
  size_t depth = 32;
  size_t keys = 10000;  // of one object: looking one up takes time in proportion
};

/// Throws HttpError 400 with the place of what is wrong.
Json parse_strictly(std::string_view text, const JsonLimits& limits = {});

}  // namespace fovea::serving

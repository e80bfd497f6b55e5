// The names that a model knows, of nodes, users, items or codes: a schema as tasks make it has them
// all (`"known": ["a", "b", …]` of a property), which may be a million. GET /v1/models shows the
// first ones and how many there are, POST /v1/names finds the others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fovea/base/json.h"

namespace fovea::serving {

/// How many names /v1/models shows of a property, and how many an answer of /v1/names holds.
inline constexpr size_t kNamesShown = 50;

class KnownNames {
 public:
  /// Takes the names out of a schema: `"known"` becomes {"count": …, "names": [the first ones]}.
  void take(Json& schema);

  /// Properties that have names.
  std::vector<std::string> properties() const;
  /// Names that hold the text, whatever its case: those that begin with it before the others, else
  /// in their own order. NotFound for a property without names.
  std::vector<std::string> find(const std::string& property, const std::string& text) const;

 private:
  std::map<std::string, std::vector<std::string>> names_;
};

}  // namespace fovea::serving

// One vector for an input: {"embedding": [numbers]}.
#pragma once

#include <string>

#include "fovea/tasks/outputs/output.h"

namespace fovea {

class EmbeddingOutput : public OutputKind {
 public:
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;
  bool embeds() const override { return true; }
};

}  // namespace fovea

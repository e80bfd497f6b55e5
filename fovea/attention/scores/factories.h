// One factory per file of this folder; score.cc lists them in its table. Nobody else includes this
// header.
#pragma once

#include <memory>

#include "fovea/attention/score.h"

namespace fovea {

using ScorePointer = std::shared_ptr<ScoreFunction>;

ScorePointer make_content(const ScoreOptions& options, const Random& random);
ScorePointer make_additive(const ScoreOptions& options, const Random& random);
ScorePointer make_location_base(const ScoreOptions& options, const Random& random);
ScorePointer make_general(const ScoreOptions& options, const Random& random);
ScorePointer make_dot(const ScoreOptions& options, const Random& random);
ScorePointer make_scaled_dot(const ScoreOptions& options, const Random& random);
ScorePointer make_location_aware(const ScoreOptions& options, const Random& random);

}  // namespace fovea

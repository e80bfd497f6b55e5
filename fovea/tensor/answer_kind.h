// What the answer to one row is, for data, networks and outputs that know several kinds.
#pragma once

#include <array>
#include <string>

namespace fovea {

/// One of several classes; any number of labels, each yes or no; a number.
enum class AnswerKind { Class, Labels, Number };

inline constexpr std::array<const char*, 3> kAnswerKinds = {"class", "labels", "number"};

inline const char* name_of(AnswerKind kind) {
  return kAnswerKinds[size_t(kind)];
}

}  // namespace fovea

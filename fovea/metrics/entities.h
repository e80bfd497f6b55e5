// How well entities were found, as conlleval counts them (Tjong Kim Sang & Buchholz 2000). A tag is
// O, or B-type or I-type (also E- and S-, which end an entity). An entity begins at B, at S, at any
// tag after O or after the end of another entity, and wherever the type changes: so I- without B-
// begins one too. It counts as found when its type and both ends are right:
//   precision = right / found    recall = right / true    F1 = 2 * precision * recall / their sum
// each 0 where nothing was found or nothing is there.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace fovea {

/// Tokens begin … end-1 of a sentence.
struct Entity {
  std::string type;
  int64_t begin = 0, end = 0;
  bool operator==(const Entity&) const = default;
};

using Tags = std::vector<std::string>;  // of one sentence

/// InvalidArgument for a tag that is neither O nor B-, I-, E-, S- with a type.
std::vector<Entity> to_entities(std::span<const std::string> tags);

struct EntityScore {
  int64_t right = 0, found = 0, wanted = 0;
  double precision() const;
  double recall() const;
  double f1() const;
};

struct EntityScores {
  EntityScore all;
  std::map<std::string, EntityScore> by_type;  // types that are found or wanted
  double token_accuracy = 0;                   // share of tokens with exactly the right tag
};

/// Over all sentences together. InvalidArgument when there is no token, or when outputs and targets
/// differ in their number of sentences or tokens.
EntityScores score_entities(std::span<const Tags> outputs, std::span<const Tags> targets);

}  // namespace fovea

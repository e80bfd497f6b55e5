// Embeddings of a trained network as points that can be drawn: those of its vocabularies, and of
// the rows of a data set, which are texts' embeddings where the task gives such, else the
// logarithms of the class probabilities: the last layer up to a constant for each row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/tasks/pipeline.h"

namespace fovea {

constexpr int64_t kMostPoints = 5000;

/// Points with a label each.
struct LabelledPoints {
  std::string name;                 // "tokens", "rows"
  std::vector<std::string> labels;  // N
  std::vector<std::string> groups;  // N or empty: what the points are coloured by
  at::Tensor vectors;               // [N, D]
  int64_t of = 0;                   // that there are; the first N of them are here
};

/// Which vocabularies the network has embeddings of: "tokens", "source", "target", …
std::vector<std::string> embedding_names(const Pipeline& pipeline);

/// The first `most` of one of these; `of` empty: of the first. NotFound and Unsupported say what
/// there is.
LabelledPoints vocabulary_points(const Pipeline& pipeline, const std::string& of,
                                 int64_t most = kMostPoints);

/// Of the first `most` rows. Unsupported for a task whose answers are neither embeddings nor one of
/// three classes or more.
LabelledPoints row_points(const Pipeline& pipeline, const Dataset& rows,
                          int64_t most = kMostPoints);

/// Points, their two principal components and nearest neighbours, docs/formats/embeddings.md.
Json points_to_json(const LabelledPoints& points, const Pipeline& pipeline);

/// What the server answers.
Json embeddings_json(const Pipeline& pipeline, const std::string& of);

}  // namespace fovea

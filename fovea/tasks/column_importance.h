// What the columns of a table are worth to a model, over many rows: where it looks, and how far
// each column moves its answers. The two may differ: a column that gets little attention may weigh
// much.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/tables/encoder.h"
#include "fovea/explain/record/explanation.h"
#include "fovea/models/model.h"
#include "fovea/tasks/model_spec.h"

namespace fovea {

/// Where a model looks on many rows.
struct RowAttention {
  at::Tensor rows;   // [N, C], the mean of heads or members; undefined for one without such a map
  at::Tensor heads;  // [H, C], the mean over the rows
};
RowAttention attention_of_rows(const Model& model, const Dataset& rows);

/// What each column adds to the answers to a batch: [B, C]. Empty where a network does not say.
using ColumnContributions = std::function<at::Tensor(const Model& model, const Batch& batch)>;

/// A model and the rows that it is judged by.
struct ModelAndRows {
  const Model& model;
  const Dataset& rows;
};

/// Where the model looks, and how far each column moves its answers.
Explanation importance_of_columns(const TableLayout& layout, const ExplainTitles& titles,
                                  const ModelAndRows& judged,
                                  const ColumnContributions& contributions);

/// The columns that matter most on average, in the order of the table: by attention, or by
/// contributions where there is none.
std::vector<std::string> most_important(const TableLayout& layout, const ModelAndRows& judged,
                                        const ColumnContributions& contributions, int64_t count);

}  // namespace fovea

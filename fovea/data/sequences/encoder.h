// Rows for the task `context`: a context label and P positions with a number each; the target is
// the number at the position that the context points to. The encoder, stored in the run, keeps the
// context labels and the position names. Tensors: "inputs" [N, P] float32, "context" [N] int64,
// "target" [N] float32. Numbers stay as they are unless `standardise` is yes; then one mean and
// deviation serve all positions and the target, so that the target still equals an input.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/named_cells.h"

namespace fovea {

/// How the rows are read; keys under data.
struct ContextOptions {
  std::string context;  // empty: a column called context
  std::string target;   // empty: a column called target, label, class or y
  std::string split;    // empty: a column called split whose cells are train, val, …, test
  std::vector<std::string> position_columns;  // empty: all other columns of numbers
  std::string standardise = "auto";
  double validation_fraction = 0.2;
  void describe(OptionList& list);
};

struct ContextLayout {
  std::vector<std::string> positions;  // [P]
  std::vector<std::string> contexts;   // in natural order
  std::vector<double> input_means;  // [P], over the training rows: what an erased position becomes
  std::string context, target;      // names of the columns
  double mean = 0, deviation = 1;   // target = deviation * encoded + mean
};

/// Context label -> the name of the position that it points to.
using ContextTruth = std::map<std::string, std::string>;

class ContextDataset : public ColumnDataset {
 public:
  ContextDataset(NamedTensors columns, std::shared_ptr<const ContextLayout> layout,
                 int64_t dropped_rows);
  Example example(int64_t row) const override;
  bool has_truth() const override { return !truth_.empty(); }
  void set_truth(const ContextTruth& truth);
  int64_t dropped_rows() const { return dropped_rows_; }  // rows of the file without a target

 private:
  std::shared_ptr<const ContextLayout> layout_;
  std::vector<at::Tensor> truth_;  // per context [1, P] bool, or undefined
  int64_t dropped_rows_;
};

class ContextEncoder {
 public:
  /// Learns labels and means from the training rows. standardise "auto" means no here.
  void fit(const CsvTable& train, const ContextOptions& options);
  bool fitted() const { return layout_ != nullptr; }

  Json to_json() const;
  static ContextEncoder from_json(const Json& json, const std::string& where = "context encoding");

  const ContextLayout& layout() const;
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& file_columns() const { return file_columns_; }

  /// Rows without a target are left out. NotFound for a missing column; BadData with path:line for
  /// an unseen context, a missing one, or text where a number is due.
  std::shared_ptr<ContextDataset> encode(const CsvTable& table) const;
  /// Every row, and no target: for prediction.
  std::shared_ptr<ContextDataset> encode_inputs(const CsvTable& table) const;

  /// One raw row for prediction, with labelled axes and no target.
  Example encode_row(const NamedCells& row) const;
  /// Cells in the order of the training file, with or without the target, or the context followed
  /// by the positions.
  Example encode_row(const std::vector<std::string>& cells) const;

 private:
  void finish(ContextLayout layout);
  int64_t context_index(std::string_view cell, const std::string& place) const;
  float position_value(std::string_view cell, size_t position, bool& valid) const;
  NamedTensors encode_columns(const CsvTable& table) const;
  std::shared_ptr<const ContextLayout> layout_;
  std::unordered_map<std::string, int64_t> context_index_;
  std::vector<std::string> file_columns_, notes_;
};

}  // namespace fovea

// Pictures with captions, as the task `caption` sees them: all pictures of a split in memory as
// bytes of one size, captions as symbols. In training every caption is a row; elsewhere every
// picture is one, with all its captions as references.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/captions/reader.h"
#include "fovea/data/dataset.h"
#include "fovea/data/images/image.h"
#include "fovea/data/target_text.h"

namespace fovea {

/// One row, without its picture.
struct CaptionRow {
  int64_t image = 0;                    // which of the split's pictures
  std::vector<std::string> references;  // the first is what training aims at
  TargetText target;                    // the first
  std::vector<CaptionBox> boxes;
};

/// How pictures become examples.
struct PictureReading {
  int64_t image_size = 64;
  std::string fit = "stretch";
  int64_t grid = 8;  // cells of a side: the model's
};

class CaptionDataset : public Dataset {
 public:
  /// images uint8 [I, 3, S, S]. BadData for rows that point elsewhere.
  CaptionDataset(at::Tensor images, std::vector<CaptionRow> rows, PictureReading options);

  int64_t size() const override { return int64_t(rows_.size()); }
  int64_t length(int64_t row) const override { return int64_t(row_at(row).target.ids.size()) + 1; }
  /// Tensor "image" uint8 [3, S, S]; axis "cells" over the medium "picture"; truth "attention"
  /// [T + 1, cells] where boxes are known.
  Example example(int64_t row) const override;
  /// "image" uint8 [B, 3, S, S], "target" int64 [B, T] ending in kEnd and padded, "target.keep".
  Batch batch(std::span<const int64_t> rows) const override;

  std::vector<std::string> references(int64_t row) const override { return row_at(row).references; }
  std::vector<int64_t> target_ids(int64_t row) const { return row_at(row).target.with_end(); }
  bool has_truth() const override;
  /// bool [T + 1, cells]: which cells show what each symbol names; no cell for the others, and for
  /// the end.
  at::Tensor truth(int64_t row) const;
  NamedTensors planted_truth(int64_t row) const override;
  Image image(int64_t row) const;
  Json input(int64_t row) const override;
  void prepare(PreparedWriter& writer, int split) const override;

  const at::Tensor& images() const { return images_; }
  const std::vector<CaptionRow>& rows() const { return rows_; }

 private:
  const CaptionRow& row_at(int64_t row) const;
  at::Tensor images_;
  std::vector<CaptionRow> rows_;
  PictureReading options_;
};

/// A picture of any size as an example: the tensor in the model's size, the medium as it came, not
/// wider or higher than 640 pixels.
Example example_of(const Image& image, const PictureReading& options);

/// Cells [grid * grid] of which the box covers at least a quarter, and the one that it covers most.
std::vector<bool> cells_of(const CaptionBox& box, int64_t grid);

}  // namespace fovea

#include "fovea/data/captions/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/formats/read_image.h"
#include "fovea/data/images/erase_cells.h"
#include "fovea/data/images/resize.h"
#include "fovea/data/media_input.h"

namespace fovea {

namespace {

constexpr int64_t kLongestShown = 640;  // pixels of a shown picture's side
constexpr double kCoveredEnough = 0.25;

/// As it is looked at: all of it or its middle, as the model sees it, but not as small.
Image shown(const Image& image, const PictureReading& options) {
  const int64_t longest = std::max(image.height, image.width);
  if (options.fit == "crop") {
    const int64_t side = std::min({image.height, image.width, kLongestShown});
    return resize_and_crop(image, side, side);
  }
  if (longest <= kLongestShown) return image;
  const auto shrunk = [&](int64_t side) {
    return std::max<int64_t>(1, side * kLongestShown / longest);
  };
  return resize(image, shrunk(image.height), shrunk(image.width));
}

Medium medium_of(const Image& image) {
  return {"picture",   "image/png",  encode_png(image),
          image.width, image.height, concat("a picture of ", image.width, " x ", image.height)};
}

/// Length of the overlap of two stretches.
double overlap(double begin, double end, double other_begin, double other_end) {
  return std::max(0.0, std::min(end, other_end) - std::max(begin, other_begin));
}

}  // namespace

std::vector<bool> cells_of(const CaptionBox& box, int64_t grid) {
  std::vector<double> covered;
  const double side = 1.0 / double(grid);
  for (int64_t row = 0; row < grid; ++row)
    for (int64_t column = 0; column < grid; ++column) {
      const double left = double(column) * side, top = double(row) * side;
      covered.push_back(overlap(left, left + side, box.left, box.right) *
                        overlap(top, top + side, box.top, box.bottom) / (side * side));
    }
  const double most = *std::max_element(covered.begin(), covered.end());
  std::vector<bool> cells;
  for (const double share : covered)
    cells.push_back(share > 0 && (share >= kCoveredEnough || share == most));
  return cells;
}

Example example_of(const Image& image, const PictureReading& options) {
  Example example;
  example.tensors["image"] =
      tensor_of(fit_image(image, options.image_size, options.image_size, options.fit));
  example.axes.push_back(cell_axis("cells", options.grid, options.grid, "picture"));
  if (can_read_images()) example.media.push_back(medium_of(shown(image, options)));
  const int64_t side = options.image_size;
  const int64_t left_out = pixels_left_out(image, side, side, options.fit);
  example.add_cut("pixels", image.height * image.width - left_out, left_out);
  return example;
}

CaptionDataset::CaptionDataset(at::Tensor images, std::vector<CaptionRow> rows,
                               PictureReading options)
    : images_(std::move(images)), rows_(std::move(rows)), options_(std::move(options)) {
  const int64_t side = options_.image_size;
  require(images_.dim() == 4 && images_.scalar_type() == at::kByte && images_.size(1) == 3 &&
              images_.size(2) == side && images_.size(3) == side,
          ErrorKind::BadData, "the pictures are ", images_.sizes(), "; expected bytes [n, 3, ",
          side, ", ", side, "]");
  for (const CaptionRow& row : rows_) {
    require(row.image >= 0 && row.image < images_.size(0), ErrorKind::BadData, "a caption names ",
            "picture ", row.image, " of ", images_.size(0));
    const size_t ids = row.target.ids.size(), spans = row.target.spans.size();
    require(!row.references.empty() && ids == spans, ErrorKind::BadData, "a picture has ",
            row.references.size(), " captions, ", ids, " symbols and ", spans, " places of them");
  }
}

const CaptionRow& CaptionDataset::row_at(int64_t row) const {
  require(row >= 0 && row < size(), ErrorKind::InvalidArgument, "there is no row ", row, " among ",
          size());
  return rows_[size_t(row)];
}

bool CaptionDataset::has_truth() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const CaptionRow& row) { return !row.boxes.empty(); });
}

at::Tensor CaptionDataset::truth(int64_t row) const {
  const CaptionRow& own = row_at(row);
  std::vector<TextUnits> known;
  for (const CaptionBox& box : own.boxes)
    known.push_back({{box.begin, box.end}, cells_of(box, options_.grid)});
  return target_truth(own.target, known, options_.grid * options_.grid);
}

NamedTensors CaptionDataset::planted_truth(int64_t row) const {
  return row_at(row).boxes.empty() ? NamedTensors() : NamedTensors{{"attention", truth(row)}};
}

Image CaptionDataset::image(int64_t row) const {
  return image_of(images_[row_at(row).image]);
}

Json CaptionDataset::input(int64_t row) const {
  return can_read_images() ? image_input(encode_png(image(row))) : Json();
}

Example CaptionDataset::example(int64_t row) const {
  Example example = example_of(image(row), options_);
  example.truth = planted_truth(row);
  return example;
}

Batch CaptionDataset::batch(std::span<const int64_t> rows) const {
  Batch batch{{}, int64_t(rows.size())};
  std::vector<int64_t> pictures;
  std::vector<const TargetText*> targets;
  for (const int64_t row : rows) {
    pictures.push_back(row_at(row).image);
    targets.push_back(&row_at(row).target);
  }
  const at::Tensor index = at::from_blob(pictures.data(), {batch.size}, at::kLong);
  batch.tensors["image"] = images_.index_select(0, index);  // [B, 3, S, S]
  std::tie(batch.tensors["target"], batch.tensors["target.keep"]) = pad_targets(targets);
  return batch;
}

}  // namespace fovea

#include "fovea/data/images/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/data/formats/read_image.h"
#include "fovea/data/images/erase_cells.h"
#include "fovea/data/media_input.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

constexpr int64_t kCellPixels = 4, kMostCells = 16;  // of a cell's side; in each direction
constexpr uint8_t kDark = 63;                        // brighter pixels belong to the object
constexpr int64_t kRowsTogether = 64;                // of a batch that one thread draws
constexpr int64_t kBoxNumbers = 4;
constexpr const char *kPicture = "picture", *kCells = "cells", *kPatches = "patches";

int64_t grid_of(int64_t pixels) {
  return std::clamp<int64_t>((pixels + kCellPixels / 2) / kCellPixels, 1, kMostCells);
}

/// A rectangle of a picture, laid over another one: the brighter pixel stays.
struct Overlay {
  const uint8_t* from;  // its first pixel
  uint8_t* to;
  int64_t height, width, from_width, to_width;

  void draw() const {
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        uint8_t& pixel = to[y * to_width + x];
        pixel = std::max(pixel, from[y * from_width + x]);
      }
  }
};

}  // namespace

void ViewOptions::describe(OptionList& list) {
  list.add("view", view,
           "plain: the picture as it is; translated: at a random place of a black canvas; "
           "cluttered: there, among pieces of other pictures")
      .choices({"plain", "translated", "cluttered"});
  list.add("canvas", canvas, "translated, cluttered: pixels of the canvas in each direction")
      .within(1, 4096);
  list.add("clutter", clutter, "cluttered: pieces of other pictures").within(0, 1000);
  list.add("clutter_size", clutter_size, "cluttered: pixels of a piece in each direction")
      .within(1, 4096);
}

int64_t PictureShape::grid_rows() const {
  return grid_of(height);
}

int64_t PictureShape::grid_columns() const {
  return grid_of(width);
}

PictureShape shape_of_views(const PictureShape& pictures, const ViewOptions& options) {
  if (options.is_plain()) return pictures;
  require(options.canvas >= pictures.height && options.canvas >= pictures.width,
          ErrorKind::InvalidArgument, "data.canvas=", options.canvas, " is too small for pictures ",
          "of ", pictures.height, " x ", pictures.width, " pixels");
  require(options.view != "cluttered" ||
              (options.clutter_size <= pictures.height && options.clutter_size <= pictures.width),
          ErrorKind::InvalidArgument, "data.clutter_size=", options.clutter_size,
          " is more than the pictures have, ", pictures.height, " x ", pictures.width, " pixels");
  return {pictures.channels, options.canvas, options.canvas};
}

/// A class token, then the patches.
Axis patch_axis(int64_t rows, int64_t columns) {
  Axis axis = cell_axis(kPatches, rows, columns, kPicture);
  axis.kind = "patch";
  axis.labels.insert(axis.labels.begin(), "class token");
  axis.special = {0};
  return axis;
}

Example PictureEncoder::example(const at::Tensor& picture, const Image* shown) const {
  require(picture.sizes() == at::IntArrayRef({shape.channels, shape.height, shape.width}),
          ErrorKind::Internal, "a picture of shape ", picture.sizes(), " where ", shape.channels,
          " x ", shape.height, " x ", shape.width, " is expected");
  Example example;
  example.tensors["image"] = picture;
  Axis steps{"glimpses", "step", {}};
  for (int64_t step = 1; step <= glimpses; ++step) steps.labels.push_back(concat("glimpse ", step));
  Axis whole{kPicture, "cell", {kPicture}};
  whole.media = kPicture;
  if (glimpses > 0) example.axes.push_back(std::move(steps));
  if (patch_rows > 0) {
    example.axes.push_back(patch_axis(patch_rows, patch_columns));
  } else {
    example.axes.push_back(std::move(whole));
    example.axes.push_back(cell_axis(kCells, shape.grid_rows(), shape.grid_columns(), kPicture));
  }
  if (can_read_images()) {
    const Image seen = shown ? *shown : image_of(picture);
    example.media.push_back({kPicture, "image/png", encode_png(seen), seen.width, seen.height,
                             "The picture that was looked at."});
  }
  return example;
}

void PictureEncoder::plant_truth(const Box& box, Example& example) const {
  if (glimpses == 0) return;
  const int64_t rows = shape.grid_rows(), columns = shape.grid_columns();
  const auto touches = [](double low, double high, int64_t cell, int64_t cells) {
    return low * double(cells) < double(cell + 1) && high * double(cells) > double(cell);
  };
  const at::Tensor keep = at::zeros({rows * columns}, at::kBool);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      keep.data_ptr<bool>()[row * columns + column] =
          touches(box.top, box.bottom, row, rows) && touches(box.left, box.right, column, columns);
  example.truth["looks"] = keep.unsqueeze(0).repeat({glimpses, 1});  // [T, cells]
}

Example PictureEncoder::erase(const Example& example, const std::string& axis,
                              std::span<const int64_t> units) const {
  const char* own = patch_rows > 0 ? kPatches : kCells;
  require(axis == own, ErrorKind::Unsupported, "units of the axis '", axis,
          "' cannot be erased; those of '", own, "' can");
  if (patch_rows == 0) return erase_cells(example, "image", example.axis(own), units);
  std::vector<int64_t> cells;
  for (const int64_t unit : units)
    if (unit != 0) cells.push_back(unit - 1);
  return erase_cells(example, "image", example.axis(own), cells);
}

ImageDataset::ImageDataset(const at::Tensor& pixels, std::vector<int64_t> targets,
                           const ViewOptions& options, PictureEncoder encoder, const Random& random,
                           bool knows_objects)
    : pixels_(pixels.contiguous()),
      targets_(std::move(targets)),
      options_(options),
      encoder_(encoder),
      random_(random),
      knows_objects_(knows_objects) {
  pictures_ = {pixels.size(1), pixels.size(2), pixels.size(3)};
  require(shape_of_views(pictures_, options_) == encoder_.shape, ErrorKind::BadData, "pictures of ",
          pictures_.channels, " x ", pictures_.height, " x ", pictures_.width,
          " (channels, height, width) do not become the ", encoder_.shape.channels, " x ",
          encoder_.shape.height, " x ", encoder_.shape.width, " that the network sees");
  if (!knows_objects_) return;
  for (int64_t row = 0; row < size(); ++row) ink_.push_back(ink_of(row));
}

ImageDataset::Ink ImageDataset::ink_of(int64_t row) const {
  const auto [channels, height, width] = pictures_;
  const uint8_t* pixel = pixels_.data_ptr<uint8_t>() + row * channels * height * width;
  Ink ink{width, height, 0, 0};
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        if (*pixel++ > kDark)
          ink = {std::min(ink.left, x), std::min(ink.top, y), std::max(ink.right, x + 1),
                 std::max(ink.bottom, y + 1)};
  return ink.right == 0 ? Ink{0, 0, width, height} : ink;  // all dark: it may be anywhere
}

Box ImageDataset::draw_view(int64_t row, const Random& random, uint8_t* view) const {
  const auto [channels, height, width] = pictures_;
  const PictureShape& shape = encoder_.shape;
  const uint8_t* picture = pixels_.data_ptr<uint8_t>() + row * channels * height * width;
  int64_t left = 0, top = 0;
  if (options_.is_plain()) {
    std::memcpy(view, picture, size_t(channels * height * width));
  } else {
    left = int64_t(random.below(0, uint64_t(shape.width - width + 1)));
    top = int64_t(random.below(1, uint64_t(shape.height - height + 1)));
    if (options_.view == "cluttered") draw_clutter(row, random.split("clutter"), view);
    for (int64_t channel = 0; channel < channels; ++channel)
      Overlay{picture + channel * height * width,
              view + (channel * shape.height + top) * shape.width + left,
              height,
              width,
              width,
              shape.width}
          .draw();
  }
  if (!knows_objects_) return {};
  const Ink& ink = ink_[size_t(row)];
  return {double(left + ink.left) / double(shape.width),
          double(top + ink.top) / double(shape.height),
          double(left + ink.right) / double(shape.width),
          double(top + ink.bottom) / double(shape.height)};
}

void ImageDataset::draw_clutter(int64_t row, const Random& random, uint8_t* view) const {
  const auto [channels, height, width] = pictures_;
  const PictureShape& shape = encoder_.shape;
  const int64_t piece = options_.clutter_size;
  uint64_t next = 0;
  const auto draw = [&](int64_t bound) { return int64_t(random.below(next++, uint64_t(bound))); };
  for (int64_t i = 0; i < options_.clutter && size() > 1; ++i) {
    const int64_t other = (row + 1 + draw(size() - 1)) % size();
    const int64_t from_y = draw(height - piece + 1), from_x = draw(width - piece + 1);
    const int64_t to_y = draw(shape.height - piece + 1), to_x = draw(shape.width - piece + 1);
    const uint8_t* picture = pixels_.data_ptr<uint8_t>() + other * channels * height * width;
    for (int64_t channel = 0; channel < channels; ++channel)
      Overlay{picture + (channel * height + from_y) * width + from_x,
              view + (channel * shape.height + to_y) * shape.width + to_x,
              piece,
              piece,
              width,
              shape.width}
          .draw();
  }
}

Batch ImageDataset::batch_of(std::span<const int64_t> rows, const Draws& draws) const {
  const PictureShape& shape = encoder_.shape;
  const int64_t count = int64_t(rows.size());
  const int64_t numbers = shape.channels * shape.height * shape.width;
  for (const int64_t row : rows)
    require(row >= 0 && row < size(), ErrorKind::InvalidArgument, "row ", row, " is not in 0 … ",
            size() - 1);
  at::Tensor image = at::zeros({count, shape.channels, shape.height, shape.width}, at::kByte);
  at::Tensor target = at::empty({count}, at::kLong), box = at::empty({count, kBoxNumbers});
  run_parallel((count + kRowsTogether - 1) / kRowsTogether, [&](int64_t slice) {
    const int64_t end = std::min(count, (slice + 1) * kRowsTogether);
    for (int64_t i = slice * kRowsTogether; i < end; ++i) {
      const int64_t row = rows[size_t(i)];
      const Box own = draw_view(row, draws[size_t(i)], image.data_ptr<uint8_t>() + i * numbers);
      target.data_ptr<int64_t>()[i] = targets_[size_t(row)];
      const float sides[kBoxNumbers] = {float(own.left), float(own.top), float(own.right),
                                        float(own.bottom)};
      std::copy_n(sides, kBoxNumbers, box.data_ptr<float>() + i * kBoxNumbers);
    }
  });
  Batch batch{{{"image", image}, {"target", target}}, count};
  if (knows_objects_) batch.tensors["box"] = box;
  return batch;
}

Batch ImageDataset::batch(std::span<const int64_t> rows) const {
  Draws draws;
  for (const int64_t row : rows) draws.push_back(random_.split(uint64_t(row)));
  return batch_of(rows, draws);
}

Batch ImageDataset::augmented_batch(std::span<const int64_t> rows, const Random& random) const {
  Draws draws;
  for (size_t i = 0; i < rows.size(); ++i) draws.push_back(random.split(i));
  return batch_of(rows, draws);
}

Json ImageDataset::input(int64_t row) const {
  if (!can_read_images()) return {};
  return image_input(encode_png(image_of(batch({&row, 1}).at("image")[0])));
}

Example ImageDataset::example(int64_t row) const {
  const Batch alone = batch({&row, 1});
  Example example = encoder_.example(alone.at("image")[0]);
  example.tensors["target"] = alone.at("target")[0];
  if (!knows_objects_) return example;
  const float* sides = alone.at("box").data_ptr<float>();
  example.tensors["box"] = alone.at("box")[0];
  encoder_.plant_truth({sides[0], sides[1], sides[2], sides[3]}, example);
  return example;
}

}  // namespace fovea

#include "fovea/data/captions/load.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/images/resize.h"
#include "fovea/data/prepared.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// Pictures of each split, uint8 [I, 3, S, S].
using SplitPictures = std::array<at::Tensor, kSplitCount>;

/// Without the rows whose pictures cannot be read.
void leave_out_bad(const std::vector<bool>& bad, std::vector<CaptionedImage>& rows,
                   at::Tensor& pictures) {
  std::vector<CaptionedImage> good;
  std::vector<at::Tensor> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (bad[i]) continue;
    good.push_back(std::move(rows[i]));
    kept.push_back(pictures[int64_t(i)]);
  }
  rows = std::move(good);
  pictures = kept.empty() ? pictures.slice(0, 0, 0) : at::stack(kept);  // [I, 3, S, S]
}

/// Reads the pictures' files, side by side; synthetic ones are there already.
SplitPictures read_pictures(SplitRows<CaptionedImage>& rows, const CaptionsDataOptions& options,
                            const LoadProgress& progress, Notes& notes) {
  const int64_t side = options.image_size;
  SplitPictures pictures;
  struct Place {
    const CaptionedImage* row;
    at::Tensor pixels;
  };
  std::vector<Place> files;
  for (int split = 0; split < kSplitCount; ++split) {
    at::Tensor& own = pictures[size_t(split)];
    own = at::empty({rows[split].size(), 3, side, side}, at::kByte);
    for (size_t i = 0; i < rows[split].keep().size(); ++i) {
      const CaptionedImage& row = rows[split][i];
      if (row.drawn.pixels.empty())
        files.push_back({&row, own[int64_t(i)]});
      else
        own[int64_t(i)].copy_(tensor_of(row.drawn));
    }
  }
  std::atomic<int64_t> animated = 0;
  const std::vector<bool> bad = read_files(
      int64_t(files.size()),
      [&](int64_t i) {
        const Image image = read_image(files[size_t(i)].row->image, options.reading());
        animated += image.animated;
        files[size_t(i)].pixels.copy_(tensor_of(fit_image(image, side, side, options.fit)));
      },
      [&](int64_t i) { return files[size_t(i)].row->place; }, progress, options.max_bad_share,
      notes);
  if (std::count(bad.begin(), bad.end(), true) > 0) {  // then all rows have files
    auto from = bad.begin();
    for (int split = 0; split < kSplitCount; ++split) {
      const auto to = from + std::ptrdiff_t(rows[split].size());
      leave_out_bad({from, to}, rows[split].keep(), pictures[size_t(split)]);
      from = to;
    }
  }
  if (animated > 0)
    notes.push_back(
        concat(format_count(animated), " pictures are animated; the first of each was taken"));
  return pictures;
}

CaptionRow encode_row(int64_t image, std::vector<std::string> references,
                      std::vector<CaptionBox> boxes, const Tokeniser& tokeniser) {
  TargetText target = encode_target(references[0], tokeniser);
  return {image, std::move(references), std::move(target), std::move(boxes)};
}

/// In training every caption is a row of its own.
std::vector<CaptionRow> encode_rows(std::vector<CaptionedImage> images, Split split,
                                    const Tokeniser& tokeniser) {
  std::vector<CaptionRow> rows;
  for (size_t i = 0; i < images.size(); ++i) {
    CaptionedImage& own = images[i];
    if (split != kTrain) {
      rows.push_back(
          encode_row(int64_t(i), std::move(own.captions), std::move(own.boxes), tokeniser));
      continue;
    }
    for (size_t c = 0; c < own.captions.size(); ++c)
      rows.push_back(encode_row(int64_t(i), {own.captions[c]},
                                c == 0 ? own.boxes : std::vector<CaptionBox>(), tokeniser));
  }
  return rows;
}

void learn_captions(const Rows<CaptionedImage>& train, const CaptionsDataOptions& options,
                    CaptionCoding& coding) {
  std::vector<std::string> texts;
  for (const CaptionedImage& image : train)
    texts.insert(texts.end(), image.captions.begin(), image.captions.end());
  coding.tokeniser = Tokeniser::learn(options.tokeniser, texts);
  for (const std::string& text : texts)
    coding.longest = std::max(coding.longest, int64_t(coding.tokeniser->encode(text).size()) + 1);
}

}  // namespace

void CaptionsDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("image_size", image_size, "pixels of a side: all pictures are brought to it")
      .within(8, 1024);
  list.add("fit", fit, "pictures of other shapes: stretched, or their middle cut out")
      .choices(fit_names());
  list.add(
      "images", images,
      "where a row's picture lies, {} being its cell: png/{}.png; empty: the cell is the path");
  tokeniser.describe(list, "caption");
  describe_held_out(list, validation_fraction, "training pictures");
  describe_quotes(list, quotes);
  list.add("largest_image", largest_image, "pictures with more pixels are refused").at_least(1);
  describe_bad_share(list, max_bad_share);
}

ReadImageOptions CaptionsDataOptions::reading() const {
  ReadImageOptions reading;
  reading.largest_image = largest_image;
  return reading;
}

Splits load_captions(const DataSource& source, const CaptionsDataOptions& options,
                     CaptionCoding& coding, const CaptionLoading& loading) {
  const bool synthetic = source.path.empty(), learns = coding.tokeniser == nullptr;
  if (synthetic || is_prepared(source.path)) check_roles(source, {});
  if (is_prepared(source.path))
    return read_prepared_captions(source.path, options, coding, loading.grid);
  const SplitOptions split{"caption", options.validation_fraction, loading.seed, learns};
  SplitRows<CaptionedImage> rows =
      synthetic ? draw_captions(options.generator, options.image_size)
                : open_captions(source, split, {{}, options.images, options.quotes});
  SplitPictures pictures;
  const auto fit = [&](SplitRows<CaptionedImage>& read, Notes& notes) {
    pictures = read_pictures(read, options, loading.progress, notes);
    if (learns) learn_captions(read.train, options, coding);
    notes.push_back(concat("captions: ", coding.tokeniser->kind(), ", ",
                           format_count(coding.tokeniser->vocabulary().size()), " symbols"));
  };
  return encode_splits(rows, fit, [&](Rows<CaptionedImage> images, Split own, Notes&) {
    return std::make_shared<CaptionDataset>(
        pictures[size_t(own)], encode_rows(images.take(), own, *coding.tokeniser),
        PictureReading{options.image_size, options.fit, loading.grid});
  });
}

void write_captions_data(const fs::path& folder, const CaptionsDataOptions& options) {
  const SplitRows<CaptionedImage> drawn = draw_captions(options.generator, options.image_size);
  write_splits(
      folder, drawn, ".tsv", [&](const std::vector<CaptionedImage>& rows, const std::string& name) {
        make_folder(folder / name);
        std::string table = "image\tcaption\tboxes\n";
        for (size_t i = 0; i < rows.size(); ++i) {
          const std::string picture = concat(name, "/", i + 1, ".png");
          write_file(folder / picture, encode_png(rows[i].drawn));
          table +=
              concat(picture, "\t", rows[i].captions[0], "\t", format_boxes(rows[i].boxes), "\n");
        }
        return table;
      });
  write_description(folder, "caption", options_json(options.generator));
}

}  // namespace fovea

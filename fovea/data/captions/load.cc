#include "fovea/data/captions/load.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/images/resize.h"
#include "fovea/data/prepared.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// A part, read: pictures and what is said of them.
struct Captioned {
  at::Tensor images;  // uint8 [I, 3, S, S]
  std::vector<std::vector<std::string>> captions;
  std::vector<std::vector<CaptionBox>> boxes;
};

at::Tensor room_for(size_t pictures, int64_t side) {
  return at::empty({int64_t(pictures), 3, side, side}, at::kByte);
}

/// Every picture in its place, side by side. What went wrong first, in the order of the rows, is
/// thrown, whichever thread met it.
class PictureReader {
 public:
  PictureReader(const CaptionsDataOptions& options, const CaptionLoading& loading, int64_t total)
      : options_(options), loading_(loading), total_(total) {}

  at::Tensor read(const std::vector<CaptionedImage>& rows) {
    at::Tensor images = room_for(rows.size(), options_.image_size);
    std::vector<std::optional<Error>> errors(rows.size());
    run_parallel(int64_t(rows.size()), [&](int64_t row) {
      try {
        images[row].copy_(tensor_of(picture_of(rows[size_t(row)])));
      } catch (const Error& error) {
        errors[size_t(row)] = error;
      }
      tell();
    });
    for (size_t row = 0; row < rows.size(); ++row)
      if (errors[row]) fail(errors[row]->kind(), rows[row].place, ": ", errors[row]->what());
    return images;
  }

  int64_t animated() const { return animated_; }

 private:
  Image picture_of(const CaptionedImage& row) {
    const Image image = read_image(row.image, options_.reading());
    if (image.animated) {
      const std::lock_guard lock(telling_);
      ++animated_;
    }
    return fit_image(image, options_.image_size, options_.image_size, options_.fit);
  }

  void tell() {
    const std::lock_guard lock(telling_);
    ++done_;
    if (loading_.progress) loading_.progress(done_, total_);
  }

  const CaptionsDataOptions& options_;
  const CaptionLoading& loading_;
  int64_t total_, done_ = 0, animated_ = 0;
  std::mutex telling_;
};

Captioned captioned(at::Tensor images, std::vector<CaptionedImage>& rows) {
  Captioned part{std::move(images), {}, {}};
  for (CaptionedImage& row : rows) {
    part.captions.push_back(std::move(row.captions));
    part.boxes.push_back(std::move(row.boxes));
  }
  return part;
}

Captioned captioned(std::vector<DrawnScene>& scenes, int64_t side) {
  Captioned part{room_for(scenes.size(), side), {}, {}};
  for (size_t i = 0; i < scenes.size(); ++i) {
    part.images[int64_t(i)].copy_(tensor_of(scenes[i].image));
    part.captions.push_back({std::move(scenes[i].caption)});
    part.boxes.push_back(std::move(scenes[i].boxes));
  }
  return part;
}

CaptionRow encode_row(int64_t image, std::vector<std::string> references,
                      std::vector<CaptionBox> boxes, const Tokeniser& tokeniser) {
  CaptionRow row{image, std::move(references), {}, {}, std::move(boxes)};
  for (const Token& token : tokeniser.encode(row.references[0])) {
    row.ids.push_back(token.id);
    row.spans.push_back({int64_t(token.begin), int64_t(token.end)});
  }
  return row;
}

/// In training every caption is a row of its own.
std::vector<CaptionRow> encode_rows(Captioned& part, int kind, const Tokeniser& tokeniser) {
  std::vector<CaptionRow> rows;
  for (size_t i = 0; i < part.captions.size(); ++i) {
    std::vector<std::string>& captions = part.captions[i];
    if (kind != kTrain) {
      rows.push_back(
          encode_row(int64_t(i), std::move(captions), std::move(part.boxes[i]), tokeniser));
      continue;
    }
    for (size_t c = 0; c < captions.size(); ++c)
      rows.push_back(encode_row(int64_t(i), {captions[c]},
                                c == 0 ? part.boxes[i] : std::vector<CaptionBox>(), tokeniser));
  }
  return rows;
}

void learn(const Captioned& train, const CaptionsDataOptions& options, CaptionCoding& coding) {
  std::vector<std::string> texts;
  for (const auto& captions : train.captions)
    texts.insert(texts.end(), captions.begin(), captions.end());
  coding.tokeniser =
      Tokeniser::learn({options.tokens, options.vocabulary_size, options.minimum_count}, texts);
  for (const std::string& text : texts)
    coding.longest = std::max(coding.longest, int64_t(coding.tokeniser->encode(text).size()) + 1);
}

struct Parts {
  std::array<Captioned, kSplitCount> parts;
  std::string hash;
  std::vector<std::string> notes;
};

Parts draw_parts(const CaptionsDataOptions& options) {
  ScenesDraw draw = draw_scenes(options.generator, options.image_size);
  Json decided = options_json(options.generator);
  decided["image_size"] = options.image_size;
  return {
      {captioned(draw.train, options.image_size), captioned(draw.validation, options.image_size),
       captioned(draw.test, options.image_size)},
      hash_of_built_in("caption", decided),
      std::move(draw.notes)};
}

Parts open_parts(const DataSource& source, const CaptionsDataOptions& options, bool needs_training,
                 const CaptionLoading& loading) {
  const SplitOptions split{.task = "caption",
                           .fraction = options.validation_fraction,
                           .seed = loading.seed,
                           .needs_training = needs_training};
  CaptionsFileOptions reading;
  reading.images = options.images;
  reading.quotes = options.quotes;
  SplitRows<CaptionedImage> texts = open_captions(source, split, reading);
  const size_t total = texts.train.size() + texts.validation.size() + texts.test.size();
  PictureReader reader(options, loading, int64_t(total));
  Parts parts;
  for (int part = 0; part < kSplitCount; ++part) {
    at::Tensor images = reader.read(texts[part]);
    parts.parts[size_t(part)] = captioned(std::move(images), texts[part]);
  }
  parts.hash = texts.hash;
  parts.notes = std::move(texts.notes);
  if (reader.animated() > 0)
    parts.notes.push_back(concat(format_count(reader.animated()),
                                 " pictures are animated; the first of each was taken"));
  return parts;
}

}  // namespace

void CaptionsDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("image_size", image_size, "pixels of a side: all pictures are brought to it")
      .at_least(8)
      .at_most(1024);
  list.add("fit", fit, "pictures of other shapes: stretched, or their middle cut out")
      .choices(fit_names());
  list.add(
      "images", images,
      "where a row's picture lies, {} being its cell: png/{}.png; empty: the cell is the path");
  list.add("tokens", tokens, "what a caption is cut into").choices(tokeniser_kinds());
  list.add("vocabulary_size", vocabulary_size,
           "most symbols; 0: no limit (unigram and bpe need one)")
      .at_least(0);
  list.add("minimum_count", minimum_count,
           "characters and words that training saw less often are unknown")
      .at_least(1);
  list.add("validation_fraction", validation_fraction,
           "share of the training pictures held out when the data has no validation part")
      .at_least(0)
      .below(1);
  list.add("quotes", quotes, "whether quotes quote; auto: in a CSV, not in a TSV")
      .choices({"auto", "yes", "no"});
  list.add("largest_image", largest_image, "pictures with more pixels are refused").at_least(1);
}

ReadImageOptions CaptionsDataOptions::reading() const {
  ReadImageOptions reading;
  reading.largest_image = largest_image;
  return reading;
}

Splits load_captions(const DataSource& source, const CaptionsDataOptions& options,
                     CaptionCoding& coding, const CaptionLoading& loading) {
  if (source.path.empty()) check_roles(source, {});
  if (is_prepared(source.path)) {
    check_roles(source, {});
    return read_prepared_captions(source.path, options, coding, loading.grid);
  }
  const bool learns = coding.tokeniser == nullptr;
  Parts parts =
      source.path.empty() ? draw_parts(options) : open_parts(source, options, learns, loading);
  if (learns) learn(parts.parts[kTrain], options, coding);
  Splits splits;
  splits.hash = parts.hash;
  splits.notes = parts.notes;
  splits.notes.push_back(concat("captions: ", coding.tokeniser->kind(), ", ",
                                format_count(coding.tokeniser->vocabulary().size()), " symbols"));
  const PictureReading pictures{options.image_size, options.fit, loading.grid};
  const auto encode = [&](int part) -> std::shared_ptr<Dataset> {
    Captioned& own = parts.parts[size_t(part)];
    if (own.captions.empty()) return nullptr;
    return std::make_shared<CaptionDataset>(own.images, encode_rows(own, part, *coding.tokeniser),
                                            pictures);
  };
  splits.train = encode(kTrain);
  splits.validation = encode(kValidation);
  splits.test = encode(kTest);
  return splits;
}

void write_captions_data(const fs::path& folder, const CaptionsDataOptions& options) {
  const ScenesDraw draw = draw_scenes(options.generator, options.image_size);
  make_folder(folder);
  const auto write = [&](const std::string& name, const std::vector<DrawnScene>& scenes) {
    if (scenes.empty()) return;
    make_folder(folder / name);
    std::string table = "image\tcaption\tboxes\n";
    for (size_t i = 0; i < scenes.size(); ++i) {
      const std::string picture = concat(name, "/", i + 1, ".png");
      write_file(folder / picture, encode_png(scenes[i].image));
      table += concat(picture, "\t", scenes[i].caption, "\t", format_boxes(scenes[i].boxes), "\n");
    }
    write_file(folder / (name + ".tsv"), table);
  };
  write("train", draw.train);
  write("val", draw.validation);
  write("test", draw.test);
  write_description(folder, "caption", options_json(options.generator));
}

}  // namespace fovea

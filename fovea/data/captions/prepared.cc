// The prepared file of the task `caption` (data/prepared.h):
//   train.images, val.images, test.images   uint8 [I, 3, S, S]
//   train.rows, …                           the rows as JSON, uint8 [bytes]
//   tokeniser.model                         SentencePiece's own bytes, for the kinds that have them
// with the tokeniser, the longest caption and the options in the metadata.
#include "fovea/data/prepared.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/captions/load.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const FixedOptions kFixed{
    {"images", "tokens", "vocabulary_size", "minimum_count", "validation_fraction", "quotes"}, {}};
const PreparedFormat kCaptions{"fovea-prepared-captions", "captions"};

std::string images_name(int split) {
  return concat(kSplitFileNames[split], ".images");
}

Json row_json(const CaptionRow& row) {
  Json boxes = Json::array();
  for (const CaptionBox& box : row.boxes)
    boxes.push_back({box.begin, box.end, box.left, box.top, box.right, box.bottom});
  return {row.image, row.references, row.target.ids, spans_json(row.target.spans), boxes};
}

/// CaptionDataset checks pictures; symbols are checked here.
CaptionRow row_of(const Field& field, int64_t symbols) {
  std::vector<Field> members;
  field.each(5, [&](const Field& member) { members.push_back(member); });
  CaptionRow row;
  row.image = members[0].integer(0, INT32_MAX);
  row.references = members[1].texts();
  row.target = {members[2].integers(0, symbols - 1), spans_in(members[3])};
  members[4].each({}, [&](const Field& box) {
    std::vector<Field> own;
    box.each(6, [&](const Field& number) { own.push_back(number); });
    row.boxes.push_back({own[0].integer(-1, INT32_MAX), own[1].integer(-1, INT32_MAX),
                         own[2].finite(), own[3].finite(), own[4].finite(), own[5].finite()});
  });
  return row;
}

int64_t longest_in(const PreparedReader& reader) {
  int64_t value = 0;
  require(parse_integer(reader.text("longest"), value) && value >= 1, ErrorKind::BadData,
          reader.where(), ": the longest caption has '", reader.text("longest"), "' symbols");
  return value;
}

}  // namespace

void CaptionDataset::prepare(PreparedWriter& writer, int split) const {
  writer.add(images_name(split), images());
  writer.add_rows(split, rows(), row_json);
}

void write_prepared_captions(const fs::path& path, const Splits& splits,
                             const CaptionsDataOptions& options, const CaptionCoding& coding) {
  PreparedWriter writer(kCaptions, options_json(options), splits.notes);
  writer.add(*coding.tokeniser);
  writer.add("longest", std::to_string(coding.longest));
  for (int split = 0; split < kSplitCount; ++split)
    if (splits[split]) splits[split]->prepare(writer, split);
  writer.write(path);
}

Splits read_prepared_captions(const fs::path& path, const CaptionsDataOptions& options,
                              CaptionCoding& coding, int64_t grid) {
  PreparedReader reader(path, kCaptions);
  const auto tokeniser = reader.tokeniser(coding.tokeniser);
  if (!coding.tokeniser) coding = {tokeniser, longest_in(reader)};
  reader.require_option("image_size", options.image_size);
  Splits splits;
  for (int split = 0; split < kSplitCount; ++split) {
    const at::Tensor images = reader.take(images_name(split));
    if (!images.defined()) continue;
    std::vector<CaptionRow> rows = reader.take_rows(
        split, [&](const Field& row) { return row_of(row, tokeniser->vocabulary().size()); });
    try {
      splits[split] = std::make_shared<CaptionDataset>(
          images, std::move(rows), PictureReading{options.image_size, options.fit, grid});
    } catch (const Error& error) {
      fail(error.kind(), reader.where(), ": ", rows_name(split), ": ", error.what());
    }
  }
  reader.finish();
  require(splits.train || splits.validation || splits.test, ErrorKind::BadData, reader.where(),
          ": holds no captions");
  splits.notes = reader.notes(options_json(options), kFixed);
  splits.hash = hash_of_file(path);
  return splits;
}

}  // namespace fovea

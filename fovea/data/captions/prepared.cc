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
constexpr const char* kTokeniser = "tokeniser";
constexpr const char* kTokeniserModel = "tokeniser.model";
constexpr const char* kPrefixes[kSplitCount] = {"train.", "val.", "test."};

Json row_json(const CaptionRow& row) {
  Json spans = Json::array(), boxes = Json::array();
  for (const Span& span : row.spans) spans.push_back({span.begin, span.end});
  for (const CaptionBox& box : row.boxes)
    boxes.push_back({box.begin, box.end, box.left, box.top, box.right, box.bottom});
  return {row.image, row.references, row.ids, spans, boxes};
}

/// Everything that a row relies on is checked: symbols, and bytes within the caption.
CaptionRow row_of(const Field& field, int64_t symbols) {
  std::vector<Field> parts;
  field.each(5, [&](const Field& part) { parts.push_back(part); });
  CaptionRow row;
  row.image = parts[0].integer(0, INT32_MAX);
  row.references = parts[1].texts();
  row.ids = parts[2].integers(0, symbols - 1);
  parts[3].each({}, [&](const Field& span) {
    span.expect(span.value().is_array() && span.value().size() == 2, "[begin, end]");
    const std::vector<int64_t> ends = span.integers(-1, INT32_MAX);
    row.spans.push_back({ends[0], ends[1]});
  });
  parts[4].each({}, [&](const Field& box) {
    std::vector<Field> own;
    box.each(6, [&](const Field& number) { own.push_back(number); });
    row.boxes.push_back({own[0].integer(-1, INT32_MAX), own[1].integer(-1, INT32_MAX),
                         own[2].finite(), own[3].finite(), own[4].finite(), own[5].finite()});
  });
  return row;
}

/// One part of the data, or none.
std::shared_ptr<Dataset> take_part(PreparedReader& reader, const std::string& prefix,
                                   const PictureReading& pictures, int64_t symbols) {
  const at::Tensor images = reader.take(prefix + "images");
  if (!images.defined()) return nullptr;
  const std::string where = concat(reader.where(), ": ", prefix, "rows");
  const Json listed = parse_json(reader.take_bytes(prefix + "rows"), where);
  std::vector<CaptionRow> rows;
  Field(listed, where).each({}, [&](const Field& row) { rows.push_back(row_of(row, symbols)); });
  try {
    return std::make_shared<CaptionDataset>(images, std::move(rows), pictures);
  } catch (const Error& error) {
    fail(error.kind(), where, ": ", error.what());
  }
}

int64_t longest_in(const PreparedReader& reader) {
  int64_t value = 0;
  require(parse_integer(reader.text("longest"), value) && value >= 1, ErrorKind::BadData,
          reader.where(), ": the longest caption has '", reader.text("longest"), "' symbols");
  return value;
}

}  // namespace

void write_prepared_captions(const fs::path& path, const Splits& splits,
                             const CaptionsDataOptions& options, const CaptionCoding& coding) {
  PreparedWriter writer(kCaptions, options_json(options), splits.notes);
  writer.add(kTokeniser, kTokeniserModel, *coding.tokeniser);
  writer.add("longest", std::to_string(coding.longest));
  const std::shared_ptr<Dataset> parts[kSplitCount] = {splits.train, splits.validation,
                                                       splits.test};
  for (int part = 0; part < kSplitCount; ++part) {
    if (!parts[part]) continue;
    const auto& own = dynamic_cast<const CaptionDataset&>(*parts[part]);
    Json rows = Json::array();
    for (const CaptionRow& row : own.rows()) rows.push_back(row_json(row));
    writer.add(concat(kPrefixes[part], "images"), own.images());
    writer.add_bytes(concat(kPrefixes[part], "rows"), rows.dump());
  }
  writer.write(path);
}

Splits read_prepared_captions(const fs::path& path, const CaptionsDataOptions& options,
                              CaptionCoding& coding, int64_t grid) {
  PreparedReader reader(path, kCaptions);
  const auto tokeniser = reader.tokeniser(kTokeniser, kTokeniserModel);
  if (coding.tokeniser)
    require_same_symbols(*coding.tokeniser, *tokeniser, reader.where());
  else
    coding = {tokeniser, longest_in(reader)};
  const Json prepared = reader.json("options");
  const Json size = prepared.is_object() ? prepared.value("image_size", Json()) : Json();
  require(size == options.image_size, ErrorKind::InvalidArgument, reader.where(),
          ": was prepared with data.image_size=", size.dump(), "; now it is ", options.image_size);
  const PictureReading pictures{options.image_size, options.fit, grid};
  const int64_t symbols = tokeniser->vocabulary().size();
  Splits splits;
  splits.train = take_part(reader, kPrefixes[kTrain], pictures, symbols);
  splits.validation = take_part(reader, kPrefixes[kValidation], pictures, symbols);
  splits.test = take_part(reader, kPrefixes[kTest], pictures, symbols);
  reader.finish();
  require(splits.train || splits.validation || splits.test, ErrorKind::BadData, reader.where(),
          ": holds no captions");
  splits.notes = reader.notes();
  for (const std::string& note :
       overridden_options(reader.where(), options_json(options), prepared, kFixed))
    splits.notes.push_back(note);
  splits.hash = hash_of_file(path);
  return splits;
}

}  // namespace fovea

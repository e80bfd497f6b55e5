// The prepared file of the task `caption` (data/prepared.h):
//   train.images, val.images, test.images   uint8 [I, 3, S, S]
//   train.rows, …                           the rows as JSON, uint8 [bytes]
//   tokeniser.model                         SentencePiece's own bytes, for the kinds that have them
// with the tokeniser, the longest caption and the options in the metadata.
#include "fovea/core/error.h"
#include "fovea/core/file.h"
#include "fovea/data/captions_data.h"
#include "fovea/data/prepared.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const FixedOptions kFixed{
    {"images", "tokens", "vocabulary_size", "minimum_count", "validation_fraction", "quotes"}, {}};
const PreparedFormat kCaptions{"fovea-prepared-captions", "captions"};
constexpr const char* kTokeniser = "tokeniser";
constexpr const char* kTokeniserModel = "tokeniser.model";
constexpr const char* kPrefixes[kParts] = {"train.", "val.", "test."};

Json row_json(const CaptionRow& row) {
  Json spans = Json::array(), boxes = Json::array();
  for (const Span& span : row.spans) spans.push_back({span.begin, span.end});
  for (const CaptionBox& box : row.boxes)
    boxes.push_back({box.begin, box.end, box.left, box.top, box.right, box.bottom});
  return {row.image, row.references, row.ids, spans, boxes};
}

/// Everything that a row relies on is checked: symbols, and bytes within the caption.
CaptionRow row_of(const Json& json, int64_t symbols) {
  CaptionRow row;
  row.image = json.at(0).get<int64_t>();
  row.references = json.at(1).get<std::vector<std::string>>();
  row.ids = json.at(2).get<std::vector<int64_t>>();
  for (const Json& span : json.at(3))
    row.spans.push_back({span.at(0).get<int64_t>(), span.at(1).get<int64_t>()});
  for (const Json& box : json.at(4))
    row.boxes.push_back({box.at(0).get<int64_t>(), box.at(1).get<int64_t>(),
                         box.at(2).get<double>(), box.at(3).get<double>(), box.at(4).get<double>(),
                         box.at(5).get<double>()});
  for (const int64_t id : row.ids)
    require(id >= 0 && id < symbols, ErrorKind::BadData, "symbol ", id, " is none of ", symbols);
  return row;
}

/// One part of the data, or none.
std::shared_ptr<Dataset> take_part(PreparedReader& reader, const std::string& prefix,
                                   const PictureReading& pictures, int64_t symbols) {
  const at::Tensor images = reader.take(prefix + "images");
  if (!images.defined()) return nullptr;
  const std::string where = concat(reader.where(), ": ", prefix, "rows");
  const std::string listed = reader.take_bytes(prefix + "rows");
  try {
    std::vector<CaptionRow> rows;
    for (const Json& row : parse_json(listed, where)) rows.push_back(row_of(row, symbols));
    return std::make_shared<CaptionDataset>(images, std::move(rows), pictures);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::BadData, where, " are no rows of captions");
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
  const std::shared_ptr<Dataset> parts[kParts] = {splits.train, splits.validation, splits.test};
  for (int part = 0; part < kParts; ++part) {
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

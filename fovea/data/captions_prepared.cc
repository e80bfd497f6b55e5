// The prepared file of the task `caption`, a safetensors file:
//   train.images, val.images, test.images   uint8 [I, 3, S, S]
//   train.rows, …                           the rows as JSON, uint8 [bytes]
//   tokeniser.model                         SentencePiece's own bytes, for the kinds that have them
// with the tokeniser, the longest caption and the options in the metadata.
#include <ATen/ops/empty.h>

#include <cstring>

#include "fovea/core/error.h"
#include "fovea/core/file.h"
#include "fovea/core/safetensors.h"
#include "fovea/data/captions_data.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "fovea-prepared-captions";
constexpr const char* kVersion = "1";
constexpr const char* kPrefixes[kParts] = {"train.", "val.", "test."};

at::Tensor bytes_tensor(const std::string& bytes) {
  at::Tensor tensor = at::empty({int64_t(bytes.size())}, at::TensorOptions(at::kByte));
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

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

class Reader {
 public:
  explicit Reader(const fs::path& path) : where_(path.string()), file_(read_safetensors(path)) {
    const std::string format = text("format"), version = text("version");
    require(format == kFormat, ErrorKind::BadData, where_, ": holds no prepared captions (its ",
            "format is '", format, "', expected '", kFormat, "')");
    require(version == kVersion, ErrorKind::Unsupported, where_, ": ", kFormat, " version ",
            version, " is another than this program's, ", kVersion);
  }

  std::shared_ptr<const Tokeniser> tokeniser() const {
    TokeniserState state{parse_json(text("tokeniser"), where_ + ": tokeniser"), ""};
    if (file_.tensors.contains("tokeniser.model")) state.model = bytes("tokeniser.model");
    return Tokeniser::restore(state, where_ + ": tokeniser");
  }

  int64_t longest() const {
    int64_t value = 0;
    require(parse_integer(text("longest"), value) && value >= 1, ErrorKind::BadData, where_,
            ": the longest caption has '", text("longest"), "' symbols");
    return value;
  }

  Json json(const std::string& key) const { return parse_json(text(key), where_ + ": " + key); }

  std::shared_ptr<Dataset> part(const std::string& prefix, const PictureReading& pictures,
                                int64_t symbols) const {
    const auto images = file_.tensors.find(prefix + "images");
    if (images == file_.tensors.end()) return nullptr;
    const std::string rows_name = prefix + "rows";
    try {
      std::vector<CaptionRow> rows;
      for (const Json& row : parse_json(bytes(rows_name), where_ + ": " + rows_name))
        rows.push_back(row_of(row, symbols));
      return std::make_shared<CaptionDataset>(images->second, std::move(rows), pictures);
    } catch (const nlohmann::json::exception&) {
      fail(ErrorKind::BadData, where_, ": ", rows_name, " are no rows of captions");
    } catch (const Error& error) {
      fail(error.kind(), where_, ": ", rows_name, ": ", error.what());
    }
  }

 private:
  const std::string& text(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    require(found != file_.metadata.end(), ErrorKind::BadData, where_, ": the metadata has no '",
            key, "'; was it written by fovea prepare caption?");
    return found->second;
  }

  std::string bytes(const std::string& name) const {
    const auto found = file_.tensors.find(name);
    require(found != file_.tensors.end() && found->second.dim() == 1 &&
                found->second.scalar_type() == at::kByte,
            ErrorKind::BadData, where_, ": '", name, "' must be [n] of bytes");
    return {reinterpret_cast<const char*>(found->second.data_ptr<uint8_t>()),
            size_t(found->second.size(0))};
  }

  std::string where_;
  SafetensorsFile file_;
};

}  // namespace

void write_prepared_captions(const fs::path& path, const Splits& splits,
                             const CaptionsDataOptions& options, const CaptionCoding& coding) {
  const TokeniserState state = coding.tokeniser->state();
  std::map<std::string, at::Tensor> tensors;
  if (!state.model.empty()) tensors["tokeniser.model"] = bytes_tensor(state.model);
  const std::shared_ptr<Dataset> parts[kParts] = {splits.train, splits.validation, splits.test};
  for (int part = 0; part < kParts; ++part) {
    if (!parts[part]) continue;
    const auto& own = dynamic_cast<const CaptionDataset&>(*parts[part]);
    Json rows = Json::array();
    for (const CaptionRow& row : own.rows()) rows.push_back(row_json(row));
    tensors[concat(kPrefixes[part], "images")] = own.images();
    tensors[concat(kPrefixes[part], "rows")] = bytes_tensor(rows.dump());
  }
  write_safetensors(path, tensors,
                    {{"format", kFormat},
                     {"version", kVersion},
                     {"tokeniser", state.description.dump()},
                     {"longest", std::to_string(coding.longest)},
                     {"options", options_json(options).dump()},
                     {"notes", Json(splits.notes).dump()}});
}

Splits read_prepared_captions(const fs::path& path, const CaptionsDataOptions& options,
                              CaptionCoding& coding, int64_t grid) {
  const Reader reader(path);
  const auto tokeniser = reader.tokeniser();
  if (coding.tokeniser)
    require(coding.tokeniser->state().description == tokeniser->state().description,
            ErrorKind::BadData, path.string(), ": was prepared with other symbols than the run's; ",
            "use the files that it was prepared from");
  else
    coding = {tokeniser, reader.longest()};
  const Json prepared = reader.json("options");
  const Json size = prepared.is_object() ? prepared.value("image_size", Json()) : Json();
  require(size == options.image_size, ErrorKind::InvalidArgument, path.string(),
          ": was prepared with data.image_size=", size.dump(), "; now it is ", options.image_size);
  const PictureReading pictures{options.image_size, options.fit, grid};
  Splits splits;
  const int64_t symbols = tokeniser->vocabulary().size();
  splits.train = reader.part(kPrefixes[kTrain], pictures, symbols);
  splits.validation = reader.part(kPrefixes[kValidation], pictures, symbols);
  splits.test = reader.part(kPrefixes[kTest], pictures, symbols);
  require(splits.train || splits.validation || splits.test, ErrorKind::BadData, path.string(),
          ": holds no captions");
  for (const Json& note : reader.json("notes"))
    if (note.is_string()) splits.notes.push_back(note.get<std::string>());
  splits.hash = hash_of_file(path);
  return splits;
}

}  // namespace fovea

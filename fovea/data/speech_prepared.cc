// The prepared file of the task `speech`, a safetensors file:
//   samples                         int16 [n], every sound once, at data.sample_rate
//   offsets                         int64 [sounds + 1]: where each begins
//   train.rows, val.rows, test.rows the utterances as JSON, uint8 [bytes]
//   tokeniser.model                 SentencePiece's own bytes, for the kinds that have them
// with the tokeniser and the options in the metadata. Only samples are kept, not frames: they are a
// tenth of the size, and every option of the features stays open.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "fovea/core/error.h"
#include "fovea/core/file.h"
#include "fovea/core/safetensors.h"
#include "fovea/data/speech_data.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "fovea-prepared-speech";
constexpr const char* kVersion = "1";
constexpr const char* kRows[kParts] = {"train.rows", "val.rows", "test.rows"};

at::Tensor bytes_tensor(const std::string& bytes) {
  at::Tensor tensor = at::empty({int64_t(bytes.size())}, at::TensorOptions(at::kByte));
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

Json row_json(const SpeechRow& row) {
  Json spans = Json::array(), words = Json::array();
  for (const Span& span : row.spans) spans.push_back({span.begin, span.end});
  for (const SpokenWord& word : row.words)
    words.push_back({word.bytes.begin, word.bytes.end, word.begin, word.end});
  return {row.sounds, row.transcript, row.speaker, row.ids, spans, words};
}

/// SpeechDataset checks sounds and words; symbols are checked here.
SpeechRow row_of(const Json& json, int64_t symbols) {
  SpeechRow row;
  row.sounds = json.at(0).get<std::vector<int64_t>>();
  row.transcript = json.at(1).get<std::string>();
  row.speaker = json.at(2).get<std::string>();
  row.ids = json.at(3).get<std::vector<int64_t>>();
  for (const Json& span : json.at(4))
    row.spans.push_back({span.at(0).get<int64_t>(), span.at(1).get<int64_t>()});
  for (const Json& word : json.at(5))
    row.words.push_back({{word.at(0).get<int64_t>(), word.at(1).get<int64_t>()},
                         word.at(2).get<int64_t>(),
                         word.at(3).get<int64_t>()});
  for (const int64_t id : row.ids)
    require(id >= 0 && id < symbols, ErrorKind::BadData, "symbol ", id, " is none of ", symbols);
  return row;
}

class Reader {
 public:
  explicit Reader(const fs::path& path) : where_(path.string()), file_(read_safetensors(path)) {
    const std::string format = text("format"), version = text("version");
    require(format == kFormat, ErrorKind::BadData, where_, ": holds no prepared speech (its ",
            "format is '", format, "', expected '", kFormat, "')");
    require(version == kVersion, ErrorKind::Unsupported, where_, ": ", kFormat, " version ",
            version, " is another than this program's, ", kVersion);
  }

  std::shared_ptr<const Tokeniser> tokeniser() const {
    TokeniserState state{parse_json(text("tokeniser"), where_ + ": tokeniser"), ""};
    if (file_.tensors.contains("tokeniser.model")) state.model = bytes("tokeniser.model");
    return Tokeniser::restore(state, where_ + ": tokeniser");
  }

  Json json(const std::string& key) const { return parse_json(text(key), where_ + ": " + key); }

  SoundStore store(int64_t rate) const {
    SoundStore store{rate, tensor("samples", at::kShort), {}};
    const at::Tensor offsets = tensor("offsets", at::kLong);
    const int64_t* begin = offsets.data_ptr<int64_t>();
    store.offsets.assign(begin, begin + offsets.numel());
    const bool fits = !store.offsets.empty() && store.offsets.front() == 0 &&
                      std::is_sorted(store.offsets.begin(), store.offsets.end()) &&
                      store.offsets.back() == store.samples.numel();
    require(fits, ErrorKind::BadData, where_, ": the offsets do not cut the ",
            format_count(store.samples.numel()), " samples into sounds");
    return store;
  }

  std::vector<SpeechRow> rows(const std::string& name, int64_t symbols) const {
    std::vector<SpeechRow> rows;
    if (!file_.tensors.contains(name)) return rows;
    try {
      for (const Json& row : parse_json(bytes(name), where_ + ": " + name))
        rows.push_back(row_of(row, symbols));
    } catch (const nlohmann::json::exception&) {
      fail(ErrorKind::BadData, where_, ": ", name, " are no rows of utterances");
    } catch (const Error& error) {
      fail(error.kind(), where_, ": ", name, ": ", error.what());
    }
    return rows;
  }

 private:
  const std::string& text(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    require(found != file_.metadata.end(), ErrorKind::BadData, where_, ": the metadata has no '",
            key, "'; was it written by fovea prepare speech?");
    return found->second;
  }

  at::Tensor tensor(const std::string& name, at::ScalarType type) const {
    const auto found = file_.tensors.find(name);
    require(found != file_.tensors.end() && found->second.dim() == 1 &&
                found->second.scalar_type() == type,
            ErrorKind::BadData, where_, ": '", name, "' must be [n] of ", at::toString(type));
    return found->second.contiguous();
  }

  std::string bytes(const std::string& name) const {
    const at::Tensor own = tensor(name, at::kByte);
    return {reinterpret_cast<const char*>(own.data_ptr<uint8_t>()), size_t(own.size(0))};
  }

  std::string where_;
  SafetensorsFile file_;
};

}  // namespace

void write_prepared_speech(const fs::path& path, const Splits& splits,
                           const SpeechDataOptions& options, const SpeechCoding& coding) {
  const TokeniserState state = coding.tokeniser->state();
  std::map<std::string, at::Tensor> tensors;
  if (!state.model.empty()) tensors["tokeniser.model"] = bytes_tensor(state.model);
  const std::shared_ptr<Dataset> parts[kParts] = {splits.train, splits.validation, splits.test};
  for (int part = 0; part < kParts; ++part) {
    if (!parts[part]) continue;
    const auto& own = dynamic_cast<const SpeechDataset&>(*parts[part]);
    Json rows = Json::array();
    for (const SpeechRow& row : own.rows()) rows.push_back(row_json(row));
    tensors[kRows[part]] = bytes_tensor(rows.dump());
    tensors["samples"] = own.store()->samples;  // all parts share one store
    tensors["offsets"] = at::tensor(own.store()->offsets, at::kLong);
  }
  write_safetensors(path, tensors,
                    {{"format", kFormat},
                     {"version", kVersion},
                     {"tokeniser", state.description.dump()},
                     {"options", options_json(options).dump()},
                     {"notes", Json(splits.notes).dump()}});
}

SpeechParts read_prepared_speech(const fs::path& path, const SpeechDataOptions& options,
                                 SpeechCoding& coding) {
  const Reader reader(path);
  const auto tokeniser = reader.tokeniser();
  if (coding.tokeniser)
    require(coding.tokeniser->state().description == tokeniser->state().description,
            ErrorKind::BadData, path.string(), ": was prepared with other symbols than the run's; ",
            "use the files that it was prepared from");
  else
    coding.tokeniser = tokeniser;
  const Json prepared = reader.json("options");
  const Json rate = prepared.is_object() ? prepared.value("sample_rate", Json()) : Json();
  const int64_t wanted = options.log_mel.sample_rate;
  require(rate == wanted, ErrorKind::InvalidArgument, path.string(),
          ": was prepared with data.sample_rate=", rate.dump(), "; now it is ", wanted);
  SpeechParts parts;
  parts.store = std::make_shared<SoundStore>(reader.store(wanted));
  size_t count = 0;
  for (size_t part = 0; part < kParts; ++part) {
    parts.rows[part] = reader.rows(kRows[part], tokeniser->vocabulary().size());
    count += parts.rows[part].size();
  }
  require(count > 0, ErrorKind::BadData, path.string(), ": holds no utterances");
  for (const Json& note : reader.json("notes"))
    if (note.is_string()) parts.notes.push_back(note.get<std::string>());
  parts.hash = hash_of_file(path);
  return parts;
}

}  // namespace fovea

// The prepared file of the task `speech` (data/prepared.h):
//   samples                         int16 [n], every sound once, at data.sample_rate
//   offsets                         int64 [sounds + 1]: where each begins
//   train.rows, val.rows, test.rows the utterances as JSON, uint8 [bytes]
//   tokeniser.model                 SentencePiece's own bytes, for the kinds that have them
// with the tokeniser and the options in the metadata. Only samples are kept, not frames: they are a
// tenth of the size, and every option of the features stays open.
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/prepared.h"
#include "fovea/data/speech/load.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const FixedOptions kFixed{
    {"sounds", "tokens", "vocabulary_size", "minimum_count", "validation_fraction", "quotes"}, {}};
const PreparedFormat kSpeech{"fovea-prepared-speech", "speech"};
constexpr const char* kTokeniser = "tokeniser";
constexpr const char* kTokeniserModel = "tokeniser.model";
constexpr const char* kRows[kSplitCount] = {"train.rows", "val.rows", "test.rows"};

Json row_json(const SpeechRow& row) {
  Json spans = Json::array(), words = Json::array();
  for (const Span& span : row.spans) spans.push_back({span.begin, span.end});
  for (const SpokenWord& word : row.words)
    words.push_back({word.bytes.begin, word.bytes.end, word.begin, word.end});
  return {row.sounds, row.transcript, row.speaker, row.ids, spans, words};
}

/// So many places in a text or a sound; -1 is nowhere.
std::vector<int64_t> places_in(const Field& field, size_t count) {
  constexpr int64_t kFarthest = int64_t{1} << 40;
  field.expect(field.value().is_array() && field.value().size() == count, "a list of places");
  return field.integers(-1, kFarthest);
}

/// SpeechDataset checks sounds and words; symbols are checked here.
SpeechRow row_of(const Field& field, int64_t symbols) {
  std::vector<Field> parts;
  field.each(6, [&](const Field& part) { parts.push_back(part); });
  SpeechRow row;
  row.sounds = parts[0].integers(0, INT32_MAX);
  row.transcript = parts[1].text();
  row.speaker = parts[2].text();
  row.ids = parts[3].integers(0, symbols - 1);
  parts[4].each({}, [&](const Field& span) {
    const std::vector<int64_t> places = places_in(span, 2);
    row.spans.push_back({places[0], places[1]});
  });
  parts[5].each({}, [&](const Field& word) {
    const std::vector<int64_t> places = places_in(word, 4);
    row.words.push_back({{places[0], places[1]}, places[2], places[3]});
  });
  return row;
}

SoundStore take_store(PreparedReader& reader, int64_t rate) {
  SoundStore store{rate, reader.take("samples", at::kShort), {}};
  const at::Tensor offsets = reader.take("offsets", at::kLong);
  const int64_t* begin = offsets.data_ptr<int64_t>();
  store.offsets.assign(begin, begin + offsets.numel());
  const bool fits = !store.offsets.empty() && store.offsets.front() == 0 &&
                    std::is_sorted(store.offsets.begin(), store.offsets.end()) &&
                    store.offsets.back() == store.samples.numel();
  require(fits, ErrorKind::BadData, reader.where(), ": the offsets do not cut the ",
          format_count(store.samples.numel()), " samples into sounds");
  return store;
}

std::vector<SpeechRow> take_rows(PreparedReader& reader, const std::string& name, int64_t symbols) {
  std::vector<SpeechRow> rows;
  if (!reader.has_tensor(name)) return rows;
  const std::string where = concat(reader.where(), ": ", name);
  const Json listed = parse_json(reader.take_bytes(name), where);
  Field(listed, where).each({}, [&](const Field& row) { rows.push_back(row_of(row, symbols)); });
  return rows;
}

}  // namespace

void write_prepared_speech(const fs::path& path, const Splits& splits,
                           const SpeechDataOptions& options, const SpeechCoding& coding) {
  PreparedWriter writer(kSpeech, options_json(options), splits.notes);
  writer.add(kTokeniser, kTokeniserModel, *coding.tokeniser);
  const std::shared_ptr<Dataset> parts[kSplitCount] = {splits.train, splits.validation,
                                                       splits.test};
  for (int part = 0; part < kSplitCount; ++part) {
    if (!parts[part]) continue;
    const auto& own = dynamic_cast<const SpeechDataset&>(*parts[part]);
    Json rows = Json::array();
    for (const SpeechRow& row : own.rows()) rows.push_back(row_json(row));
    writer.add_bytes(kRows[part], rows.dump());
    writer.add("samples", own.store()->samples);  // all parts share one store
    writer.add("offsets", at::tensor(own.store()->offsets, at::kLong));
  }
  writer.write(path);
}

SplitSpeech read_prepared_speech(const fs::path& path, const SpeechDataOptions& options,
                                 SpeechCoding& coding) {
  PreparedReader reader(path, kSpeech);
  const auto tokeniser = reader.tokeniser(kTokeniser, kTokeniserModel);
  if (coding.tokeniser)
    require_same_symbols(*coding.tokeniser, *tokeniser, reader.where());
  else
    coding.tokeniser = tokeniser;
  const Json prepared = reader.json("options");
  const Json rate = prepared.is_object() ? prepared.value("sample_rate", Json()) : Json();
  const int64_t wanted = options.log_mel.sample_rate;
  require(rate == wanted, ErrorKind::InvalidArgument, reader.where(),
          ": was prepared with data.sample_rate=", rate.dump(), "; now it is ", wanted);
  SplitSpeech parts;
  parts.store = std::make_shared<SoundStore>(take_store(reader, wanted));
  size_t count = 0;
  for (size_t part = 0; part < kSplitCount; ++part) {
    parts.rows[part] = take_rows(reader, kRows[part], tokeniser->vocabulary().size());
    count += parts.rows[part].size();
  }
  reader.finish();
  require(count > 0, ErrorKind::BadData, reader.where(), ": holds no utterances");
  parts.notes = reader.notes();
  for (const std::string& note :
       overridden_options(reader.where(), options_json(options), prepared, kFixed))
    parts.notes.push_back(note);
  parts.hash = hash_of_file(path);
  return parts;
}

}  // namespace fovea

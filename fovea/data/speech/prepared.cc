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

Json row_json(const SpeechRow& row) {
  Json words = Json::array();
  for (const SpokenWord& word : row.words)
    words.push_back({word.bytes.begin, word.bytes.end, word.begin, word.end});
  return {row.sounds, row.transcript, row.speaker, row.target.ids, spans_json(row.target.spans),
          words};
}

/// SpeechDataset checks sounds and words; symbols are checked here.
SpeechRow row_of(const Field& field, int64_t symbols) {
  std::vector<Field> members;
  field.each(6, [&](const Field& member) { members.push_back(member); });
  SpeechRow row;
  row.sounds = members[0].integers(0, INT32_MAX);
  row.transcript = members[1].text();
  row.speaker = members[2].text();
  row.target = {members[3].integers(0, symbols - 1), spans_in(members[4])};
  members[5].each({}, [&](const Field& word) {
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

}  // namespace

void SpeechDataset::prepare(PreparedWriter& writer, int split) const {
  writer.add_rows(split, rows(), row_json);
  writer.add("samples", store()->samples);  // all splits share one store
  writer.add("offsets", at::tensor(store()->offsets, at::kLong));
}

void write_prepared_speech(const fs::path& path, const Splits& splits,
                           const SpeechDataOptions& options, const SpeechCoding& coding) {
  PreparedWriter writer(kSpeech, options_json(options), splits.notes);
  writer.add(*coding.tokeniser);
  for (int split = 0; split < kSplitCount; ++split)
    if (splits[split]) splits[split]->prepare(writer, split);
  writer.write(path);
}

SplitSpeech read_prepared_speech(const fs::path& path, const SpeechDataOptions& options,
                                 SpeechCoding& coding) {
  PreparedReader reader(path, kSpeech);
  const auto tokeniser = reader.tokeniser(coding.tokeniser);
  if (!coding.tokeniser) coding.tokeniser = tokeniser;
  const int64_t rate = options.log_mel.sample_rate, symbols = tokeniser->vocabulary().size();
  reader.require_option("sample_rate", rate);
  SplitSpeech speech;
  speech.store = std::make_shared<SoundStore>(take_store(reader, rate));
  for (int split = 0; split < kSplitCount; ++split)
    if (reader.has_rows(split))
      speech[split] =
          reader.take_rows(split, [&](const Field& row) { return row_of(row, symbols); });
  reader.finish();
  require(!speech.empty(), ErrorKind::BadData, reader.where(), ": holds no utterances");
  speech.notes = reader.notes(options_json(options), kFixed);
  speech.hash = hash_of_file(path);
  return speech;
}

}  // namespace fovea

#include "fovea/data/speech/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

using at::Tensor;

std::span<const int16_t> SoundStore::sound(int64_t index) const {
  const int64_t begin = offsets[size_t(index)], end = offsets[size_t(index) + 1];
  return {samples.data_ptr<int16_t>() + begin, size_t(end - begin)};
}

SoundStore store_of(std::span<const Sound> sounds, int64_t rate) {
  SoundStore store{rate, {}, {0}};
  for (const Sound& sound : sounds)
    store.offsets.push_back(store.offsets.back() + int64_t(sound.samples.size()));
  store.samples = at::empty({store.offsets.back()}, at::kShort);
  for (size_t i = 0; i < sounds.size(); ++i)
    std::copy(sounds[i].samples.begin(), sounds[i].samples.end(),
              store.samples.data_ptr<int16_t>() + store.offsets[i]);
  return store;
}

SpeechDataset::SpeechDataset(std::shared_ptr<const SoundStore> store, std::vector<SpeechRow> rows,
                             SpeechFeatures features)
    : store_(std::move(store)), rows_(std::move(rows)), features_(std::move(features)) {
  require(store_->rate == features_.log_mel.sample_rate, ErrorKind::InvalidArgument, "sounds of ",
          store_->rate, " samples a second; data.sample_rate is ", features_.log_mel.sample_rate);
  for (const SpeechRow& row : rows_) {
    int64_t samples = 0;
    for (const int64_t index : row.sounds) {
      require(index >= 0 && index < store_->size(), ErrorKind::BadData, "an utterance names sound ",
              index, " of ", store_->size());
      samples += int64_t(store_->sound(index).size());
    }
    require(samples > 0 && row.ids.size() == row.spans.size(), ErrorKind::BadData,
            "an utterance has ", samples, " samples, ", row.ids.size(), " symbols and ",
            row.spans.size(), " places of them");
    for (const SpokenWord& word : row.words)
      require(word.begin >= 0 && word.begin < word.end && word.end <= samples, ErrorKind::BadData,
              "a word is heard in samples ", word.begin, " to ", word.end, " of ", samples);
  }
  const LogMel log_mel(features_.log_mel);
  bands_.resize(rows_.size());
  run_parallel(size(), [&](int64_t row) { bands_[size_t(row)] = log_mel(sound(row).samples); });
  normalise();
}

void SpeechDataset::normalise() {
  const std::string& by = features_.normalise;
  const auto width = features_.log_mel.width();
  if (by == "utterance" || by == "speaker") {
    std::map<std::string, std::vector<int64_t>> groups;
    for (int64_t row = 0; row < size(); ++row) {
      const std::string& speaker = rows_[size_t(row)].speaker;
      const bool alone = by == "utterance" || speaker.empty();
      groups[alone ? concat("row ", row) : concat("speaker ", speaker)].push_back(row);
    }
    std::vector<std::vector<int64_t>> rows;
    for (auto& [name, own] : groups) rows.push_back(std::move(own));
    normalise_together(rows);
    return;
  }
  if (by == "training" && !features_.training.mean.defined()) {
    std::vector<int64_t> all;
    for (int64_t row = 0; row < size(); ++row) all.push_back(row);
    normalise_together({all});
    features_.training = normalisations_.at(0);
    return;
  }
  normalisations_.assign(rows_.size(),
                         by == "training" ? features_.training : no_normalisation(width));
}

void SpeechDataset::normalise_together(const std::vector<std::vector<int64_t>>& groups) {
  normalisations_.resize(rows_.size());
  run_parallel(int64_t(groups.size()), [&](int64_t group) {
    FrameStatistics statistics;
    for (const int64_t row : groups[size_t(group)])
      statistics.add(bands_[size_t(row)], features_.log_mel);
    const Normalisation own = statistics.result();
    for (const int64_t row : groups[size_t(group)]) normalisations_[size_t(row)] = own;
  });
}

const SpeechRow& SpeechDataset::row_at(int64_t row) const {
  require(row >= 0 && row < size(), ErrorKind::InvalidArgument, "there is no row ", row, " among ",
          size());
  return rows_[size_t(row)];
}

Tensor SpeechDataset::frames(int64_t row) const {
  row_at(row);  // throws for one that is not there
  return normalised(with_deltas(bands_[size_t(row)], features_.log_mel.deltas),
                    normalisations_[size_t(row)]);
}

std::vector<int64_t> SpeechDataset::target_ids(int64_t row) const {
  std::vector<int64_t> ids = row_at(row).ids;
  ids.push_back(Vocabulary::kEnd);
  return ids;
}

bool SpeechDataset::has_truth() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const SpeechRow& row) { return !row.words.empty(); });
}

Tensor SpeechDataset::truth(int64_t row) const {
  const SpeechRow& own = row_at(row);
  const int64_t units = units_of(length(row), features_.unit_frames);
  const int64_t samples = features_.unit_frames * features_.log_mel.step_samples();  // of a unit
  Tensor truth = at::zeros({int64_t(own.ids.size()) + 1, units}, at::kBool);
  bool* marks = truth.data_ptr<bool>();
  for (const SpokenWord& word : own.words) {
    const int64_t middle = std::min(units - 1, (word.begin + word.end) / 2 / samples);
    for (size_t t = 0; t < own.spans.size(); ++t) {
      if (own.spans[t].begin >= word.bytes.end || own.spans[t].end <= word.bytes.begin) continue;
      for (int64_t unit = 0; unit < units; ++unit) {
        const int64_t heard = unit * samples + samples / 2;  // the middle of the unit
        const bool inside = (heard >= word.begin && heard < word.end) || unit == middle;
        marks[int64_t(t) * units + unit] |= inside;
      }
    }
  }
  return truth;
}

Sound SpeechDataset::sound(int64_t row) const {
  Sound sound{{}, store_->rate};
  for (const int64_t index : row_at(row).sounds) {
    const std::span<const int16_t> own = store_->sound(index);
    sound.samples.insert(sound.samples.end(), own.begin(), own.end());
  }
  return sound;
}

double SpeechDataset::seconds() const {
  double sum = 0;
  for (const SpeechRow& row : rows_)
    for (const int64_t index : row.sounds) sum += double(store_->sound(index).size());
  return sum / double(store_->rate);
}

Example SpeechDataset::example(int64_t row) const {
  row_at(row);  // throws for one that is not there
  const Tensor& bands = bands_[size_t(row)];
  Example example = example_of(sound(row), bands, normalisations_[size_t(row)], features_);
  if (!row_at(row).words.empty()) example.truth["attention"] = truth(row);
  return example;
}

Batch SpeechDataset::batch(std::span<const int64_t> rows) const {
  Batch batch{{}, int64_t(rows.size())};
  std::vector<Tensor> sources;
  size_t longest = 1;
  for (const int64_t row : rows) {
    sources.push_back(frames(row));
    longest = std::max(longest, row_at(row).ids.size() + 1);
  }
  const auto width = int64_t(longest);
  Tensor target = at::full({batch.size, width}, Vocabulary::kPadding, at::kLong);
  for (int64_t i = 0; i < batch.size; ++i) {
    const std::vector<int64_t> ids = target_ids(rows[size_t(i)]);
    std::copy(ids.begin(), ids.end(), target.data_ptr<int64_t>() + i * width);
  }
  const auto [source, keep] = pad_frames(sources);
  batch.tensors = {{"source", source},
                   {"source.keep", keep},
                   {"target", target},
                   {"target.keep", target != Vocabulary::kPadding}};
  return batch;
}

void encode_transcript(SpeechRow& row, const Tokeniser& tokeniser) {
  row.ids.clear();
  row.spans.clear();
  for (const Token& token : tokeniser.encode(row.transcript)) {
    row.ids.push_back(token.id);
    row.spans.push_back({int64_t(token.begin), int64_t(token.end)});
  }
}

std::shared_ptr<SpeechDataset> repeated(const SpeechDataset& rows, int64_t count, int64_t times,
                                        const Tokeniser& tokeniser) {
  std::vector<SpeechRow> longer;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row) {
    const SpeechRow& once = rows.rows()[size_t(row)];
    const auto samples = int64_t(rows.sound(row).samples.size());
    SpeechRow many;
    many.speaker = once.speaker;
    for (int64_t time = 0; time < times; ++time) {
      const auto bytes = int64_t(many.transcript.size()) + (time > 0);  // a blank between
      if (time > 0) many.transcript += ' ';
      many.transcript += once.transcript;
      many.sounds.insert(many.sounds.end(), once.sounds.begin(), once.sounds.end());
      for (const SpokenWord& word : once.words)
        many.words.push_back({{word.bytes.begin + bytes, word.bytes.end + bytes},
                              word.begin + time * samples,
                              word.end + time * samples});
    }
    encode_transcript(many, tokeniser);
    longer.push_back(std::move(many));
  }
  return std::make_shared<SpeechDataset>(rows.store(), std::move(longer), rows.features());
}

}  // namespace fovea

#include "fovea/data/speech/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "fovea/base/error.h"
#include "fovea/data/media_input.h"
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
                             std::shared_ptr<const Tokeniser> tokeniser, SpeechFeatures features)
    : store_(std::move(store)),
      rows_(std::move(rows)),
      tokeniser_(std::move(tokeniser)),
      features_(std::move(features)) {
  require(store_->rate == features_.log_mel.sample_rate, ErrorKind::InvalidArgument, "sounds of ",
          store_->rate, " samples a second; data.sample_rate is ", features_.log_mel.sample_rate);
  for (const SpeechRow& row : rows_) {
    int64_t samples = 0;
    for (const int64_t index : row.sounds) {
      require(index >= 0 && index < store_->size(), ErrorKind::BadData, "an utterance names sound ",
              index, " of ", store_->size());
      samples += int64_t(store_->sound(index).size());
    }
    const size_t ids = row.target.ids.size(), spans = row.target.spans.size();
    require(samples > 0 && ids == spans, ErrorKind::BadData, "an utterance has ", samples,
            " samples, ", ids, " symbols and ", spans, " places of them");
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

bool SpeechDataset::has_truth() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const SpeechRow& row) { return !row.words.empty(); });
}

Tensor SpeechDataset::truth(int64_t row) const {
  const SpeechRow& own = row_at(row);
  const int64_t units = units_of(length(row), features_.unit_frames);
  const int64_t samples = features_.unit_frames * features_.log_mel.step_samples();  // of a unit
  std::vector<TextUnits> known;
  for (const SpokenWord& word : own.words) {
    const int64_t middle = std::min(units - 1, (word.begin + word.end) / 2 / samples);
    TextUnits& heard = known.emplace_back(TextUnits{word.bytes, {}});
    for (int64_t unit = 0; unit < units; ++unit) {
      const int64_t at = unit * samples + samples / 2;  // the middle of the unit
      heard.units.push_back((at >= word.begin && at < word.end) || unit == middle);
    }
  }
  return target_truth(own.target, known, units);
}

NamedTensors SpeechDataset::planted_truth(int64_t row) const {
  return row_at(row).words.empty() ? NamedTensors() : NamedTensors{{"attention", truth(row)}};
}

Json SpeechDataset::input(int64_t row) const {
  return can_read_sounds() ? sound_input(sound(row), transcript(row)) : Json();
}

Sound SpeechDataset::sound(int64_t row) const {
  Sound sound{{}, store_->rate};
  for (const int64_t index : row_at(row).sounds) {
    const std::span<const int16_t> own = store_->sound(index);
    sound.samples.insert(sound.samples.end(), own.begin(), own.end());
  }
  return sound;
}

Example SpeechDataset::example(int64_t row) const {
  row_at(row);  // throws for one that is not there
  const Tensor& bands = bands_[size_t(row)];
  Example example = example_of(sound(row), bands, normalisations_[size_t(row)], features_);
  example.truth = planted_truth(row);
  return example;
}

Batch SpeechDataset::batch(std::span<const int64_t> rows) const {
  std::vector<Tensor> sources;
  std::vector<const TargetText*> targets;
  for (const int64_t row : rows) {
    sources.push_back(frames(row));
    targets.push_back(&row_at(row).target);
  }
  Batch batch{{}, int64_t(rows.size())};
  std::tie(batch.tensors["source"], batch.tensors["source.keep"]) = pad_frames(sources);
  std::tie(batch.tensors["target"], batch.tensors["target.keep"]) = pad_targets(targets);
  return batch;
}

std::shared_ptr<Dataset> SpeechDataset::repeated(int64_t count, int64_t times) const {
  std::vector<SpeechRow> longer;
  for (int64_t row = 0; row < std::min(count, size()); ++row) {
    const SpeechRow& once = row_at(row);
    const auto samples = int64_t(sound(row).samples.size());
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
    many.target = encode_target(many.transcript, *tokeniser_);
    longer.push_back(std::move(many));
  }
  return std::make_shared<SpeechDataset>(store_, std::move(longer), tokeniser_, features_);
}

}  // namespace fovea

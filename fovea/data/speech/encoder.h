// Utterances, as the task `speech` sees them: sounds in memory as 16-bit samples, each once,
// however many utterances are put together from it; frames of log-mel features (audio/log_mel.h)
// made of them; transcripts as symbols. A unit is what the model's encoder makes one vector of:
// some frames.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/speech/frames.h"
#include "fovea/data/speech/sound.h"
#include "fovea/data/speech/spoken_word.h"
#include "fovea/data/target_text.h"

namespace fovea {

/// Sounds of one rate, one after the other.
struct SoundStore {
  int64_t rate = 8000;
  at::Tensor samples;               // int16 [n]
  std::vector<int64_t> offsets{0};  // sound i is samples offsets[i] … offsets[i + 1] - 1

  int64_t size() const { return int64_t(offsets.size()) - 1; }
  std::span<const int16_t> sound(int64_t index) const;
};

SoundStore store_of(std::span<const Sound> sounds, int64_t rate);

/// One utterance, without its samples.
struct SpeechRow {
  std::vector<int64_t> sounds;  // of the store, one after the other
  std::string transcript, speaker;
  TargetText target;              // the transcript
  std::vector<SpokenWord> words;  // empty where it is not known when they are heard
};

class SpeechDataset : public Dataset {
 public:
  /// Makes the frames of all rows. With normalise=training and nothing learned yet, these rows are
  /// learned from. BadData for rows that name sounds or places that are not there.
  SpeechDataset(std::shared_ptr<const SoundStore> store, std::vector<SpeechRow> rows,
                std::shared_ptr<const Tokeniser> tokeniser, SpeechFeatures features);

  int64_t size() const override { return int64_t(rows_.size()); }
  int64_t length(int64_t row) const override { return bands_[size_t(row)].size(0); }
  /// As example_of() makes it; truth "attention" [T + 1, units] where it is known when words are
  /// heard.
  Example example(int64_t row) const override;
  /// "source" [B, frames, F], "source.keep", "target" int64 [B, T] ending in kEnd and padded,
  /// "target.keep".
  Batch batch(std::span<const int64_t> rows) const override;

  const std::string& transcript(int64_t row) const { return row_at(row).transcript; }
  std::vector<int64_t> target_ids(int64_t row) const { return row_at(row).target.with_end(); }
  bool has_truth() const override;
  /// bool [T + 1, units]: the units in which the word of each symbol is heard; none for the others,
  /// and for the end.
  at::Tensor truth(int64_t row) const;
  NamedTensors planted_truth(int64_t row) const override;
  std::vector<std::string> references(int64_t row) const override { return {transcript(row)}; }
  Json input(int64_t row) const override;
  void prepare(PreparedWriter& writer, int split) const override;
  Sound sound(int64_t row) const;
  /// Longer than anything in training, and full of places that sound the same.
  std::shared_ptr<Dataset> repeated(int64_t count, int64_t times) const override;

  const std::shared_ptr<const SoundStore>& store() const { return store_; }
  const std::vector<SpeechRow>& rows() const { return rows_; }
  const SpeechFeatures& features() const { return features_; }

 private:
  const SpeechRow& row_at(int64_t row) const;
  void normalise();
  void normalise_together(const std::vector<std::vector<int64_t>>& groups);
  at::Tensor frames(int64_t row) const;  // [frames, F]

  std::shared_ptr<const SoundStore> store_;
  std::vector<SpeechRow> rows_;
  std::shared_ptr<const Tokeniser> tokeniser_;
  SpeechFeatures features_;
  std::vector<at::Tensor> bands_;              // of each row: log-mel, [frames, M]
  std::vector<Normalisation> normalisations_;  // of each row; shared tensors
};

}  // namespace fovea

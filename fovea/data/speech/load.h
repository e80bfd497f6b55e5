// The data of the task `speech`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/base/options.h"
#include "fovea/data/formats/read_sound.h"
#include "fovea/data/source.h"
#include "fovea/data/speech/encoder.h"
#include "fovea/data/speech/synthetic.h"

namespace fovea {

/// Everything under data. for this task.
struct SpeechDataOptions {
  SyntheticSpeechOptions generator;
  LogMelOptions log_mel;
  std::string normalise = "utterance";
  std::string sounds;  // where a sound lies: "wav/{}"
  TokeniserOptions tokeniser{"characters"};
  double validation_fraction = 0.1;
  std::string left_out;  // a speaker
  std::string quotes = "auto";
  double longest_sound = 60;
  double max_bad_share = 0.05;
  void describe(OptionList& list);

  ReadSoundOptions reading() const;
};

/// What is learned from the data and kept in the run.
struct SpeechCoding {
  std::shared_ptr<const Tokeniser> tokeniser;
  double densest = 0;      // most symbols, the end included, that a training frame stands for
  Normalisation training;  // of the training frames; only with data.normalise=training
};

struct SpeechLoading {
  uint64_t seed = 0;
  int64_t unit_frames = 1;  // the model's
  LoadProgress progress = {};
};

/// How sounds become frames, by the options and what was learned.
SpeechFeatures features_of(const SpeechDataOptions& options, const SpeechCoding& coding,
                           int64_t unit_frames);

/// Reads a table, a folder or a prepared file, or draws the synthetic melodies. A first call learns
/// the tokeniser from the training transcripts. Utterances whose sounds cannot be read are
/// left out and named with path:line; more such sounds than max_bad_share are an error.
Splits load_speech(const DataSource& source, const SpeechDataOptions& options, SpeechCoding& coding,
                   const SpeechLoading& loading);

/// Writes train.tsv, val.tsv, test.tsv, their sounds as WAV and dataset.json: loading the folder
/// gives the same rows.
void write_speech_data(const std::filesystem::path& folder, const SpeechDataOptions& options);

/// One file with samples and symbols: no sound is opened and no text cut again. Frames are made
/// from it as the options of the training say.
void write_prepared_speech(const std::filesystem::path& path, const Splits& splits,
                           const SpeechDataOptions& options, const SpeechCoding& coding);

/// Utterances without frames, with the store that they name sounds of.
struct SplitSpeech : SplitRows<SpeechRow> {
  std::shared_ptr<const SoundStore> store;
};

/// Takes up the tokeniser where none is known yet; another one than the run's is BadData.
SplitSpeech read_prepared_speech(const std::filesystem::path& path,
                                 const SpeechDataOptions& options, SpeechCoding& coding);

}  // namespace fovea

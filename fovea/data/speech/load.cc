#include "fovea/data/speech/load.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/prepared.h"
#include "fovea/data/speech/reader.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// Every sound that utterances have, each file once.
class SoundFiles {
 public:
  /// The number of a sound.
  int64_t add(const fs::path& path, const std::string& place) {
    const auto [known, is_new] = numbers_.emplace(path.string(), int64_t(sounds_.size()));
    if (is_new) {
      files_.push_back({path, place, known->second});
      sounds_.emplace_back();
    }
    return known->second;
  }
  int64_t add(Sound drawn) {
    sounds_.push_back(std::move(drawn));
    return int64_t(sounds_.size()) - 1;
  }

  /// Reads the files, side by side.
  SoundStore read(const SpeechDataOptions& options, const LoadProgress& progress, Notes& notes) {
    const auto file = [&](int64_t i) -> const File& { return files_[size_t(i)]; };
    const std::vector<bool> bad = read_files(
        int64_t(files_.size()),
        [&](int64_t i) {
          sounds_[size_t(file(i).number)] = read_sound(file(i).path, options.reading());
        },
        [&](int64_t i) { return file(i).place; }, progress, options.max_bad_share, notes);
    bad_.assign(sounds_.size(), false);
    for (size_t i = 0; i < bad.size(); ++i) bad_[size_t(files_[i].number)] = bad[i];
    return store_of(sounds_, options.log_mel.sample_rate);
  }
  /// Whether one of these sounds could not be read.
  bool is_bad(const std::vector<int64_t>& numbers) const {
    return std::any_of(numbers.begin(), numbers.end(),
                       [&](int64_t number) { return bad_[size_t(number)]; });
  }

 private:
  struct File {
    fs::path path;
    std::string place;
    int64_t number;  // of the sound
  };
  std::map<std::string, int64_t> numbers_;
  std::vector<File> files_;
  std::vector<Sound> sounds_;
  std::vector<bool> bad_;  // of each sound
};

/// When each word is heard, from what the table says of it. Empty where it says nothing.
std::vector<SpokenWord> words_of(const Utterance& utterance, const SpeechRow& row,
                                 const SoundStore& store) {
  std::vector<SpokenWord> words;
  const std::vector<Span> spans = word_spans(utterance.transcript);
  int64_t samples = 0;
  for (size_t i = 0; i < row.sounds.size(); ++i) {
    const int64_t begin = samples;
    samples += int64_t(store.sound(row.sounds[i]).size());
    if (utterance.sound_is_word) words.push_back({spans[i], begin, samples});
  }
  if (utterance.boundaries.empty()) return words;
  words.clear();
  for (size_t i = 0; i < spans.size(); ++i) {
    const auto [begin, end] = utterance.boundaries[i];
    const auto at = [&](double seconds) { return std::llround(seconds * double(store.rate)); };
    const int64_t first = at(begin), last = std::min<int64_t>(at(end), samples);
    require(first < last, ErrorKind::BadData, utterance.place, ": word ", i + 1, " is heard from ",
            begin, " s on, but the sound lasts ", double(samples) / double(store.rate), " s");
    words.push_back({spans[i], first, last});
  }
  return words;
}

void check_length(const SpeechRow& row, const SoundStore& store, const SpeechDataOptions& options,
                  const std::string& place) {
  double samples = 0;
  for (const int64_t index : row.sounds) samples += double(store.sound(index).size());
  const double seconds = samples / double(store.rate);
  require(seconds <= options.longest_sound, ErrorKind::BadData, place, ": the sounds last ",
          format_duration(seconds), " together; at most ", format_duration(options.longest_sound),
          " are read (data.longest_sound)");
}

/// Utterances with their sounds in a store.
SplitSpeech store_sounds(SplitRows<Utterance> texts, const SpeechDataOptions& options,
                         const LoadProgress& progress) {
  SplitSpeech speech;
  speech.hash = texts.hash;
  speech.notes = std::move(texts.notes);
  SoundFiles files;
  for (int split = 0; split < kSplitCount; ++split)
    for (Utterance& utterance : texts[split].keep()) {
      SpeechRow& row = speech[split].keep().emplace_back();
      row.transcript = utterance.transcript;
      row.speaker = utterance.speaker;
      for (const fs::path& path : utterance.sounds)
        row.sounds.push_back(files.add(path, utterance.place));
      if (utterance.sounds.empty()) row.sounds.push_back(files.add(std::move(utterance.drawn)));
    }
  speech.store = std::make_shared<SoundStore>(files.read(options, progress, speech.notes));
  for (int split = 0; split < kSplitCount; ++split) {
    const std::vector<SpeechRow> read = speech[split].take();
    for (size_t i = 0; i < read.size(); ++i) {
      if (files.is_bad(read[i].sounds)) continue;
      SpeechRow& row = speech[split].keep().emplace_back(read[i]);
      if (!texts[split][i].sounds.empty())
        check_length(row, *speech.store, options, texts[split][i].place);
      row.words = words_of(texts[split][i], row, *speech.store);
    }
  }
  return speech;
}

SplitSpeech read_utterances(const DataSource& source, const SpeechDataOptions& options,
                            bool needs_training, const SpeechLoading& loading) {
  const SplitOptions split{"speech", options.validation_fraction, loading.seed, needs_training};
  return store_sounds(open_speech(source, split, {{}, options.sounds, options.quotes}), options,
                      loading.progress);
}

/// From now on the test has all rows of one speaker; what others say is trained on or validates.
void leave_out(const std::string& speaker, const std::string& where, SplitSpeech& speech) {
  SplitRows<SpeechRow> rows;
  for (int split = 0; split < kSplitCount; ++split)
    for (SpeechRow& row : speech[split].keep()) {
      int place = split == kTest ? int(kTrain) : split;
      if (row.speaker == speaker) place = kTest;
      rows[place].push_back(std::move(row));
    }
  require(!rows.test.empty(), ErrorKind::NotFound, where, ": data.left_out=", speaker,
          ": no row has that speaker (column 'speaker', or --columns speaker=NAME)");
  for (int split = 0; split < kSplitCount; ++split) speech[split] = std::move(rows[split]);
  speech.notes.push_back(concat("left out: the ", format_count(int64_t(speech.test.size())),
                                " utterances of ", speaker, " are the test"));
}

std::shared_ptr<const Tokeniser> learn_transcripts(const Rows<SpeechRow>& train,
                                                   const SpeechDataOptions& options) {
  std::vector<std::string> texts;
  for (const SpeechRow& row : train) texts.push_back(row.transcript);
  return Tokeniser::learn(options.tokeniser, texts);
}

double densest_of(const SpeechDataset& train) {
  double densest = 0;
  for (int64_t row = 0; row < train.size(); ++row)
    densest = std::max(densest, double(train.rows()[size_t(row)].target.ids.size() + 1) /
                                    double(train.length(row)));
  return densest;
}

}  // namespace

void SpeechDataOptions::describe(OptionList& list) {
  generator.describe(list);
  log_mel.describe(list);
  list.add("normalise", normalise,
           "frames get mean 0 and deviation 1 over the utterance, over all that its speaker says "
           "in the same split (who is not named is known by the utterance), or by the training "
           "data's; none: they stay as they are")
      .choices({"utterance", "speaker", "training", "none"});
  list.add("sounds", sounds,
           "where a row's sound lies, {} being its cell: wav/{}; empty: the cell is the path");
  tokeniser.describe(list, "transcript");
  describe_held_out(list, validation_fraction, "training utterances");
  list.add("left_out", left_out,
           "a speaker whose utterances, and no others, are the test; empty: as the table says");
  describe_quotes(list, quotes);
  list.add("longest_sound", longest_sound, "seconds; longer sounds are refused")
      .above(0)
      .at_most(3600);
  describe_bad_share(list, max_bad_share);
}

ReadSoundOptions SpeechDataOptions::reading() const {
  ReadSoundOptions reading;
  reading.rate = log_mel.sample_rate;
  reading.longest = longest_sound;
  return reading;
}

SpeechFeatures features_of(const SpeechDataOptions& options, const SpeechCoding& coding,
                           int64_t unit_frames) {
  return {options.log_mel, options.normalise, coding.training, unit_frames};
}

Splits load_speech(const DataSource& source, const SpeechDataOptions& options, SpeechCoding& coding,
                   const SpeechLoading& loading) {
  const bool learns = coding.tokeniser == nullptr, prepared = is_prepared(source.path);
  const int64_t rate = options.log_mel.sample_rate;
  if (source.path.empty() || prepared) check_roles(source, {});
  SplitSpeech speech = source.path.empty()
                           ? store_sounds(draw_speech(options.generator, rate), options, {})
                       : prepared ? read_prepared_speech(source.path, options, coding)
                                  : read_utterances(source, options, learns, loading);
  if (!options.left_out.empty() && !source.whole)
    leave_out(options.left_out, source.path.string(), speech);
  const auto fit = [&](SplitRows<SpeechRow>& rows, Notes& notes) {
    require(!learns || !rows.train.empty(), ErrorKind::BadData, source.path.string(),
            ": holds no utterances to train on");
    if (prepared) return;
    if (learns) coding.tokeniser = learn_transcripts(rows.train, options);
    rows.transform(
        [&](SpeechRow& row) { row.target = encode_target(row.transcript, *coding.tokeniser); });
    notes.push_back(concat("transcripts: ", coding.tokeniser->kind(), ", ",
                           format_count(coding.tokeniser->vocabulary().size()), " symbols"));
  };
  return encode_splits(speech, fit, [&](Rows<SpeechRow> rows, Split split, Notes&) {
    const auto encoded =
        std::make_shared<SpeechDataset>(speech.store, rows.take(), coding.tokeniser,
                                        features_of(options, coding, loading.unit_frames));
    if (learns && split == kTrain) {
      coding.densest = densest_of(*encoded);
      coding.training = encoded->features().training;
    }
    return encoded;
  });
}

void write_speech_data(const fs::path& folder, const SpeechDataOptions& options) {
  const SplitRows<Utterance> drawn = draw_speech(options.generator, options.log_mel.sample_rate);
  write_splits(
      folder, drawn, ".tsv", [&](const std::vector<Utterance>& rows, const std::string& name) {
        make_folder(folder / name);
        std::string table = "audio\ttranscript\tboundaries\n";
        for (size_t i = 0; i < rows.size(); ++i) {
          const std::string sound = concat(name, "/", i + 1, ".wav");
          write_file(folder / sound, encode_wav(rows[i].drawn.samples, rows[i].drawn.rate));
          std::vector<std::string> boundaries;
          for (const auto& [begin, end] : rows[i].boundaries)
            boundaries.push_back(concat(format_exact(begin), ":", format_exact(end)));
          table += concat(sound, "\t", rows[i].transcript, "\t", join(boundaries, " "), "\n");
        }
        return table;
      });
  write_description(folder, "speech", options_json(options.generator));
}

}  // namespace fovea

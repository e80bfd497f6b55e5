#include "fovea/data/speech/load.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/prepared.h"
#include "fovea/data/speech/reader.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// Every file that utterances name, once.
class SoundFiles {
 public:
  int64_t number_of(const fs::path& path, const std::string& place) {
    const auto [known, is_new] = numbers_.emplace(path.string(), int64_t(paths_.size()));
    if (is_new) {
      paths_.push_back(path);
      places_.push_back(place);
    }
    return known->second;
  }

  /// All of them, side by side. What went wrong first, in the order of the rows, is thrown,
  /// whichever thread met it.
  SoundStore read(const SpeechDataOptions& options, const SpeechLoading& loading) const {
    std::vector<Sound> sounds(paths_.size());
    std::vector<std::optional<Error>> errors(paths_.size());
    std::mutex telling;
    int64_t done = 0;
    run_parallel(int64_t(paths_.size()), [&](int64_t index) {
      try {
        sounds[size_t(index)] = read_sound(paths_[size_t(index)], options.reading());
      } catch (const Error& error) {
        errors[size_t(index)] = error;
      }
      const std::lock_guard lock(telling);
      ++done;
      if (loading.progress) loading.progress(done, int64_t(paths_.size()));
    });
    for (size_t i = 0; i < errors.size(); ++i)
      if (errors[i]) fail(errors[i]->kind(), places_[i], ": ", errors[i]->what());
    return store_of(sounds, options.log_mel.sample_rate);
  }

 private:
  std::map<std::string, int64_t> numbers_;
  std::vector<fs::path> paths_;
  std::vector<std::string> places_;
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

SplitSpeech open_parts(const DataSource& source, const SpeechDataOptions& options,
                       bool needs_training, const SpeechLoading& loading) {
  const SplitOptions split{.task = "speech",
                           .fraction = options.validation_fraction,
                           .seed = loading.seed,
                           .needs_training = needs_training};
  SpeechFileOptions reading;
  reading.sounds = options.sounds;
  reading.quotes = options.quotes;
  SplitRows<Utterance> texts = open_speech(source, split, reading);
  SplitSpeech parts;
  SoundFiles files;
  for (int part = 0; part < kSplitCount; ++part)
    for (const Utterance& utterance : texts[part]) {
      SpeechRow& row = parts.rows[size_t(part)].emplace_back();
      row.transcript = utterance.transcript;
      row.speaker = utterance.speaker;
      for (const fs::path& path : utterance.sounds)
        row.sounds.push_back(files.number_of(path, utterance.place));
    }
  parts.store = std::make_shared<SoundStore>(files.read(options, loading));
  for (int part = 0; part < kSplitCount; ++part)
    for (size_t i = 0; i < texts[part].size(); ++i) {
      SpeechRow& row = parts.rows[size_t(part)][i];
      check_length(row, *parts.store, options, texts[part][i].place);
      row.words = words_of(texts[part][i], row, *parts.store);
    }
  parts.hash = texts.hash;
  parts.notes = std::move(texts.notes);
  return parts;
}

SplitSpeech draw_parts(const SpeechDataOptions& options) {
  TonesDraw draw = draw_tones(options.generator, options.log_mel.sample_rate);
  SplitSpeech parts;
  std::vector<Sound> sounds;
  std::vector<DrawnMelody>* drawn[kSplitCount] = {&draw.train, &draw.validation, &draw.test};
  for (size_t part = 0; part < kSplitCount; ++part)
    for (DrawnMelody& melody : *drawn[part]) {
      SpeechRow& row = parts.rows[part].emplace_back();
      row.sounds = {int64_t(sounds.size())};
      row.transcript = std::move(melody.transcript);
      row.words = std::move(melody.words);
      sounds.push_back(std::move(melody.sound));
    }
  parts.store = std::make_shared<SoundStore>(store_of(sounds, options.log_mel.sample_rate));
  Json decided = options_json(options.generator);
  decided["sample_rate"] = options.log_mel.sample_rate;
  parts.hash = hash_of_built_in("speech", decided);
  parts.notes = std::move(draw.notes);
  return parts;
}

/// From now on the test has all rows of one speaker; what others say is trained on or validates.
void leave_out(const std::string& speaker, const std::string& where, SplitSpeech& parts) {
  std::array<std::vector<SpeechRow>, kSplitCount> rows;
  for (size_t part = 0; part < kSplitCount; ++part)
    for (SpeechRow& row : parts.rows[part]) {
      const size_t place = row.speaker == speaker ? size_t(kTest)
                           : part == kTest        ? size_t(kTrain)
                                                  : part;
      rows[place].push_back(std::move(row));
    }
  require(!rows[kTest].empty(), ErrorKind::NotFound, where, ": data.left_out=", speaker,
          ": no row has that speaker (column 'speaker', or --columns speaker=NAME)");
  parts.rows = std::move(rows);
  parts.notes.push_back(concat("left out: the ", format_count(int64_t(parts.rows[kTest].size())),
                               " utterances of ", speaker, " are the test"));
}

void learn(const std::vector<SpeechRow>& train, const SpeechDataOptions& options,
           SpeechCoding& coding) {
  std::vector<std::string> texts;
  for (const SpeechRow& row : train) texts.push_back(row.transcript);
  coding.tokeniser =
      Tokeniser::learn({options.tokens, options.vocabulary_size, options.minimum_count}, texts);
}

double densest_of(const SpeechDataset& train) {
  double densest = 0;
  for (int64_t row = 0; row < train.size(); ++row)
    densest = std::max(
        densest, double(train.rows()[size_t(row)].ids.size() + 1) / double(train.length(row)));
  return densest;
}

}  // namespace

void SpeechDataOptions::describe(OptionList& list) {
  generator.describe(list);
  log_mel.describe(list);
  list.add("normalise", normalise,
           "frames get mean 0 and deviation 1 over the utterance, over all that its speaker says "
           "in the same part (who is not named is known by the utterance), or by the training "
           "data's; none: they stay as they are")
      .choices({"utterance", "speaker", "training", "none"});
  list.add("sounds", sounds,
           "where a row's sound lies, {} being its cell: wav/{}; empty: the cell is the path");
  list.add("tokens", tokens, "what a transcript is cut into").choices(tokeniser_kinds());
  list.add("vocabulary_size", vocabulary_size,
           "most symbols; 0: no limit (unigram and bpe need one)")
      .at_least(0);
  list.add("minimum_count", minimum_count,
           "characters and words that training saw less often are unknown")
      .at_least(1);
  list.add("validation_fraction", validation_fraction,
           "share of the training utterances held out when the data has no validation part")
      .at_least(0)
      .below(1);
  list.add("left_out", left_out,
           "a speaker whose utterances, and no others, are the test; empty: as the table says");
  list.add("quotes", quotes, "whether quotes quote; auto: in a CSV, not in a TSV")
      .choices({"auto", "yes", "no"});
  list.add("longest_sound", longest_sound, "seconds; longer sounds are refused")
      .above(0)
      .at_most(3600);
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
  if (source.path.empty() || prepared) check_roles(source, {});
  SplitSpeech parts = source.path.empty() ? draw_parts(options)
                      : prepared          ? read_prepared_speech(source.path, options, coding)
                                          : open_parts(source, options, learns, loading);
  if (!options.left_out.empty() && !source.whole)
    leave_out(options.left_out, source.path.string(), parts);
  if (coding.tokeniser == nullptr) learn(parts.rows[kTrain], options, coding);
  Splits splits;
  splits.hash = parts.hash;
  splits.notes = std::move(parts.notes);
  const auto make = [&](Split part) -> std::shared_ptr<SpeechDataset> {
    std::vector<SpeechRow>& rows = parts.rows[size_t(part)];
    if (rows.empty()) return nullptr;
    if (!prepared)
      for (SpeechRow& row : rows) encode_transcript(row, *coding.tokeniser);
    return std::make_shared<SpeechDataset>(parts.store, std::move(rows),
                                           features_of(options, coding, loading.unit_frames));
  };
  const auto train = make(kTrain);
  if (learns) {
    require(train != nullptr, ErrorKind::BadData, source.path.string(),
            ": holds no utterances to train on");
    coding.densest = densest_of(*train);
    coding.training = train->features().training;
  }
  splits.train = train;
  splits.validation = make(kValidation);
  splits.test = make(kTest);
  if (!prepared)
    splits.notes.push_back(concat("transcripts: ", coding.tokeniser->kind(), ", ",
                                  format_count(coding.tokeniser->vocabulary().size()), " symbols"));
  return splits;
}

void write_speech_data(const fs::path& folder, const SpeechDataOptions& options) {
  const int64_t rate = options.log_mel.sample_rate;
  const TonesDraw draw = draw_tones(options.generator, rate);
  make_folder(folder);
  const auto write = [&](const std::string& name, const std::vector<DrawnMelody>& melodies) {
    if (melodies.empty()) return;
    make_folder(folder / name);
    std::string table = "audio\ttranscript\tboundaries\n";
    for (size_t i = 0; i < melodies.size(); ++i) {
      const DrawnMelody& melody = melodies[i];
      const std::string sound = concat(name, "/", i + 1, ".wav");
      write_file(folder / sound, encode_wav(melody.sound.samples, rate));
      std::vector<std::string> boundaries;
      for (const SpokenWord& word : melody.words)
        boundaries.push_back(concat(format_exact(double(word.begin) / double(rate)), ":",
                                    format_exact(double(word.end) / double(rate))));
      table += concat(sound, "\t", melody.transcript, "\t", join(boundaries, " "), "\n");
    }
    write_file(folder / (name + ".tsv"), table);
  };
  write("train", draw.train);
  write("val", draw.validation);
  write("test", draw.test);
  write_description(folder, "speech", options_json(options.generator));
}

}  // namespace fovea

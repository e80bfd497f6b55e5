#include "fovea/data/speech/reader.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/speech/spoken_word.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// The columns of a table, by their roles; -1: not there.
struct SpeechColumns {
  SpeechColumns(const MediaTable& media, const Roles& roles)
      : audio(media.find("audio", {"audio", "file", "path"})),
        parts(media.find("parts", {"parts", "files"})),
        transcript(media.find("transcript", {"transcript", "text"})),
        speaker(media.find("speaker", {"speaker"})),
        boundaries(media.find("boundaries", {"boundaries"})),
        split(media.split_column()) {
    if (roles.contains("parts")) audio = -1;
    if (roles.contains("audio")) parts = -1;
    const CsvTable& table = media.table();
    require(audio >= 0 || parts >= 0, ErrorKind::NotFound, table.path,
            ": there is no column of sounds; say which one holds their paths: --columns "
            "audio=NAME. The columns are: ",
            join(table.names));
    require(transcript >= 0, ErrorKind::NotFound, table.path,
            ": there is no column 'transcript'; say which one holds what is said: --columns "
            "transcript=NAME. The columns are: ",
            join(table.names));
  }

  int64_t audio, parts, transcript, speaker, boundaries, split;
};

std::vector<fs::path> sounds_of(const MediaTable& media, int64_t row,
                                const SpeechColumns& columns) {
  const bool one = columns.audio >= 0;
  const std::string_view cell = media.table().cell(row, one ? columns.audio : columns.parts);
  std::vector<fs::path> sounds;
  for (const std::string& name : one ? std::vector{std::string(trim(cell))} : split(cell, ' '))
    if (!name.empty()) sounds.push_back(media.file_of(name));
  return sounds;
}

std::vector<std::pair<double, double>> boundaries_of(std::string_view cell, size_t words,
                                                     const std::string& place) {
  std::vector<std::pair<double, double>> boundaries;
  double before = 0;
  for (const std::string& text : split(trim(cell), ' ')) {
    if (text.empty()) continue;
    const std::vector<std::string> ends = split(text, ':');
    double begin = 0, end = 0;
    const bool fits = ends.size() == 2 && parse_number(ends[0], begin) &&
                      parse_number(ends[1], end) && std::isfinite(end) && begin >= before &&
                      begin < end;
    require(fits, ErrorKind::BadData, place, ": the boundaries '", text,
            "' do not fit; expected begin:end of a word in seconds, as in 0.25:0.6, each word "
            "after the one before it");
    boundaries.emplace_back(begin, end);
    before = end;
  }
  require(boundaries.empty() || boundaries.size() == words, ErrorKind::BadData, place, ": has ",
          boundaries.size(), " boundaries for ", words, " words");
  return boundaries;
}

}  // namespace

FileRows<Utterance> read_speech(const fs::path& path, const MediaTableOptions& options,
                                const RowSink<Utterance>& sink) {
  const MediaTable media(path, options, "data.sounds", "wav/{}");
  const CsvTable& table = media.table();
  const SpeechColumns columns(media, options.roles);
  FileRows<Utterance> texts{sink};
  int64_t empty = 0;
  for (int64_t row = 0; row < table.rows(); ++row) {
    Utterance utterance;
    utterance.sounds = sounds_of(media, row, columns);
    utterance.transcript = trim(table.cell(row, columns.transcript));
    if (utterance.sounds.empty() || utterance.transcript.empty()) {
      ++empty;
      continue;
    }
    utterance.place = table.place(row);
    const size_t words = word_spans(utterance.transcript).size();
    utterance.sound_is_word = columns.audio < 0 && utterance.sounds.size() == words;
    if (columns.speaker >= 0) utterance.speaker = trim(table.cell(row, columns.speaker));
    if (columns.boundaries >= 0)
      utterance.boundaries =
          boundaries_of(table.cell(row, columns.boundaries), words, utterance.place);
    std::optional<Split> split;
    if (columns.split >= 0) split = split_in_cell(table.cell(row, columns.split), utterance.place);
    texts.add(std::move(utterance), split);
  }
  require(texts.count > 0, ErrorKind::BadData, table.path, ": holds no utterances");
  texts.hash = table.hash;
  if (empty > 0)
    texts.notes.push_back(concat(table.path, ": ", format_count(empty),
                                 " rows without sound or transcript were left out"));
  return texts;
}

SplitRows<Utterance> open_speech(const DataSource& source, const SplitOptions& split,
                                 MediaTableOptions options) {
  check_roles(source, {"audio", "parts", "transcript", "speaker", "boundaries", "split"});
  options.roles = source.roles;
  return read_splits<Utterance>(source, split,
                                {kMediaTableEndings,
                                 [options](const fs::path& path, const RowSink<Utterance>& sink) {
                                   return read_speech(path, options, sink);
                                 },
                                 "utterances"});
}

}  // namespace fovea

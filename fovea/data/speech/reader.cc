#include "fovea/data/speech/reader.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/speech/spoken_word.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kEndings = {".csv", ".tsv", ".tab"};

/// The columns of a table, by their roles; -1: not there.
struct Columns {
  Columns(const CsvTable& table, const Roles& roles) {
    audio = find(table, roles, "audio", {"audio", "file", "path"});
    parts = find(table, roles, "parts", {"parts", "files"});
    if (roles.contains("parts")) audio = -1;
    if (roles.contains("audio")) parts = -1;
    transcript = find(table, roles, "transcript", {"transcript", "text"});
    speaker = find(table, roles, "speaker", {"speaker"});
    boundaries = find(table, roles, "boundaries", {"boundaries"});
    split = find(table, roles, "split", {"split"});
    require(audio >= 0 || parts >= 0, ErrorKind::NotFound, table.path,
            ": there is no column of sounds; say which one holds their paths: --columns "
            "audio=NAME. The columns are: ",
            join(table.names));
    require(transcript >= 0, ErrorKind::NotFound, table.path,
            ": there is no column 'transcript'; say which one holds what is said: --columns "
            "transcript=NAME. The columns are: ",
            join(table.names));
    if (split >= 0 && !roles.contains("split") && !names_splits(table, split)) split = -1;
  }

  int64_t audio, parts, transcript, speaker, boundaries, split;

 private:
  static int64_t find(const CsvTable& table, const Roles& roles, const std::string& role,
                      const std::vector<std::string>& usual) {
    if (roles.contains(role)) return table.column(single_role(roles, role, role));
    for (const std::string& name : usual)
      if (const int64_t column = table.find(name); column >= 0) return column;
    return -1;
  }
};

/// `sounds` with the cell in the place of {}.
fs::path path_of(const std::string& cell, const SpeechFileOptions& options, const fs::path& table) {
  std::string path = options.sounds.empty() ? "{}" : options.sounds;
  for (size_t at = path.find("{}"); at != std::string::npos; at = path.find("{}", at + cell.size()))
    path.replace(at, 2, cell);
  return table.parent_path() / path;
}

std::vector<fs::path> sounds_of(const CsvTable& table, int64_t row, const Columns& columns,
                                const SpeechFileOptions& options) {
  std::vector<fs::path> sounds;
  if (columns.audio >= 0) {
    const std::string cell(trim(table.cell(row, columns.audio)));
    if (!cell.empty()) sounds.push_back(path_of(cell, options, table.path));
    return sounds;
  }
  for (const std::string& cell : split(table.cell(row, columns.parts), ' '))
    if (!cell.empty()) sounds.push_back(path_of(cell, options, table.path));
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

FileRows<Utterance> read_speech(const fs::path& path, const SpeechFileOptions& options) {
  CsvOptions reading;
  const fs::path name = path.extension() == ".gz" ? path.stem() : path;
  reading.quotes = options.quotes == "auto" ? name.extension() == ".csv" : options.quotes == "yes";
  require(options.sounds.empty() || options.sounds.find("{}") != std::string::npos,
          ErrorKind::InvalidArgument, "data.sounds=", options.sounds,
          " names no place for a row's cell; write {} where it belongs, as in wav/{}");
  const CsvTable table = read_csv(path, reading);
  const Columns columns(table, options.roles);
  FileRows<Utterance> texts;
  int64_t empty = 0;
  for (int64_t row = 0; row < table.rows(); ++row) {
    Utterance utterance;
    utterance.sounds = sounds_of(table, row, columns, options);
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
    if (columns.split >= 0)
      texts.splits.push_back(split_in_cell(table.cell(row, columns.split), utterance.place));
    texts.rows.push_back(std::move(utterance));
  }
  require(!texts.rows.empty(), ErrorKind::BadData, table.path, ": holds no utterances");
  texts.hash = table.hash;
  if (empty > 0)
    texts.notes.push_back(concat(table.path, ": ", format_count(empty),
                                 " rows without sound or transcript were left out"));
  return texts;
}

SplitRows<Utterance> open_speech(const DataSource& source, const SplitOptions& split,
                                 SpeechFileOptions options) {
  check_roles(source, {"audio", "parts", "transcript", "speaker", "boundaries", "split"});
  options.roles = source.roles;
  return read_splits<Utterance>(
      source, split,
      {kEndings, [&](const fs::path& path) { return read_speech(path, options); }, "utterances"});
}

}  // namespace fovea

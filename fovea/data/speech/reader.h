// Sounds with transcripts: CSV or TSV with a header, plain or gzip, one utterance a row. Which
// column is what is said by roles (--columns audio=clip,transcript=sentence); without roles the
// columns are called
//   audio (or file, path)     the path of a sound
//   parts (or files)          instead of it: paths of sounds that follow each other, with blanks
//                             between them. Where there are as many as the transcript has words,
//                             each is one word, and it is known where every word is heard
//   transcript (or text)      what is said
//   speaker                   who says it; optional
//   boundaries                begin:end of every word in seconds, with blanks between; optional
//   split                     optional
// docs/formats/audio.md states the rules and what is refused.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/load.h"
#include "fovea/data/media_table.h"
#include "fovea/data/speech/sound.h"

namespace fovea {

struct Utterance {
  std::vector<std::filesystem::path> sounds;  // one after the other
  std::string transcript, speaker;
  bool sound_is_word = false;                         // each of the sounds is one word
  std::vector<std::pair<double, double>> boundaries;  // of each word, in seconds; empty: unknown
  std::string place;                                  // "speech.tsv:17"
  Sound drawn = {};                                   // synthetic: instead of files
};

/// Rows without sound or transcript are left out and noted. Sounds are not opened. BadData with
/// path:line; NotFound for a column that is not there.
FileRows<Utterance> read_speech(const std::filesystem::path& path, const MediaTableOptions& options,
                                const RowSink<Utterance>& sink = {});

/// A file, or a folder with train, val and test files (.csv .tsv .tab).
SplitRows<Utterance> open_speech(const DataSource& source, const SplitOptions& split,
                                 MediaTableOptions options);

}  // namespace fovea

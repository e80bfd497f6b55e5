#include "fovea/data/pairs/load.h"

#include <map>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/names.h"
#include "fovea/data/pairs/folder.h"
#include "fovea/data/pairs/prepared.h"
#include "fovea/data/pairs/reader.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// "de" of train.de.gz.
std::string language_of(const fs::path& path) {
  return plain_ending(path).erase(0, 1);
}

void check_direction(const DataSource& source, const std::string& direction) {
  const Direction names = parse_direction(direction);
  require(
      language_of(source.path) != names.target && language_of(source.target_path) != names.source,
      ErrorKind::InvalidArgument, "direction=", direction, " contradicts the files: the source is ",
      source.path.string(), " and the target ", source.target_path.string());
}

FileRows<TextPair> read_pairs(const PairFiles& files, const TextPairsOptions& options,
                              const RowSink<TextPair>& sink) {
  TextPairs read = files.target.empty()
                       ? read_file_pairs(files.source, options, sink)
                       : read_parallel_pairs(files.source, files.target, options, sink);
  if (read.left_out > 0)
    read.notes.push_back(concat(read.path, ": ", format_count(read.left_out),
                                " empty lines or pairs with an empty side were left out"));
  require(read.count > 0, ErrorKind::BadData, read.path, ": holds no pair of texts");
  return read;
}

Splits load_prepared(const DataSource& source, const PairsOptions& options,
                     PairTokenisers& tokenisers) {
  const std::string path = source.path.string();
  require(source.roles.empty() && source.target_path.empty(), ErrorKind::InvalidArgument, path,
          ": a prepared file has neither columns nor a second file");
  Prepared prepared = read_prepared(source.path);
  require(options.task.empty() || prepared.task == options.task, ErrorKind::BadData, path,
          ": was prepared for the task '", prepared.task, "', not for '", options.task, "'");
  if (tokenisers.source == nullptr) {
    for (const std::string& note :
         overridden_options(path, options_json(options), prepared.options,
                            {.keys = {}, .decisive = {"direction", "swap", "test"}}))
      prepared.splits.notes.push_back(note);
    require(prepared.splits.train != nullptr, ErrorKind::BadData, path, ": has no training split");
    tokenisers = prepared.tokenisers;
  } else {
    require_same_symbols(*tokenisers.source, *prepared.tokenisers.source, path);
    require_same_symbols(*tokenisers.target, *prepared.tokenisers.target, path);
  }
  return std::move(prepared.splits);
}

}  // namespace

Splits load_pairs(const DataSource& source, const PairsOptions& options, PairTokenisers& tokenisers,
                  uint64_t seed) {
  check_roles(source, {"source", "target", "links", "split"});
  require(!source.path.empty(), ErrorKind::InvalidArgument,
          "pairs of texts need a file or a folder to be read from");
  if (is_prepared(source.path)) return load_prepared(source, options, tokenisers);
  const bool is_parallel = !source.target_path.empty();
  require(!is_parallel || !fs::is_directory(source.path), ErrorKind::InvalidArgument,
          source.path.string(), ": is a folder; two parallel texts must be two files");
  if (is_parallel && !options.direction.empty()) check_direction(source, options.direction);
  TextPairsOptions reading;
  reading.roles = source.roles;
  reading.direction = options.direction;
  reading.swap = options.swap;
  // Beside their sources.
  const auto targets = std::make_shared<std::map<fs::path, fs::path>>();
  (*targets)[source.path] = source.target_path;
  Notes notes;
  Reader<TextPair> reader;
  reader.rows = "pairs";
  reader.group = {"source", [](const TextPair& pair) { return pair.source; }};
  reader.expected = "train.tsv, .csv or .jsonl, or train.xx and train.yy with direction=xx-yy";
  reader.read = [targets, reading](const fs::path& path, const RowSink<TextPair>& sink) {
    return read_pairs({path, (*targets)[path]}, reading, sink);
  };
  reader.find = [&](const fs::path& path) {
    const PairFolder folder = find_pair_files(path, {options.direction, options.test});
    notes = folder.notes;
    SplitFiles files;
    for (size_t split = 0; split < kSplitCount; ++split)
      if (const auto& own = folder.splits[split]) {
        files[split] = own->source;
        (*targets)[own->source] = own->target;
      }
    return files;
  };
  const SplitOptions split{options.task, options.validation_fraction, seed,
                           tokenisers.source == nullptr};
  SplitRows<TextPair> pairs = read_splits(source, split, reader);
  pairs.notes.insert(pairs.notes.begin(), notes.begin(), notes.end());
  return tokenise_splits(std::move(pairs), options, tokenisers);
}

Splits load_synthetic_pairs(SplitRows<TextPair> drawn, const Json& generator,
                            const PairsOptions& options, PairTokenisers& tokenisers) {
  require(options.direction.empty() && options.test.empty(), ErrorKind::InvalidArgument,
          "data.direction and data.test choose among files; the built-in data has none");
  if (options.swap) drawn.transform(swap_sides);
  ContentHash hash;
  hash.add(concat(options.task, " ", generator.dump()));
  drawn.train.for_each(
      [&](const TextPair& pair) { hash.add(pair.source), hash.add(pair.references[0]); });
  drawn.hash = hash.text();
  return tokenise_splits(std::move(drawn), options, tokenisers);
}

}  // namespace fovea

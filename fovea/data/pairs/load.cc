#include "fovea/data/pairs/load.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/pairs/folder.h"
#include "fovea/data/pairs/prepared.h"
#include "fovea/data/pairs/reader.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// What was read, before anything is tokenised.
struct ReadTexts {
  PairTexts texts;
  std::string hash;
  std::vector<std::string> notes;

  std::vector<TextPair>& part(int part) {
    return part == kTrain ? texts.train : part == kValidation ? texts.validation : texts.test;
  }
};

TextPairsOptions reader_options(const DataSource& source, const PairsOptions& options) {
  TextPairsOptions reading;
  reading.roles = source.roles;
  reading.direction = options.direction;
  reading.swap = options.swap;
  return reading;
}

/// "de" of train.de.gz.
std::string language_of(fs::path path) {
  if (path.extension() == ".gz") path = path.stem();
  return path.extension().string().erase(0, 1);
}

TextPairs read_files(const PairFiles& files, const TextPairsOptions& options) {
  return files.target.empty() ? read_tsv_pairs(files.source, options)
                              : read_parallel_pairs(files.source, files.target, options);
}

void note_left_out(ReadTexts& read, const TextPairs& pairs) {
  if (pairs.left_out > 0)
    read.notes.push_back(concat(pairs.path, ": ", format_count(pairs.left_out),
                                " empty lines or pairs with an empty side were left out"));
  require(!pairs.pairs.empty(), ErrorKind::BadData, pairs.path, ": holds no pair of texts");
}

void open_files(ReadTexts& read, const DataSource& source, const PairsOptions& options) {
  if (!source.target_path.empty() && !options.direction.empty()) {
    const Direction direction = parse_direction(options.direction);
    require(language_of(source.path) != direction.target &&
                language_of(source.target_path) != direction.source,
            ErrorKind::InvalidArgument, "direction=", options.direction,
            " contradicts the files: the source is ", source.path.string(), " and the target ",
            source.target_path.string());
  }
  TextPairs pairs = read_files({source.path, source.target_path}, reader_options(source, options));
  read.hash = pairs.hash;
  note_left_out(read, pairs);
  if (pairs.parts.empty()) {
    (source.whole ? read.texts.test : read.texts.train) = std::move(pairs.pairs);
    return;
  }
  for (size_t i = 0; i < pairs.pairs.size(); ++i)
    read.part(pairs.parts[i]).push_back(std::move(pairs.pairs[i]));
  read.notes.push_back(
      concat("split by the split column: ", format_count(int64_t(read.texts.train.size())),
             " training, ", format_count(int64_t(read.texts.validation.size())), " validation, ",
             format_count(int64_t(read.texts.test.size())), " test pairs"));
}

void open_folder(ReadTexts& read, const DataSource& source, const PairsOptions& options) {
  const PairFolder folder = find_pair_files(source.path, {options.direction, options.test});
  read.notes = folder.notes;
  ContentHash hash;
  for (int part = 0; part < kSplitCount; ++part) {
    const std::optional<PairFiles>& files = folder.parts[size_t(part)];
    if (!files) continue;
    TextPairs pairs = read_files(*files, reader_options(source, options));
    require(pairs.parts.empty(), ErrorKind::BadData, pairs.path,
            ": has a split column, but the folder already says that it is the ", kSplitNames[part],
            " part; remove the column");
    hash.add(concat(kSplitNames[part], "=", pairs.hash, "\n"));
    note_left_out(read, pairs);
    read.part(part) = std::move(pairs.pairs);
  }
  const fs::path description = source.path / "dataset.json";
  if (fs::exists(description)) {
    read_description(description, options.task);
    hash.add(hash_of_file(description));
  }
  read.hash = hash.text();
}

/// Cuts validation pairs off the training pairs when there are none. A source that has several
/// translations goes to one side with all of them, or its translation would be known.
void hold_out(ReadTexts& read, const PairsOptions& options, uint64_t seed) {
  PairTexts& texts = read.texts;
  if (texts.train.empty() || !texts.validation.empty() || options.validation_fraction == 0) return;
  std::unordered_map<std::string, size_t> groups;
  std::vector<size_t> group_of;
  for (const TextPair& pair : texts.train)
    group_of.push_back(groups.emplace(pair.source, groups.size()).first->second);
  require(groups.size() > 1, ErrorKind::BadData,
          "the training part has 1 different source; at least 2 are needed to hold one out");
  std::vector<bool> held(groups.size(), false);
  for (const int64_t group :
       split_rows(int64_t(groups.size()), options.validation_fraction, seed).validation)
    held[size_t(group)] = true;
  std::vector<TextPair> kept;
  for (size_t i = 0; i < texts.train.size(); ++i)
    (held[group_of[i]] ? texts.validation : kept).push_back(std::move(texts.train[i]));
  const size_t all = texts.train.size();
  texts.train = std::move(kept);
  read.notes.push_back(concat("validation: ", format_count(int64_t(texts.validation.size())),
                              " of the ", format_count(int64_t(all)), " pairs, chosen with seed ",
                              seed));
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
    require(prepared.splits.train != nullptr, ErrorKind::BadData, path, ": has no training part");
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
  const std::string path = source.path.string();
  require(fs::exists(source.path), ErrorKind::NotFound, path, ": no such file or folder");
  if (is_prepared(source.path)) return load_prepared(source, options, tokenisers);
  ReadTexts read;
  const bool is_folder = fs::is_directory(source.path);
  if (is_folder) {
    require(source.target_path.empty(), ErrorKind::InvalidArgument, path,
            ": is a folder; two parallel texts must be two files");
    open_folder(read, source, options);
  } else {
    open_files(read, source, options);
  }
  const PairTexts& texts = read.texts;
  if (tokenisers.source == nullptr)
    require(!texts.train.empty(), is_folder ? ErrorKind::NotFound : ErrorKind::BadData, path,
            is_folder ? ": the folder has no training part: train.tsv, or train.xx and train.yy "
                        "with direction=xx-yy (each may end in .gz)"
                      : ": no pair belongs to the training split");
  else
    require(!texts.train.empty() || !texts.validation.empty() || !texts.test.empty(),
            ErrorKind::NotFound, path, ": the folder has no train, val or test file with pairs");
  hold_out(read, options, seed);
  Splits splits = encode_splits(read.texts, options, tokenisers);
  splits.hash = read.hash;
  splits.notes.insert(splits.notes.begin(), read.notes.begin(), read.notes.end());
  return splits;
}

}  // namespace fovea

// What the loaders of texts share: which file or row belongs to which part of the data, rows held
// out for validation, notes. The readers of readers/tagged_text.h, labelled_text.h and corpus.h
// only say how one file is read.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/source.h"

namespace fovea {

/// One file, read.
template <class Item>
struct ReadTexts {
  std::vector<Item> items;
  std::vector<Split> parts;  // of each item, by a split column; empty without one
  std::string hash;          // ContentHash of the file's bytes
  std::vector<std::string> notes;
};

/// A data set as texts. A part that is not there is empty.
template <class Item>
struct SplitTexts {
  std::vector<Item> train, validation, test;
  std::string hash;
  std::vector<std::string> notes;

  std::vector<Item>& operator[](int part) {
    return part == kTrain ? train : part == kValidation ? validation : test;
  }
};

using SplitFiles = std::array<std::optional<std::filesystem::path>, kSplitCount>;

/// The files of a folder that are called after a part (part_of) and have one of the endings, each
/// perhaps with .gz. BadData for two of one part.
SplitFiles find_split_files(const std::filesystem::path& folder,
                            const std::vector<std::string>& endings);

/// The one file of the folder that has this name and one of the endings, perhaps with .gz, where no
/// file is called after a part; else none. BadData for two.
std::optional<std::filesystem::path> find_single_file(const std::filesystem::path& folder,
                                                      const std::string& name,
                                                      const std::vector<std::string>& endings);

/// Opens a file or a folder; `read` turns a path into ReadTexts<Item>. The rules of data/source.h:
/// a split column or the folder's files decide, otherwise all is for training (or, with
/// source.whole, for testing), and options.fraction of it is held out for validation.
template <class Item, class Read>
SplitTexts<Item> open_split_texts(const DataSource& source, const SplitOptions& options,
                                  const std::vector<std::string>& endings, Read read);

namespace text_parts {

template <class Item>
void take_notes(SplitTexts<Item>& parts, const ReadTexts<Item>& texts) {
  parts.notes.insert(parts.notes.end(), texts.notes.begin(), texts.notes.end());
}

template <class Item>
void place_file(SplitTexts<Item>& parts, ReadTexts<Item> texts, bool whole) {
  parts.hash = texts.hash;
  take_notes(parts, texts);
  if (texts.parts.empty()) {
    parts[whole ? kTest : kTrain] = std::move(texts.items);
    return;
  }
  for (size_t i = 0; i < texts.items.size(); ++i)
    parts[texts.parts[i]].push_back(std::move(texts.items[i]));
  parts.notes.push_back(
      concat("split by the split column: ", format_count(int64_t(parts.train.size())),
             " training, ", format_count(int64_t(parts.validation.size())), " validation, ",
             format_count(int64_t(parts.test.size())), " test texts"));
}

template <class Item, class Read>
void place_folder(SplitTexts<Item>& parts, const std::filesystem::path& folder,
                  const SplitOptions& options, const std::vector<std::string>& endings, Read read) {
  const SplitFiles files = find_split_files(folder, endings);
  ContentHash hash;
  for (int part = 0; part < kSplitCount; ++part) {
    if (!files[size_t(part)]) continue;
    ReadTexts<Item> texts = read(*files[size_t(part)]);
    require(texts.parts.empty(), ErrorKind::BadData, files[size_t(part)]->string(),
            ": has a split column, but the folder already says that it is the ", kSplitNames[part],
            " part; remove the column");
    hash.add(concat(kSplitNames[part], "=", texts.hash, "\n"));
    take_notes(parts, texts);
    parts[part] = std::move(texts.items);
  }
  const std::filesystem::path description = folder / "dataset.json";
  if (std::filesystem::exists(description)) {
    read_description(description, options.task);
    hash.add(hash_of_file(description));
  }
  parts.hash = hash.text();
}

/// Cuts validation texts off the training texts when there are none.
template <class Item>
void hold_out(SplitTexts<Item>& parts, const std::string& path, const SplitOptions& options) {
  if (parts.train.empty() || !parts.validation.empty() || options.fraction == 0) return;
  std::vector<Item> all = std::move(parts.train);
  parts.train.clear();
  require(all.size() > 1, ErrorKind::BadData, path,
          ": has 1 training text; at least 2 are needed to hold one out");
  const RowSplit rows = split_rows(int64_t(all.size()), options.fraction, options.seed);
  for (const int64_t row : rows.train) parts.train.push_back(std::move(all[size_t(row)]));
  for (const int64_t row : rows.validation) parts.validation.push_back(std::move(all[size_t(row)]));
  parts.notes.push_back(concat("validation: ", format_count(int64_t(rows.validation.size())),
                               " of the ", format_count(int64_t(all.size())),
                               " texts, chosen with seed ", options.seed));
}

}  // namespace text_parts

template <class Item, class Read>
SplitTexts<Item> open_split_texts(const DataSource& source, const SplitOptions& options,
                                  const std::vector<std::string>& endings, Read read) {
  const std::string path = source.path.string();
  require(std::filesystem::exists(source.path), ErrorKind::NotFound, path,
          ": no such file or folder");
  SplitTexts<Item> parts;
  const bool folder = std::filesystem::is_directory(source.path);
  if (folder) {
    text_parts::place_folder(parts, source.path, options, endings, read);
  } else {
    text_parts::place_file(parts, read(source.path), source.whole);
  }
  const bool enough = options.needs_training ? !parts.train.empty()
                                             : !parts.train.empty() || !parts.validation.empty() ||
                                                   !parts.test.empty();
  require(enough, folder ? ErrorKind::NotFound : ErrorKind::BadData, path,
          folder ? concat(": the folder has no ",
                          options.needs_training ? "train" : "train, val or test", " file (",
                          join(endings), ", each perhaps with .gz)")
                 : ": no text belongs to the training split");
  text_parts::hold_out(parts, path, options);
  return parts;
}

}  // namespace fovea

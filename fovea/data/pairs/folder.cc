#include "fovea/data/pairs/folder.h"

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/pairs/reader.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// train.de-en.tsv.gz: stem "train", middle "de-en", ending "tsv".
struct NamedFile {
  fs::path path;
  std::string stem, middle, ending;

  std::string name() const { return path.filename().string(); }
  bool holds_both() const {  // sides
    for (const char* own : {"tsv", "tab", "csv", "jsonl", "ndjson", "json"})
      if (ending == own) return true;
    return false;
  }
};

std::vector<NamedFile> list_files(const fs::path& folder) {
  std::vector<NamedFile> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.starts_with('.')) continue;
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    std::vector<std::string> words = split(name, '.');
    if (words.size() < 2) continue;
    files.push_back({entry.path(), words.front(), "", words.back()});
    files.back().middle = join(std::span(words).subspan(1, words.size() - 2), ".");
  }
  std::sort(files.begin(), files.end(),
            [](const NamedFile& a, const NamedFile& b) { return a.name() < b.name(); });
  return files;
}

/// False when the name holds a pair of languages and it is another one, in either order.
bool fits(const NamedFile& file, const std::optional<Direction>& direction) {
  if (!direction) return true;
  for (const std::string& word : split(file.middle, '.')) {
    const std::vector<std::string> languages = split(word, '-');
    if (languages.size() == 2 &&
        !(languages[0] == direction->source && languages[1] == direction->target) &&
        !(languages[0] == direction->target && languages[1] == direction->source))
      return false;
  }
  return true;
}

/// Two or three small letters, but not an ending of files that hold no sentences.
bool looks_like_language(const std::string& ending) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const std::set<std::string> others{"csv", "txt", "md", "log", "zip", "pdf", "py", "sh", "bin"};
  return (ending.size() == 2 || ending.size() == 3) &&
         std::all_of(ending.begin(), ending.end(), is_small) && !others.contains(ending);
}

class FolderReader {
 public:
  FolderReader(const fs::path& folder, const PairFolderOptions& options)
      : folder_(folder), options_(options), files_(list_files(folder)) {
    if (!options.direction.empty()) direction_ = parse_direction(options.direction);
  }

  PairFolder read() {
    PairFolder result;
    for (const Split split : {kTrain, kValidation})
      result.splits[split] =
          choose([&](const NamedFile& file) { return split_named(file.stem) == split; });
    result.splits[kTest] = choose_test(result.notes);
    return result;
  }

 private:
  /// Every way to read a split from the files that `belongs` accepts.
  template <class Belongs>
  std::vector<PairFiles> candidates(Belongs belongs) const {
    std::vector<PairFiles> found;
    for (const NamedFile& file : files_) {
      if (!belongs(file) || !fits(file, direction_)) continue;
      if (file.holds_both()) found.push_back({file.path, {}});
      const std::string target = target_ending(file.ending);
      if (target.empty()) continue;
      for (const NamedFile& other : files_)
        if (other.stem == file.stem && other.middle == file.middle && other.ending == target)
          found.push_back({file.path, other.path});
    }
    return found;
  }

  /// The ending of the target file beside a source file, or "" when it is none.
  std::string target_ending(const std::string& source) const {
    if (direction_) return source == direction_->source ? direction_->target : "";
    return source == "source" ? "target" : source == "src" ? "tgt" : "";
  }

  template <class Belongs>
  std::optional<PairFiles> choose(Belongs belongs) const {
    const std::vector<PairFiles> found = candidates(belongs);
    if (found.empty()) {
      check_unread(belongs);
      return std::nullopt;
    }
    if (found.size() > 1)
      fail(ErrorKind::BadData, folder_.string(), ": holds both ",
           found[0].source.filename().string(), " and ", found[1].source.filename().string(),
           direction_ ? "; remove one" : "; remove one, or choose the languages with direction");
    return found[0];
  }

  /// Parallel files that were passed over would be a silent mistake.
  template <class Belongs>
  void check_unread(Belongs belongs) const {
    std::map<std::string, std::vector<NamedFile>> beside;  // by stem and middle
    for (const NamedFile& file : files_)
      if (belongs(file) && looks_like_language(file.ending) && !file.holds_both())
        beside[file.stem + "." + file.middle].push_back(file);
    for (const auto& [name, files] : beside) {
      if (!direction_ && files.size() > 1)
        fail(ErrorKind::InvalidArgument, folder_.string(), ": holds ", files[0].name(), " and ",
             files[1].name(), "; say which is the source with direction=", files[0].ending, "-",
             files[1].ending, " or direction=", files[1].ending, "-", files[0].ending);
      for (const NamedFile& file : files)
        if (direction_ && (file.ending == direction_->source || file.ending == direction_->target))
          fail(ErrorKind::NotFound, folder_.string(), ": holds ", file.name(), " but not its ",
               file.ending == direction_->source ? direction_->target : direction_->source,
               " side, which direction=", options_.direction, " needs");
    }
  }

  /// A file called test wins over test_2016 and test_2017; of these the first one is taken.
  std::optional<PairFiles> choose_test(std::vector<std::string>& notes) const {
    if (options_.test.empty()) {
      auto exact = choose([](const NamedFile& file) { return split_named(file.stem) == kTest; });
      if (exact) return exact;
    }
    const std::string prefix = options_.test.empty() ? "test" : options_.test;
    std::set<std::string> stems;
    for (const NamedFile& file : files_)
      if (is_test(file, prefix)) stems.insert(file.stem);
    std::vector<std::string> readable;
    for (const std::string& stem : stems)
      if (!candidates([&](const NamedFile& file) { return file.stem == stem; }).empty())
        readable.push_back(stem);
    if (readable.empty()) {
      check_unread([&](const NamedFile& file) { return is_test(file, prefix); });
      require(options_.test.empty(), ErrorKind::NotFound, folder_.string(),
              ": no test file's name begins with '", options_.test, "'");
      return std::nullopt;
    }
    const std::string chosen = stems.contains(prefix) ? prefix : readable[0];
    std::erase(readable, chosen);
    if (chosen != prefix && !readable.empty())
      notes.push_back(concat("test split: ", chosen, "; test=NAME chooses another one of ",
                             quoted_list(readable)));
    return choose([&](const NamedFile& file) { return file.stem == chosen; });
  }

  /// The name begins with `prefix`; the word test must end there, or testament.tsv would be one.
  bool is_test(const NamedFile& file, const std::string& prefix) const {
    const int split = split_named(file.stem);
    if (split == kTrain || split == kValidation || !file.stem.starts_with(prefix)) return false;
    const char after = file.stem.size() > prefix.size() ? file.stem[prefix.size()] : '\0';
    const bool goes_on = (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z');
    return !options_.test.empty() || !goes_on;
  }

  fs::path folder_;
  PairFolderOptions options_;
  std::vector<NamedFile> files_;
  std::optional<Direction> direction_;
};

}  // namespace

PairFolder find_pair_files(const fs::path& folder, const PairFolderOptions& options) {
  return FolderReader(folder, options).read();
}

}  // namespace fovea

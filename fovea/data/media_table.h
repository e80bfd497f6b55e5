// Tables whose cells name files: pictures with captions, sounds with transcripts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fovea/data/formats/csv.h"
#include "fovea/data/source.h"

namespace fovea {

struct MediaTableOptions {
  Roles roles;                  // names of columns
  std::string files;            // where a file lies, {} being its cell: "png/{}.png"; empty: "{}"
  std::string quotes = "auto";  // yes, no; auto: quotes are text in a TSV and quote in a CSV
};

extern const std::vector<std::string> kMediaTableEndings;  // .csv, .tsv, .tab

class MediaTable {
 public:
  /// `option` is the name of options.files, `example` a value that it may have. InvalidArgument for
  /// one without {}; BadData with path:line.
  MediaTable(const std::filesystem::path& path, const MediaTableOptions& options,
             const char* option, const char* example);

  const CsvTable& table() const { return table_; }
  /// The column of a role, or the first of these names; -1 where there is none.
  int64_t find(const std::string& role, const std::vector<std::string>& names) const;
  /// The column called split, or of this role, where its cells name splits; -1 where there is none.
  int64_t split_column() const;
  /// Paths begin where the table lies.
  std::filesystem::path file_of(const std::string& cell) const;

 private:
  MediaTableOptions options_;
  CsvTable table_;
};

/// The option max_bad_share.
void describe_bad_share(OptionList& list, double& share);

/// Calls read(i) for each i below `count`, side by side. Files that cannot be read are left out,
/// up to this share of them: which ones is returned, and a note names them. When there are more,
/// what went wrong first, in this order, is thrown behind its place_of(i).
std::vector<bool> read_files(int64_t count, const std::function<void(int64_t)>& read,
                             const std::function<std::string(int64_t)>& place_of,
                             const LoadProgress& progress, double max_bad_share,
                             std::vector<std::string>& notes);

}  // namespace fovea

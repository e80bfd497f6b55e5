// Texts with a label, one or two texts a row: CSV, TSV or JSONL, plain or gzip. Which column is
// what is said by roles (--columns text=review,label=stars); without roles the columns are called
// text, second and label, or as is usual elsewhere (review, sentence1, text_b, class, labels,
// score). Several labels are a list in JSON, a column called labels with something between them
// (label_cells.h), or several columns of 0 and 1 (--target joy,anger). A JSONL row
// may hold "sentences", lists of words, in place of its text, and "rationale", which of them people
// hold for decisive (ERASER, DeYoung et al. 2020). docs/formats/labelled-text.md states the rules
// and what is refused.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/label_cells.h"
#include "fovea/data/load.h"
#include "fovea/data/source.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

struct LabelledText {
  std::string text;
  std::string second;               // "" unless there are pairs
  std::string label;                // as it stands in the file; "" where none is asked for
  std::vector<Span> decisive = {};  // of `text`, in code points: what people marked as decisive
  LabelCell cell = LabelCell::One;
  std::vector<std::string> labels = {};  // of a List; `label` then has them in one text
};

/// A row with these labels.
void put_labels(std::vector<std::string> labels, LabelledText& row);

struct LabelledTextOptions {
  Roles roles;                  // text, second, label, split: names of columns or keys
  std::string quotes = "auto";  // yes, no; auto: quotes are text in a TSV and quote in a CSV
  bool needs_label = true;      // otherwise a file without labels will do
  Roles* found = nullptr;       // is given the columns that stand for roles nobody named
  int64_t max_bytes = int64_t{4} << 30;  // of one file, unpacked
};

/// Rows without text, or without a label where one is needed, are left out and noted; none of
/// several labels is no reason. BadData with
/// path:line; NotFound for a column that is not there.
FileRows<LabelledText> read_labelled_text(const std::filesystem::path& path,
                                          const LabelledTextOptions& options,
                                          const RowSink<LabelledText>& sink = {});

/// A file or a folder with train, val and test files (.csv .tsv .tab .jsonl .ndjson .json, and
/// those of text_files.h), or a folder of texts by class. `options.roles` are the source's.
SplitRows<LabelledText> open_labelled_text(const DataSource& source, const SplitOptions& split,
                                           LabelledTextOptions options);

/// Whether a file of this name, without .gz, is read as CSV, TSV or JSONL.
bool is_labelled_text(const std::filesystem::path& path);

}  // namespace fovea

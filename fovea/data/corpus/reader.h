// Plain text to learn a language from: documents, each a list of sentences. A .txt file, plain or
// gzip, has one sentence or one document a line, and blank lines between documents; of a CSV, TSV
// or JSONL the text column is taken. docs/formats/corpus.md states the rules and what is refused.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fovea/data/load.h"
#include "fovea/data/source.h"

namespace fovea {

using Document = std::vector<std::string>;  // its sentences, none empty

struct CorpusOptions {
  Roles roles = {};                       // text: the column of a CSV, TSV or JSONL
  std::string documents = "blank_lines";  // blank_lines: between documents; lines: each line is one
  std::string sentences = "auto";  // lines: each line is one; cut: where Unicode's rules say;
                                   // auto: lines where blank lines separate documents, else cut
  int64_t max_bytes = int64_t{4} << 30;  // of one file, unpacked
};

/// Gives the documents one after the other, so that a caller need not keep them. Returns the hash
/// of the file's bytes. BadData with path:line, also when there is no document at all.
std::string read_corpus(const std::filesystem::path& path, const CorpusOptions& options,
                        const std::function<void(Document)>& take);

/// A file, or a folder with train, val and test files (.txt .csv .tsv .tab .jsonl .ndjson).
/// `options.roles` are the source's.
SplitRows<Document> open_corpus(const DataSource& source, const SplitOptions& split,
                                CorpusOptions options);

}  // namespace fovea

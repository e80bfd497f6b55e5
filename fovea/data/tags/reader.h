// Sentences with a tag for every token (CoNLL, TSV): one token a line, its tag in one of the
// columns, a blank line between sentences; plain or gzip. Entities may be written as IOB1, IOB2,
// IOBES or BILOU; what comes out is IOB2: B-type begins an entity, I-type goes on with it, O is
// outside. docs/formats/tagging.md states the rules and what is refused.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/load.h"
#include "fovea/data/source.h"

namespace fovea {

struct TaggedSentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;                           // one per word; of entities IOB2
  std::vector<std::pair<int64_t, int64_t>> decisive = {};  // a word, and one that decides its tag
};

struct TaggedTextOptions {
  Roles roles;  // token, tag: numbers of columns, from 1; else first and last
  std::string separator =
      "auto";  // tab, blanks; auto: tab when the first line with a token has one
  std::string scheme = "entities";       // entities, or plain: tags are taken as they stand
  int64_t max_bytes = int64_t{4} << 30;  // of one file, unpacked
};

/// BadData with path:line. A sentence has at least one word.
FileRows<TaggedSentence> read_tagged_text(const std::filesystem::path& path,
                                          const TaggedTextOptions& options,
                                          const RowSink<TaggedSentence>& sink = {});

/// A file, or a folder with train, val and test files (.tsv .tab .conll .txt .iob .iob2 .bio).
/// `options.roles` are the source's.
SplitRows<TaggedSentence> open_tagged_text(const DataSource& source, const SplitOptions& split,
                                           TaggedTextOptions options);

/// The tags of one sentence as IOB2, in place. An I- that no entity of its type comes before begins
/// one. Returns the number of tags that changed. BadData, naming the tag and its index, for a tag
/// that is neither O nor B-, I-, E-, L-, S- or U- with a type.
int64_t normalise_tags(std::vector<std::string>& tags);

/// The sentences as a TSV that reads back the same. InvalidArgument for a word or tag that is empty
/// or holds a tab or a line end.
std::string format_tagged_text(std::span<const TaggedSentence> sentences);

}  // namespace fovea

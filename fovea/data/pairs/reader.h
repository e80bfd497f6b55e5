// Pairs of texts from one TSV file or from two parallel files, plain or gzip. In a TSV every
// character but tab and line end is text, quotes too. docs/formats/pairs.md states the rules and
// what is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/load.h"
#include "fovea/data/pairs/dataset.h"
#include "fovea/data/source.h"

namespace fovea {

/// "de-en": from German to English.
struct Direction {
  std::string source, target;
};
/// InvalidArgument unless `text` is two different names around one '-'.
Direction parse_direction(const std::string& text);

struct TextPairsOptions {
  Roles roles;            // source, target (several: further references), links, split: columns of
                          // a TSV by name or by number, from 1
  std::string direction;  // a TSV's columns by their language, where its header names them
  bool swap = false;      // a TSV's second column is the source
  int64_t max_bytes = int64_t{4} << 30;  // of one file, unpacked
};

struct TextPairs : FileRows<TextPair> {
  std::string path = {};
  int64_t left_out = 0;  // empty lines and pairs with an empty side
};

/// By default column 1 is the source, column 2 the target, further ones more references. BadData
/// with path:line; InvalidArgument when it cannot be known which column is the source.
TextPairs read_tsv_pairs(const std::filesystem::path& path, const TextPairsOptions& options,
                         const RowSink<TextPair>& sink = {});

/// A TSV; a CSV with a header that names the sides; or JSON (formats/json_rows.h): {"source": …,
/// "target": …}, {"de": …, "en": …} or {"translation": {"de": …, "en": …}}, where languages need a
/// direction or roles.
TextPairs read_file_pairs(const std::filesystem::path& path, const TextPairsOptions& options,
                          const RowSink<TextPair>& sink = {});

/// Line N of one file belongs to line N of the other. BadData when one has more lines.
TextPairs read_parallel_pairs(const std::filesystem::path& source,
                              const std::filesystem::path& target, const TextPairsOptions& options,
                              const RowSink<TextPair>& sink = {});

/// Exchanges the two sides, links too. InvalidArgument for a pair with several references.
void swap_sides(TextPair& pair);

/// Links as a cell of a TSV, "tb-te:sb-se tb-te:sb-se …" in bytes, end excluded, with "?" for ":"
/// where a link is only possible; and back. Read are also Pharaoh's links between words from 0 on,
/// "source-target", and "source?target" or "sourceptarget" for possible ones. BadData,
/// beginning with `place`, when the cell is not of that form or leaves the texts.
std::string format_links(std::span<const Link> links);
std::vector<Link> parse_links(std::string_view cell, const TextPair& pair,
                              const std::string& place);

}  // namespace fovea

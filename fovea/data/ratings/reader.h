// Reviews: who rated what how highly, in which words and when. CSV, TSV or JSONL, plain or gzip.
// Which column is what is said by roles (--columns user=reviewerID,item=asin,rating=overall);
// without roles the columns are called user, item, rating, text and time. docs/formats/reviews.md
// states the rules and what is refused.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fovea/data/load.h"
#include "fovea/data/source.h"

namespace fovea {

struct Review {
  std::string user, item;
  double rating = 0;
  std::string text = {};             // may be empty
  std::optional<double> time = {};   // later is larger
  std::string place = "the review";  // "reviews.tsv:17"
};

struct ReviewsOptions {
  Roles roles;                  // user, item, rating, text, time, split: names of columns or keys
  std::string quotes = "auto";  // yes, no; auto: quotes are text in a TSV and quote in a CSV
  bool needs_text = true;       // otherwise a file without texts will do
  bool reads_split = true;      // otherwise a split column is one that nobody asked for
  int64_t max_bytes = int64_t{4} << 30;  // of one file, unpacked
};

/// Rows without a user, an item or a rating are left out and noted. BadData with path:line, for a
/// rating that is no number too; NotFound for a column that is not there.
FileRows<Review> read_reviews(const std::filesystem::path& path, const ReviewsOptions& options,
                              const RowSink<Review>& sink = {});

/// A file, a folder with train, val and test files (.csv .tsv .tab .jsonl .ndjson), or one with a
/// single file called reviews. Validation reviews are held out only where splits are given and have
/// none. `options.roles` are the source's.
SplitRows<Review> open_reviews(const DataSource& source, const SplitOptions& split,
                               ReviewsOptions options);

}  // namespace fovea

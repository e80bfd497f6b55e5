#include "fovea/data/ratings/reader.h"

#include <array>
#include <cmath>

#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/role_rows.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

enum ReviewRole : size_t { kUser, kItem, kRating, kText, kTime, kSplit };
const std::vector<std::string> kRoleNames = {"user", "item", "rating", "text", "time", "split"};

double parse_rating(const std::string& cell, const std::string& place) {
  double rating = 0;
  require(parse_number(trim(cell), rating) && std::isfinite(rating), ErrorKind::BadData, place,
          ": the rating '", cell, "' is no number");
  return rating;
}

}  // namespace

FileRows<Review> read_reviews(const fs::path& path, const ReviewsOptions& options,
                              const RowSink<Review>& sink) {
  RoleOptions reading;
  reading.roles = kRoleNames;
  reading.needed = {"user", "item", "rating"};
  reading.texts = {"text"};
  reading.named = options.roles;
  reading.quotes = options.quotes;
  reading.reads_split = options.reads_split;
  reading.max_bytes = options.max_bytes;
  reading.example = "{\"user\": \"…\", \"item\": \"…\", \"rating\": 4, \"text\": \"…\"}";
  FileRows<Review> file{sink};
  std::array<int64_t, kText> without{};  // rows without a user, an item, a rating
  const auto take = [&](RoleRow& row) {
    for (const size_t role : {kUser, kItem, kRating})
      if (!row.cells[role] || trim(*row.cells[role]).empty()) {
        ++without[role];
        return;
      }
    Review review{std::string(trim(*row.cells[kUser])), std::string(trim(*row.cells[kItem])),
                  parse_rating(*row.cells[kRating], row.place)};
    require(
        row.cells[kText] || !options.needs_text,
        row.json ? ErrorKind::BadData : ErrorKind::NotFound, row.place,
        ": there is no column 'text', the review that this model reads; say which one holds it: "
        "--columns text=NAME, or take a model that reads none: --set model.name=mf");
    if (row.cells[kText]) review.text = std::move(*row.cells[kText]);
    if (const auto& time = row.cells[kTime]; time && !trim(*time).empty())
      review.time = time_in_cell(*time, row.place);
    review.place = row.place;
    const auto& split = row.cells[kSplit];
    file.add(std::move(review),
             split ? std::optional(split_in_cell(*split, row.place)) : std::nullopt);
  };
  file.hash = RoleReader(reading).read(path, take, &file.notes);
  for (const size_t role : {kUser, kItem, kRating})
    if (without[role] > 0)
      file.notes.push_back(concat(path.string(), ": ", format_count(without[role]),
                                  " rows without ", role == kItem ? "an " : "a ", kRoleNames[role],
                                  " were left out"));
  require(file.count > 0, ErrorKind::BadData, path.string(), ": holds no review");
  return file;
}

SplitRows<Review> open_reviews(const DataSource& source, const SplitOptions& split,
                               ReviewsOptions options) {
  check_roles(source, kRoleNames);
  options.roles = source.roles;
  const auto read = [options](const fs::path& path, const RowSink<Review>& sink) {
    return read_reviews(path, options, sink);
  };
  SplitOptions whole = split;
  whole.fraction = 0;
  SplitRows<Review> rows =
      read_splits<Review>(source, whole, {kRoleEndings, read, "reviews", "reviews"});
  for (int split = 0; split < kSplitCount; ++split) rows[split].keep();  // what a store is made of
  require(!rows.given || options.reads_split, ErrorKind::InvalidArgument, source.path.string(),
          ": the folder's files say which split is which; leave data.split at auto");
  if (rows.given) hold_out(rows, source.path.string(), "reviews", split);
  return rows;
}

}  // namespace fovea

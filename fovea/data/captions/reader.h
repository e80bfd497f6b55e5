// Pictures with captions: CSV or TSV with a header, plain or gzip, one picture and one or more
// captions a row. Which column is what is said by roles (--columns image=file,caption=title);
// without roles the columns are called image, caption, boxes and split. Rows of one picture are put
// together: their captions are all right. docs/formats/images.md states the rules and what is
// refused.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/images/image.h"
#include "fovea/data/load.h"
#include "fovea/data/media_table.h"

namespace fovea {

/// Planted truth: these bytes of the first caption name what is in this box, whose sides are shares
/// of the picture's.
struct CaptionBox {
  int64_t begin = 0, end = 0;
  double left = 0, top = 0, right = 0, bottom = 0;
  bool operator==(const CaptionBox&) const = default;
};

struct CaptionedImage {
  std::filesystem::path image;
  std::vector<std::string> captions;  // at least one
  std::vector<CaptionBox> boxes;      // empty where nothing is known
  std::string place;                  // "captions.tsv:17"
  Image drawn = {};                   // synthetic: instead of the file
};

/// Rows without caption are left out and noted. Pictures are not opened. Roles: image, caption
/// (several), boxes, split. BadData with path:line; NotFound for a column that is not there.
FileRows<CaptionedImage> read_captions(const std::filesystem::path& path,
                                       const MediaTableOptions& options,
                                       const RowSink<CaptionedImage>& sink = {});

/// A file, or a folder with train, val and test files (.csv .tsv .tab).
SplitRows<CaptionedImage> open_captions(const DataSource& source, const SplitOptions& split,
                                        MediaTableOptions options);

/// "2-12:0.1,0.25,0.5,0.75 …": begin-end of the caption, then left, top, right and bottom.
std::string format_boxes(const std::vector<CaptionBox>& boxes);
/// BadData names `place`.
std::vector<CaptionBox> parse_boxes(std::string_view text, size_t caption_bytes,
                                    const std::string& place);

}  // namespace fovea

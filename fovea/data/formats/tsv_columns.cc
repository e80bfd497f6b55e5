#include "fovea/data/formats/tsv_columns.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/formats/named_cells.h"

namespace fovea {

namespace {

using Cells = std::vector<std::string>;

bool contains(const Cells& cells, const std::string& name) {
  return std::find(cells.begin(), cells.end(), name) != cells.end();
}

/// The columns of a header in which the two sides are called `source` and `target`.
TsvColumns by_header(const Cells& cells, const Direction& names, const std::string& place) {
  TsvColumns columns;
  columns.header = true;
  columns.cells = cells.size();
  columns.rest_are_references = false;
  columns.targets.clear();
  std::optional<size_t> source;
  const auto only = [&](std::optional<size_t>& column, size_t at) {
    require(!column, ErrorKind::BadData, place, ": the header names '", cells[at], "' twice");
    column = at;
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == names.target) {
      columns.targets.push_back(i);
    } else if (cells[i] == names.source) {
      only(source, i);
    } else if (cells[i] == "links") {
      only(columns.links, i);
    } else if (cells[i] == "split") {
      only(columns.split, i);
    } else {
      fail(ErrorKind::BadData, place, ": the header names '", cells[i], "' beside '", names.source,
           "' and '", names.target, "'; only links and split are known, so say which columns to ",
           "use: --columns source=", names.source, " --columns target=", names.target);
    }
  }
  columns.source = *source;
  return columns;
}

/// The columns that the user named. Digits are always a number, or a first line that happens to
/// hold them would pass for a header.
TsvColumns by_roles(const Cells& cells, const TextPairsOptions& options, const std::string& place) {
  require(!options.swap, ErrorKind::InvalidArgument,
          "--columns already says which column is the source; leave swap out");
  TsvColumns columns;
  columns.rest_are_references = false;
  columns.targets.clear();
  size_t highest = 0;
  const auto find = [&](const std::string& role, const std::string& name) {
    int64_t number = 0;
    if (parse_integer(name, number)) {
      require(number >= 1 && number <= int64_t(cells.size()), ErrorKind::NotFound, place,
              ": there is no column ", number, " for the role '", role,
              "'; the first line has 1 to ", cells.size());
      highest = std::max(highest, size_t(number));
      return size_t(number - 1);
    }
    const int64_t found = find_name(cells, name);
    require(found >= 0, ErrorKind::NotFound, place, ": there is no column '", name,
            "' for the role '", role, "'; the first line has ", quoted_list(cells),
            " (a number, from 1, names a column too)");
    columns.header = true;
    return size_t(found);
  };
  const auto single = [&](const char* role) -> std::optional<size_t> {
    const std::string name = single_role(options.roles, role, "");
    if (name.empty()) return std::nullopt;
    return find(role, name);
  };
  const auto targets = options.roles.find("target");
  require(options.roles.contains("source") && targets != options.roles.end(),
          ErrorKind::InvalidArgument,
          "--columns must name both sides, for example source=1 and target=2");
  columns.source = *single("source");
  for (const std::string& name : targets->second) columns.targets.push_back(find("target", name));
  columns.links = single("links");
  columns.split = single("split");
  // Numbers may stand beside a header, as long as it is one that can be known as such.
  if (contains(cells, "source") && contains(cells, "target")) columns.header = true;
  columns.cells = columns.header ? cells.size() : std::max<size_t>(highest, 2);
  return columns;
}

}  // namespace

TsvColumns find_tsv_columns(const std::vector<std::string>& first_line,
                            const TextPairsOptions& options, const std::string& place) {
  if (!options.roles.empty()) return by_roles(first_line, options, place);
  TsvColumns columns;
  if (!options.direction.empty()) {
    const Direction direction = parse_direction(options.direction);
    if (contains(first_line, direction.source) && contains(first_line, direction.target)) {
      require(!options.swap, ErrorKind::InvalidArgument, place,
              ": the header names the languages, so the direction decides; leave swap out");
      return by_header(first_line, direction, place);
    }
    require(options.swap, ErrorKind::InvalidArgument, place, ": direction=", options.direction,
            " does not tell which column is ", direction.source,
            ", since no header names the languages; leave direction out when column 1 is the ",
            "source, set swap=yes when column 2 is, or name the columns (--columns source=2 ",
            "--columns target=1)");
  }
  if (contains(first_line, "source") && contains(first_line, "target"))
    columns = by_header(first_line, {"source", "target"}, place);
  columns.swap = options.swap;
  require(!columns.swap || columns.targets.size() == 1, ErrorKind::InvalidArgument, place,
          ": has several targets; with swap there must be one");
  return columns;
}

}  // namespace fovea

#include "fovea/data/graph/reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/text_encoding.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/source.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

using Cells = std::vector<std::string>;

constexpr int64_t kMostNodes = int64_t{1} << 31;

const std::vector<std::string> kGraphEndings = {".tsv", ".tab", ".csv"};

fs::path needed_file(const fs::path& folder, const std::string& name) {
  const auto found = find_file(folder, {name}, kGraphEndings);
  require(found.has_value(), ErrorKind::NotFound, folder.string(), ": there is no ", name,
          ".tsv (or ", name,
          ".csv, each perhaps with .gz); docs/formats/graph.md says what a graph consists of");
  return *found;
}

/// The rows of one of the files: cells without blanks at their ends. Empty lines and those that
/// begin with # are skipped.
class Rows {
 public:
  Rows(const fs::path& path, int64_t max_bytes)
      : lines_(path, max_bytes), is_csv_(plain_ending(path) == ".csv") {}

  bool next(Cells& cells) {
    for (std::string_view line; lines_.next(line);) {
      if (trim(line).empty() || line.front() == '#') continue;
      cells = is_csv_ ? parse_csv_line(line, ',') : split(line, '\t');
      for (std::string& cell : cells) cell = std::string(trim(cell));
      require(!cells[0].empty(), ErrorKind::BadData, place(),
              ": the first cell is empty; expected ", "the name of a node");
      return true;
    }
    return false;
  }
  std::string place() const { return lines_.place(); }
  std::string hash() const { return lines_.hash(); }
  const std::string& path() const { return lines_.path(); }

 private:
  TextLines lines_;
  bool is_csv_;
};

/// The nodes by name. Where a file says which there are, others are refused.
class Nodes {
 public:
  explicit Nodes(std::vector<std::string>& names) : names_(names) {}

  int64_t add(const std::string& name, const std::string& place) {
    const auto [found, is_new] = numbers_.emplace(name, int64_t(names_.size()));
    if (!is_new) return found->second;
    require(int64_t(names_.size()) < kMostNodes, ErrorKind::BadData, place, ": more than ",
            format_count(kMostNodes), " nodes");
    names_.push_back(name);
    return found->second;
  }
  bool has(const std::string& name) const { return numbers_.contains(name); }
  void close(const std::string& file) { file_ = file; }

  int64_t find(const std::string& name, const std::string& place) {
    if (file_.empty()) return add(name, place);
    const auto found = numbers_.find(name);
    require(found != numbers_.end(), ErrorKind::BadData, place, ": there is no node '", name,
            "' in ", file_, "; add it there, with its features or without, or remove this line");
    return found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, int64_t> numbers_;
  std::string file_;
};

float number_in(const std::string& cell, const std::string& place) {
  double number = 0;
  require(parse_number(cell, number) && std::isfinite(number) &&
              std::abs(number) <= double(std::numeric_limits<float>::max()),
          ErrorKind::BadData, place, ": '", cell, "' is no number");
  return float(number);
}

class FeatureFile {
 public:
  FeatureFile(ReadGraph& graph, Nodes& nodes) : features_(graph.features), nodes_(nodes) {}

  void read(Rows& rows) {
    Cells cells;
    bool first = true;
    while (rows.next(cells)) {
      if (std::exchange(first, false) && decide(cells)) continue;
      require(!nodes_.has(cells[0]), ErrorKind::BadData, rows.place(), ": the node '", cells[0],
              "' stands here a second time");
      nodes_.add(cells[0], rows.place());
      if (features_.dense)
        add_dense(cells, rows.place());
      else
        add_sparse(cells, rows.place());
    }
    require(!first, ErrorKind::BadData, rows.path(), ": holds no node");
  }

 private:
  /// Dense or sparse, from the first line. True when that is a header.
  bool decide(const Cells& cells) {
    const bool header = cells[0] == "node" && cells.size() > 1;
    features_.dense = header ? cells.size() > 2 || cells[1] != "features" : cells.size() > 2;
    for (size_t i = 1; features_.dense && i < cells.size(); ++i)
      features_.columns.push_back(header ? cells[i] : std::to_string(i));
    return header;
  }

  void add_dense(const Cells& cells, const std::string& place) {
    require(cells.size() == features_.columns.size() + 1, ErrorKind::BadData, place, ": ",
            cells.size() - 1, " numbers, expected ", features_.columns.size());
    for (size_t i = 1; i < cells.size(); ++i) features_.value.push_back(number_in(cells[i], place));
  }

  void add_sparse(const Cells& cells, const std::string& place) {
    require(cells.size() <= 2, ErrorKind::BadData, place, ": ", cells.size(),
            " cells; expected a node and its features with blanks between them");
    std::vector<std::pair<int64_t, float>> row;
    if (cells.size() == 2)
      for (const std::string& token : split(cells[1], ' '))
        if (!token.empty()) row.push_back(entry(token, place));
    features_.add_row(std::move(row));
  }

  /// "17", "word", "17:0.5".
  std::pair<int64_t, float> entry(const std::string& token, const std::string& place) {
    const size_t colon = token.rfind(':');
    double value = 1;
    const bool has_value = colon != std::string::npos && colon > 0 &&
                           parse_number(std::string_view(token).substr(colon + 1), value);
    const auto [column, is_new] = columns_.emplace(has_value ? token.substr(0, colon) : token,
                                                   int64_t(features_.columns.size()));
    if (is_new) features_.columns.push_back(column->first);
    return {column->second, has_value ? number_in(token.substr(colon + 1), place) : 1.0f};
  }

  RawFeatures& features_;
  Nodes& nodes_;
  std::unordered_map<std::string, int64_t> columns_;
};

/// Columns behind the two nodes are numbers, whose names the first line may have.
void read_edges(Rows& rows, Nodes& nodes, ReadGraph& graph) {
  Cells cells;
  bool has_columns = false;
  for (bool first = true; rows.next(cells); first = false) {
    const bool header = first && cells.size() >= 2 && cells[0] == "source" && cells[1] == "target";
    if (first) {
      has_columns = cells.size() > 2;
      for (size_t i = 2; i < cells.size(); ++i)
        graph.edge_columns.push_back(header              ? cells[i]
                                     : cells.size() == 3 ? std::string("weight")
                                                         : std::to_string(i - 1));
    }
    if (header) continue;
    require(cells.size() == 2 + graph.edge_columns.size() && !cells[1].empty(), ErrorKind::BadData,
            rows.place(), ": ", cells.size(),
            " cells; expected two nodes, which an edge goes from ", "and to",
            has_columns ? concat(", and ", graph.edge_columns.size(), " numbers") : "");
    for (size_t i = 2; i < cells.size(); ++i)
      graph.edge_values.push_back(number_in(cells[i], rows.place()));
    const int64_t source = nodes.find(cells[0], rows.place());
    graph.edges.emplace_back(source, nodes.find(cells[1], rows.place()));
  }
}

/// work(node, word, place) for the lines of the split file, no node twice.
template <class Work>
void read_splits_of_nodes(Rows& rows, Nodes& nodes, Work work) {
  std::unordered_map<int64_t, std::string> seen;
  Cells cells;
  for (bool first = true; rows.next(cells); first = false) {
    if (first && cells == Cells{"node", "split"}) continue;
    require(cells.size() <= 2, ErrorKind::BadData, rows.place(), ": ", cells.size(),
            " cells; expected a node and its split");
    const std::string word = cells.size() == 2 ? cells[1] : "";
    const int64_t node = nodes.find(cells[0], rows.place());
    const auto [before, is_new] = seen.emplace(node, word);
    require(is_new, ErrorKind::BadData, rows.place(), ": the node '", cells[0],
            "' stands here a second time, after '", before->second, "'");
    work(node, word, rows.place());
  }
}

/// The labels file: a node and its class or labels, or a node and 0 or 1 in a column for each.
class LabelFile {
 public:
  LabelFile(ReadGraph& graph, Nodes& nodes) : graph_(graph), nodes_(nodes) {}

  void read(Rows& rows) {
    Cells cells;
    for (bool first = true; rows.next(cells); first = false) {
      if (first && decide(cells)) continue;
      if (columns_.empty()) {
        require(cells.size() <= 2, ErrorKind::BadData, rows.place(), ": ", cells.size(),
                " cells; expected a node and its label");
        add(cells[0], cells.size() == 2 ? cells[1] : "", rows.place());
        continue;
      }
      require(cells.size() == columns_.size() + 1, ErrorKind::BadData, rows.place(), ": ",
              cells.size() - 1, " labels, expected 0 or 1 for each of ", columns_.size());
      std::vector<std::string> labels;
      for (size_t i = 0; i < columns_.size(); ++i)
        if (says_yes(cells[i + 1], columns_[i], rows.place())) labels.push_back(columns_[i]);
      add(cells[0], join(labels, "|"), rows.place());
      lists_.back() = std::move(labels);
    }
  }

  /// Once all nodes are known.
  void finish() {
    graph_.labels.resize(graph_.names.size());
    graph_.in_labels.assign(graph_.names.size(), 0);
    if (!columns_.empty()) {
      graph_.label_cell = LabelCell::List;
      graph_.label_lists.resize(graph_.names.size());
    }
    for (size_t i = 0; i < found_.size(); ++i) {
      const auto node = size_t(found_[i].first);
      graph_.labels[node] = std::move(found_[i].second);
      graph_.in_labels[node] = 1;
      if (!columns_.empty()) graph_.label_lists[node] = std::move(lists_[i]);
    }
  }

 private:
  /// Columns of 0 and 1 or one cell, from the first line. True when that is a header.
  bool decide(const Cells& cells) {
    const bool header = cells.size() > 2 ? cells[0] == "node"
                                         : cells.size() == 2 && cells[0] == "node" &&
                                               (cells[1] == "label" || cells[1] == "class" ||
                                                cells[1] == kLabelsColumn);
    for (size_t i = 1; cells.size() > 2 && i < cells.size(); ++i)
      columns_.push_back(header ? cells[i] : std::to_string(i));
    if (header && cells.size() == 2 && cells[1] == kLabelsColumn)
      graph_.label_cell = LabelCell::Perhaps;
    return header;
  }

  void add(const std::string& name, const std::string& word, const std::string& place) {
    const int64_t node = nodes_.find(name, place);
    const auto [before, is_new] = seen_.emplace(node, word);
    require(is_new, ErrorKind::BadData, place, ": the node '", name,
            "' stands here a second time, after '", before->second, "'");
    found_.emplace_back(node, word);
    lists_.emplace_back();
  }

  ReadGraph& graph_;
  Nodes& nodes_;
  std::vector<std::string> columns_;
  std::vector<std::pair<int64_t, std::string>> found_;
  std::vector<std::vector<std::string>> lists_;
  std::unordered_map<int64_t, std::string> seen_;
};

/// -1: in none.
int split_or_none(const std::string& word, const std::string& place) {
  if (word.empty() || word == "unused" || word == "none") return -1;
  const int split = split_named(word);
  require(split >= 0, ErrorKind::BadData, place, ": the split is '", word,
          "'; expected train, val (or dev, valid, validation), test or unused");
  return split;
}

}  // namespace

void RawFeatures::add_row(std::vector<std::pair<int64_t, float>> row) {
  if (begin.empty()) begin.push_back(0);
  std::stable_sort(row.begin(), row.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  for (const auto& [column, number] : row) {
    if (int64_t(index.size()) > begin.back() && index.back() == column) {
      value.back() += number;
      continue;
    }
    index.push_back(column);
    value.push_back(number);
  }
  begin.push_back(int64_t(index.size()));
}

ReadGraph read_graph(const fs::path& folder, int64_t max_bytes) {
  require(fs::exists(folder), ErrorKind::NotFound, folder.string(), ": no such folder");
  refuse_foreign_file(folder);
  require(
      fs::is_directory(folder), ErrorKind::BadData, folder.string(),
      ": a graph is a folder with edges.tsv, labels.tsv and perhaps features.tsv and split.tsv");
  ReadGraph graph;
  Nodes nodes(graph.names);
  ContentHash hash;
  const auto open = [&](const std::string& name, const fs::path& path, auto read) {
    Rows rows(path, max_bytes);
    read(rows);
    hash.add(concat(name, "=", rows.hash(), "\n"));
  };
  if (const auto path = find_file(folder, {"features"}, kGraphEndings)) {
    open("features", *path, [&](Rows& rows) { FeatureFile(graph, nodes).read(rows); });
    nodes.close(path->filename().string());
  }
  open("edges", needed_file(folder, "edges"), [&](Rows& rows) { read_edges(rows, nodes, graph); });
  LabelFile labels(graph, nodes);
  open("labels", needed_file(folder, "labels"), [&](Rows& rows) { labels.read(rows); });
  std::vector<std::pair<int64_t, int>> splits;
  const auto split_file = find_file(folder, {"split"}, kGraphEndings);
  if (split_file)
    open("split", *split_file, [&](Rows& rows) {
      read_splits_of_nodes(rows, nodes,
                           [&](int64_t node, const std::string& word, const std::string& place) {
                             splits.emplace_back(node, split_or_none(word, place));
                           });
    });
  labels.finish();
  if (split_file) graph.splits.assign(graph.names.size(), -1);
  for (const auto& [node, split] : splits) graph.splits[size_t(node)] = split;
  graph.hash = hash.text();
  return graph;
}

}  // namespace fovea

// The half of TableEncoder that learns; encoder.cc is the half that applies what was learnt.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "fovea/base/error.h"
#include "fovea/data/tables/encoder.h"
#include "fovea/data/tables/infer.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kBytesTogether = int64_t{128} << 20;  // of columns that are in memory at once

/// The first eight.
std::string shortened_list(std::vector<std::string> items) {
  constexpr size_t kShown = 8;
  const size_t more = items.size() > kShown ? items.size() - kShown : 0;
  items.resize(items.size() - more);
  return concat(join(items), more > 0 ? concat(" and ", more, " more") : "");
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The columns to learn from, in the order of the file.
std::vector<std::string> choose_features(const std::vector<std::string>& names,
                                         const std::string& target, const TableOptions& options,
                                         const std::string& where) {
  for (const auto* list : {&options.drop, &options.features, &options.keep, &options.categories})
    for (const std::string& name : *list) {
      require(contains(names, name), ErrorKind::NotFound, where, ": there is no column '", name,
              "'", suggestion(name, names), "; the columns are: ", quoted_list(names, 30));
      require(name != target, ErrorKind::InvalidArgument, "column '", name,
              "' is the target: it cannot be ", list == &options.drop ? "dropped" : "an input",
              " as well");
    }
  std::vector<std::string> chosen;
  for (const std::string& name : names) {
    const bool wanted =
        options.features.empty() ? name != options.split : contains(options.features, name);
    if (wanted && name != target && !contains(options.drop, name)) chosen.push_back(name);
  }
  require(!chosen.empty(), ErrorKind::BadData, where, ": no column is left to predict '", target,
          "' from");
  return chosen;
}

/// The target of each training row, for the trees that cut numbers into pieces.
struct TargetRows {
  std::vector<double> values;    // a number, or two classes as 0 and 1
  std::vector<int32_t> classes;  // several classes
  std::vector<int64_t> counts;   // of each class

  void add(const TableTarget& target, double encoded) {
    if (target.kind() == TargetKind::Classes)
      classes.push_back(int32_t(encoded));
    else
      values.push_back(encoded);
    if (target.kind() == TargetKind::Number) return;
    counts.resize(target.classes().size());
    ++counts[size_t(encoded)];
  }
  SplitTarget split_target() const {
    return {values, classes, classes.empty() ? 0 : int64_t(counts.size())};
  }
};

/// More rows bear more pieces; many columns leave room for fewer.
int64_t choose_bins(int64_t rows, int64_t columns) {
  constexpr int64_t kMostBins = 48, kMostPieces = 4096;
  constexpr int64_t kMostFloats = int64_t{1} << 28;  // 1 GiB of all rows
  const auto by_rows = int64_t(std::llround(std::pow(double(rows), 0.4)));
  const int64_t by_memory = kMostFloats / (rows * columns) - 2;
  return std::clamp<int64_t>(std::min({by_rows, kMostPieces / columns, by_memory}), 0, kMostBins);
}

/// A category is worth an input of its own where some five rows have it.
int64_t choose_categories(int64_t rows, int64_t columns) {
  constexpr int64_t kFewest = 100, kMost = 1000;
  constexpr int64_t kMostFloats = int64_t{1} << 27;  // 512 MiB of all rows
  return std::clamp(std::min(rows / 5, kMostFloats / (rows * columns)), kFewest, kMost);
}

NumberFit number_fit(const TableOptions& options, bool standardise, const TargetRows& target,
                     int64_t rows, int64_t columns) {
  return {standardise, options.numbers == "pieces",
          options.bins > 0 ? options.bins : choose_bins(rows, columns), target.split_target()};
}

}  // namespace

void TableEncoder::fit(const TableRows& train, const TableOptions& options) {
  TableEncoder fresh;
  const CsvTable& head = train.head();
  fresh.file_columns_ = head.names;
  fresh.delimiter_ = head.delimiter;
  const std::string target = choose_target(head, options.target);
  const CsvTable all_targets = train.with_column(target);
  const StrayCells strays = TableTarget::find_strays(all_targets, target, options.target_kind);
  const TableRows rows = train.select(TableTarget::known_rows(all_targets, target, strays.list()));
  const bool decimal_commas = has_decimal_commas(rows.first(kRowsToJudge));
  TargetRows target_rows;
  {
    const CsvTable targets = rows.with_column(target);
    fresh.target_ = TableTarget::fit(targets, target, options.target_kind, decimal_commas,
                                     options.target_transform);
    for (int64_t row = 0, at = targets.column(target); row < targets.rows(); ++row)
      target_rows.add(fresh.target_,
                      fresh.target_.encode(trim_cell(targets.cell(row, at)), targets, row));
  }
  const std::vector<std::string> names = choose_features(head.names, target, options, head.path);
  const NumberFit numbers = number_fit(options, options.standardise != "no", target_rows,
                                       rows.rows(), int64_t(names.size()));
  const int64_t max_categories = options.max_categories > 0
                                     ? options.max_categories
                                     : choose_categories(rows.rows(), int64_t(names.size()));
  std::vector<InferredColumn> inferred(names.size());
  const auto together =
      size_t(std::max<int64_t>(1, kBytesTogether / std::max<int64_t>(1, rows.column_bytes())));
  for (size_t begin = 0; begin < names.size(); begin += together) {
    const std::span<const std::string> own =
        std::span(names).subspan(begin, std::min(together, names.size() - begin));
    const CsvTable table = rows.with_columns(own);
    run_parallel(int64_t(own.size()), [&](int64_t i) {
      const std::string& name = own[size_t(i)];
      inferred[begin + size_t(i)] =
          infer_column(table, name,
                       {numbers, max_categories,
                        contains(options.keep, name) || contains(options.features, name),
                        contains(options.categories, name), decimal_commas});
    });
  }
  std::vector<std::string> empty, identifiers;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!inferred[i].column)
      (inferred[i].is_identifier ? identifiers : empty).push_back(names[i]);
    else
      fresh.columns_.push_back(*std::move(inferred[i].column));
    if (!inferred[i].note.empty()) fresh.notes_.push_back(inferred[i].note);
  }
  if (!empty.empty())
    fresh.notes_.push_back(concat("left out: ", quoted_list(empty),
                                  empty.size() == 1 ? " has no values" : " have no values"));
  if (!identifiers.empty())
    fresh.notes_.push_back(
        concat("left out: ", quoted_list(identifiers), identifiers.size() == 1 ? " has" : " have",
               " another value in every row; --set data.keep=", join(identifiers, ","), " keeps ",
               identifiers.size() == 1 ? "it" : "them"));
  require(!fresh.columns_.empty(), ErrorKind::BadData, head.path, ": no column beside the target '",
          target, "' can be learnt from. ", join(fresh.notes_, ". "));
  const auto says_nothing = [](const TableColumn& column) {
    return column.is_constant() && column.missing_share() == 0;
  };
  require(!std::ranges::all_of(fresh.columns_, says_nothing), ErrorKind::BadData, head.path,
          ": no column says anything about the target '", target, "': ",
          names.size() == 1 ? concat("'", names[0], "' is always the same")
                            : concat("all ", names.size(), " are always the same or left out"),
          ". Add columns that differ from row to row");
  fresh.finish();
  fresh.note_columns();

  std::vector<std::string> about = fresh.target_.advice(target_rows.counts);
  about.insert(about.begin(), fresh.target_.sentence(target_rows.counts));
  if (strays.count > 0) about.push_back(concat("target '", target, "': ", strays.sentence()));
  fresh.target_.set_missing_words(strays.list());
  fresh.notes_.insert(fresh.notes_.begin(), about.begin(), about.end());
  *this = std::move(fresh);
}

void TableEncoder::accept_strays(const TableRows& held_out, int64_t all_rows) {
  std::vector<StrayCells> strays(columns_.size() + 1);  // the target last
  std::vector<int64_t> places = places_of(held_out.head());
  places.push_back(held_out.head().column(target_.name()));
  held_out.for_each_block([&](const CsvTable& table, int64_t) {
    run_parallel(int64_t(strays.size()), [&](int64_t i) {
      const bool is_target = size_t(i) == columns_.size();
      if (!is_target && columns_[size_t(i)].kind() == ColumnKind::Category) return;
      for (int64_t row = 0; row < table.rows(); ++row) {
        const std::string_view cell = trim_cell(table.cell(row, places[size_t(i)]));
        if (is_target ? target_.is_stray(cell)
                      : columns_[size_t(i)].check(cell) == CellCheck::Unreadable)
          strays[size_t(i)].add(cell, table, row);
      }
    });
  });
  for (size_t i = 0; i < strays.size(); ++i) {
    const bool is_target = i == columns_.size();
    std::vector<std::string> words =
        is_target ? target_.missing_words() : columns_[i].missing_words();
    const bool fits = words.size() + strays[i].words.size() <= StrayCells::kFewSpellings;
    if (strays[i].count == 0 || !fits || !strays[i].are_few(all_rows)) continue;
    for (const std::string& word : strays[i].words) words.push_back(word);
    notes_.push_back(concat(is_target ? "target '" : "column '",
                            is_target ? target_.name() : columns_[i].name(),
                            "': ", strays[i].sentence()));
    is_target ? target_.set_missing_words(words) : columns_[i].set_missing_words(words);
  }
}

void TableEncoder::note_columns() {
  std::array<int64_t, 4> kinds{};
  std::array<std::vector<std::string>, 4> names;
  std::vector<std::string> constant, capped, missing;
  for (const TableColumn& column : columns_) {
    ++kinds[size_t(column.kind())];
    const std::string seen_as =
        column.kind() == ColumnKind::Category ? concat(column.categories().size(), " values")
        : column.kind() == ColumnKind::Date   ? join(column.calendar().part_names())
                                              : "";
    names[size_t(column.kind())].push_back(
        seen_as.empty() ? column.name() : concat(column.name(), " (", seen_as, ")"));
    if (column.is_constant()) constant.push_back(column.name());
    if (column.other_share() > 0)
      capped.push_back(concat(column.name(), " (", format_number(100 * column.other_share(), 3),
                              " % of the rows)"));
    if (column.missing_share() > 0)
      missing.push_back(
          concat(column.name(), " (", format_number(100 * column.missing_share(), 3), " %)"));
  }
  std::string summary =
      concat(columns_.size(), " columns: ", kinds[0], " numbers, ", kinds[1], " categories");
  if (kinds[2] > 0) summary += concat(", ", kinds[2], " dates");
  if (kinds[3] > 0) summary += concat(", ", kinds[3], " free texts");
  notes_.push_back(concat(summary, "; ", layout_->input_names.size(), " inputs"));
  constexpr std::array kKinds{"numbers", "categories", "dates", "free texts"};
  if (std::count(kinds.begin(), kinds.end(), 0) < 3)  // which column is what
    for (size_t kind = 0; kind < kinds.size(); ++kind)
      if (kinds[kind] > 0)
        notes_.push_back(concat(kKinds[kind], ": ", shortened_list(names[kind])));
  if (columns_.size() == 1 && kinds[3] == 1)
    notes_.push_back(concat("'", columns_[0].name(),
                            "' is free text and the only column: fovea train documents --columns "
                            "text=",
                            columns_[0].name(), ",label=", target_.name(), " reads it better"));
  if (!constant.empty())
    notes_.push_back(concat("always the same, encoded as zeros: ", quoted_list(constant)));
  if (!missing.empty())
    notes_.push_back(concat("missing values get an input of their own: ", shortened_list(missing)));
  if (!capped.empty())
    notes_.push_back(
        concat("rare categories are taken together as 'other': ", shortened_list(capped)));
}

}  // namespace fovea

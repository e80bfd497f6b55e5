#include "fovea/explain/record/beside.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/metrics/mcnemar.h"

namespace fovea {

namespace {

constexpr const char* kHint =
    "; compare runs of the same task on one file: fovea evaluate RUN DATA "
    "--beside RUN2";

const RowColumn* find_column(const RowsRecord& record, const std::string& role) {
  const auto found = std::ranges::find(record.columns, role, &RowColumn::role);
  return found == record.columns.end() ? nullptr : &*found;
}

/// One entry of a column, to be compared: runs may count the same names in another order.
std::string entry(const RowColumn& column, size_t row) {
  const auto name = [&](int64_t place) {
    return place < 0 ? std::string() : column.names[size_t(place)];
  };
  if (!column.texts.empty()) return column.texts[row];
  if (!column.places.empty()) return name(column.places[row]);
  if (!column.numbers.empty()) return format_exact(column.numbers[row]);
  std::set<std::string> sorted;
  for (const int64_t place : column.sets[row]) sorted.insert(name(place));
  return join(std::vector<std::string>(sorted.begin(), sorted.end()), "|");
}

std::string some_names(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  const std::vector<std::string> few(
      names.begin(), names.begin() + std::ptrdiff_t(std::min(kShown, names.size())));
  return concat(join(few), names.size() > kShown ? ", …" : "");
}

void check_comparable(const RowsRecord& record, const RowsRecord& other) {
  require(record.task == other.task && record.kind == other.kind, ErrorKind::InvalidArgument,
          other.run, " is a run of the task ", other.task, " with answers of the kind ", other.kind,
          ", ", record.run, " one of ", record.task, " with the kind ", record.kind, kHint);
  require(record.rows == other.rows, ErrorKind::InvalidArgument, other.run, " reads ", other.rows,
          " rows of this data, ", record.run, " reads ", record.rows, kHint);
  const RowColumn *answer = find_column(record, "answer"), *theirs = find_column(other, "answer");
  if (answer && theirs)
    require(std::set(answer->names.begin(), answer->names.end()) ==
                std::set(theirs->names.begin(), theirs->names.end()),
            ErrorKind::InvalidArgument, other.run, " answers ", some_names(theirs->names),
            " where ", record.run, " answers ", some_names(answer->names), kHint);
  const RowColumn *truth = find_column(record, "truth"), *own = find_column(other, "truth");
  for (size_t row = 0; truth && own && row < size_t(record.rows); ++row)
    require(entry(*truth, row) == entry(*own, row), ErrorKind::InvalidArgument, "row ", row + 1,
            ": the right answer is '", shorten_bytes(entry(*own, row), 64), "' for ", other.run,
            " and '", shorten_bytes(entry(*truth, row), 64), "' for ", record.run,
            ": they do not read the same rows", kHint);
}

/// A column of the other record, in the names of this one where it has such.
RowColumn adopted(const RowColumn& theirs, const RowColumn* own, std::string role,
                  std::string name) {
  RowColumn column = theirs;
  column.role = std::move(role);
  column.name = std::move(name);
  if (!own || own->names == theirs.names) return column;
  std::vector<int64_t> places;
  for (const std::string& wanted : theirs.names)
    places.push_back(std::ranges::find(own->names, wanted) - own->names.begin());
  column.names = own->names;
  const auto translate = [&](int64_t& place) { place = place < 0 ? -1 : places[size_t(place)]; };
  std::ranges::for_each(column.places, translate);
  for (std::vector<int64_t>& set : column.sets) std::ranges::for_each(set, translate);
  return column;
}

/// 0: both are right (as near), 1 and 2: only the first or the second, 3: neither; -1: not known.
std::vector<int64_t> who_is_right(const RowsRecord& record, const RowsRecord& other) {
  std::vector<int64_t> who(size_t(record.rows), -1);
  const RowColumn *right = find_column(record, "right"), *theirs = find_column(other, "right");
  if (right && theirs)
    for (size_t row = 0; row < who.size(); ++row)
      if (right->places[row] >= 0 && theirs->places[row] >= 0)
        who[row] = right->places[row] == 1 ? (theirs->places[row] == 1 ? 0 : 1)
                                           : (theirs->places[row] == 1 ? 2 : 3);
  if (record.kind != "number") return who;
  const RowColumn *answer = find_column(record, "answer"), *second = find_column(other, "answer");
  const RowColumn* truth = find_column(record, "truth");
  for (size_t row = 0; answer && second && truth && row < who.size(); ++row) {
    const double off = std::abs(answer->numbers[row] - truth->numbers[row]);
    const double their_off = std::abs(second->numbers[row] - truth->numbers[row]);
    if (std::isnan(off) || std::isnan(their_off)) continue;
    who[row] = off < their_off ? 1 : their_off < off ? 2 : 0;
  }
  return who;
}

std::vector<std::string> names_of_agreement(const BesideCounts& counts) {
  const auto only = [&](const std::string& run) {
    return counts.numbers ? concat(run, " is nearer") : concat("only ", run);
  };
  std::vector<std::string> names{counts.numbers ? "as near" : "both right", only(counts.first),
                                 only(counts.second)};
  if (!counts.numbers) names.emplace_back("both wrong");
  return names;
}

}  // namespace

BesideCounts put_beside(RowsRecord& record, const RowsRecord& other) {
  check_comparable(record, other);
  BesideCounts counts;
  counts.first = record.run;
  counts.second = other.run == record.run ? other.run + " (second)" : other.run;
  counts.numbers = record.kind == "number";
  const RowColumn *answer = find_column(record, "answer"), *theirs = find_column(other, "answer");
  if (!answer || !theirs) return counts;  // no rows
  for (size_t row = 0; row < size_t(record.rows); ++row)
    counts.differ += entry(*answer, row) != entry(*theirs, row) ? 1 : 0;
  const std::vector<int64_t> who = who_is_right(record, other);
  int64_t* const counters[] = {&counts.both, &counts.only_first, &counts.only_second,
                               &counts.neither};
  for (const int64_t one : who)
    if (one >= 0) ++*counters[one];
  counts.p = mcnemar_exact(counts.only_first, counts.only_second);

  std::vector<RowColumn> added{
      adopted(*theirs, answer, "beside_answer", concat("answer of ", counts.second))};
  if (const RowColumn* right = find_column(other, "right"))
    added.push_back(adopted(*right, nullptr, "beside_right", concat("result of ", counts.second)));
  if (const RowColumn* probability = find_column(other, "probability"))
    added.push_back(adopted(*probability, nullptr, "beside_probability",
                            concat("probability of ", counts.second)));
  RowColumn agreement{"agreement", counts.numbers ? "who is nearer" : "who is right"};
  agreement.names = names_of_agreement(counts);
  agreement.places = who;
  added.push_back(std::move(agreement));
  const auto place = std::ranges::find_if(record.columns, [](const RowColumn& column) {
    return column.role != "input" && column.role != "answer" && column.role != "truth" &&
           column.role != "right";
  });
  record.columns.insert(place, std::make_move_iterator(added.begin()),
                        std::make_move_iterator(added.end()));
  record.beside = counts.second;
  return counts;
}

Json BesideCounts::to_json() const {
  Json json{{"run", second}, {"rows_that_differ", differ}, {"p_value", p}};
  const std::pair<const char*, int64_t> cells[] = {
      {numbers ? "as_near" : "both_right", both},
      {numbers ? "first_nearer" : "only_first", only_first},
      {numbers ? "second_nearer" : "only_second", only_second}};
  for (const auto& [name, count] : cells) json[name] = count;
  if (!numbers) json["both_wrong"] = neither;
  return json;
}

std::string BesideCounts::text() const {
  const std::string test =
      concat(numbers ? "sign test" : "McNemar's exact test", ": p = ", format_number(p, 3), "\n");
  const std::string head = concat(format_count(differ), " rows with two different answers\n");
  if (numbers)
    return concat(head, first, " is nearer to the truth on ", format_count(only_first), " rows, ",
                  second, " on ", format_count(only_second), ", both alike on ", format_count(both),
                  "; ", test);
  const std::string names[] = {concat(first, " right"), concat(first, " wrong")};
  const std::string heads[] = {concat(second, " right"), concat(second, " wrong")};
  const std::string cells[2][2] = {{format_count(both), format_count(only_first)},
                                   {format_count(only_second), format_count(neither)}};
  const auto padded = [](const std::string& text, size_t width) {
    return std::string(width - std::min(width, display_width(text)), ' ') + text;
  };
  const size_t left = std::max(display_width(names[0]), display_width(names[1]));
  std::string table = head + std::string(left, ' ');
  for (const std::string& name : heads) table += "  " + name;
  table += "\n";
  for (size_t i = 0; i < 2; ++i) {
    table += names[i] + std::string(left - display_width(names[i]), ' ');
    for (size_t j = 0; j < 2; ++j) table += "  " + padded(cells[i][j], display_width(heads[j]));
    table += "\n";
  }
  return table + test;
}

}  // namespace fovea

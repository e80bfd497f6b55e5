// Several labels a row, where a cell, a list or columns of 0 and 1 hold them: what documents,
// visits and graphs share. Cells are decided on together, once, on all rows of a training:
// several labels where a row has a list of them; where data.label_separator is given; and where the
// column is called labels and a separator of its cells makes labels of them: | or ; or , where most
// of the parts stand in several different cells, a blank where every part also stands alone in some
// row. "yes, sir" beside "no" is a class. data.target_kind says otherwise.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fovea/base/options.h"

namespace fovea {

/// The name of a column that may hold several in a cell.
inline constexpr const char* kLabelsColumn = "labels";

/// What stands where the label is.
enum class LabelCell {
  One,      // a label
  Perhaps,  // a cell of a column called labels: one label, or several with something between them
  List,     // any number of labels: a list in JSON, columns of 0 and 1, several of fastText's
};

/// Keys under data, of tasks that learn one class or several labels.
struct LabelOptions {
  std::string target_kind = "auto";  // or a name of AnswerKind
  std::string label_separator = "auto";
  /// target_kind auto, class or labels, for rows called `rows`; `page` of docs/formats has the
  /// rule.
  void describe(OptionList& list, const std::string& page);
  bool has_separator() const;  // one was given
};
/// Adds label_separator alone.
void describe_label_separator(OptionList& list, std::string& separator);

/// What the labels of all rows look like.
struct LabelCells {
  std::set<std::string> cells;
  bool lists = false, perhaps = false;
  void add(const std::string& label, LabelCell cell);
};

/// Where rows have several labels: what stands between those of a cell, "" where they come as lists
/// alone. Nothing where each cell is one class.
std::optional<std::string> decide_labels(const LabelCells& found, const LabelOptions& options,
                                         std::vector<std::string>& notes);

/// The parts of a cell; without a separator the cell itself, unless it is empty.
std::vector<std::string> labels_in(const std::string& cell, const std::string& separator);

/// A cell as the labels that a run knows: as a whole, or cut where that gives known ones. `known`
/// is empty while they are learned.
std::vector<std::string> known_labels(const std::string& cell, const std::string& separator,
                                      const std::vector<std::string>& known);

/// Without blanks around them, empty ones and repetitions, sorted.
std::vector<std::string> distinct_labels(std::vector<std::string> labels);

/// Whether a cell of a column of 0 and 1 says yes. BadData for anything else.
bool says_yes(const std::string& cell, const std::string& column, const std::string& place);

}  // namespace fovea

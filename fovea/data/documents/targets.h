// What the labels of texts are: one class a text, any number of labels, or a number. Decided once,
// on all rows of a training, by these rules, and said in a note (data.target_kind and
// data.label_separator say otherwise):
//   labels  by the rule of data/label_cells.h
//   number  where all labels are numbers, three different ones at least, not all of them whole
//   class   otherwise
#pragma once

#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/documents/reader.h"
#include "fovea/tensor/answer_kind.h"

namespace fovea {

/// Keys under data.
struct DocumentTargetOptions : LabelOptions {
  void describe(OptionList& list);
};

/// What was decided, kept in the run.
struct DocumentTarget {
  AnswerKind kind = AnswerKind::Class;
  std::string separator = {};      // between the labels of a cell; "": they come as lists
  std::string name = "value";      // of a number
  double mean = 0, deviation = 1;  // of the training rows' numbers
  int64_t rows = 0;                // of training, once they were loaded

  double standardised(double number) const { return (number - mean) / deviation; }
};

/// Decides by all rows. Rows without a label go, unless they may have none of several.
/// InvalidArgument where the options contradict the rows; BadData for a number that is none.
DocumentTarget decide_target(SplitRows<LabelledText>& rows, const DocumentTargetOptions& options,
                             Notes& notes);

/// Rows as the target has them: of several labels each a List. `known` labels, where a run has
/// them, tell whether a cell is one of them or several.
void apply_target(const DocumentTarget& target, const std::vector<std::string>& known,
                  SplitRows<LabelledText>& rows, Notes& notes);

/// The number that a label is. BadData.
double label_number(const std::string& label);

}  // namespace fovea

// What the loaders of labelled texts share (documents, tag): the labels that a model is to know,
// and planted truth about what decides them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

/// How messages speak of labels.
struct LabelWords {
  const char* row;     // what has one: "text"
  const char* label;   // "label", also the role of --columns
  const char* column;  // what names that column: "NAME" or "NUMBER"
};

/// The labels of all splits. One that only validation has counts too; a note says so.
class LabelSet {
 public:
  explicit LabelSet(const LabelWords& words) : words_(words) {}
  /// BadData for more labels than classes can be.
  void add(const std::string& label, int split);
  const std::set<std::string>& all() const { return all_; }
  const std::set<std::string>& trained() const { return trained_; }  // of the training split
  std::vector<std::string> notes() const;

 private:
  LabelWords words_;
  std::set<std::string> all_, trained_;
};

/// The label's place among those that a run knows. BadData where it is not one of them.
int64_t label_index(const std::string& label, const std::vector<std::string>& known, int split,
                    const LabelWords& words);

/// Planted truth by text: pairs of numbers, whose meaning is the task's.
using Decisive = std::map<std::string, std::vector<std::pair<int64_t, int64_t>>>;

/// dataset.json of a folder: "truth": {"decisive": {text: [pair, …]}}; empty for a file, and where
/// nothing is planted. BadData shows what `pair` should be.
Decisive read_decisive(const std::filesystem::path& source, const std::string& pair);
Json decisive_json(const Decisive& decisive);

}  // namespace fovea

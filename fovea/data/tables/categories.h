// Names that cells are looked up by: the categories of a column, the classes of a target. Where the
// exact name is unknown, one that differs only by case, by white space, or in how it spells a
// number is meant: "basic" for "Basic", "1.0" for "1"; where all names are truth values, any
// spelling of them: "true" for "yes". Where two names would be meant, none is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea {

/// Of more than two names that all spell truth values, the most frequent pair of one style ("no"
/// and "yes"), else "false" and "true"; nothing where another name is among them, or letters that
/// may be codes (t, f, n).
std::optional<std::array<std::string, 2>> truth_spellings(
    const std::map<std::string_view, int64_t>& counts);

/// Of names that differ only by case or white space, or are more than two spellings of truth
/// values, writes the most frequent into the cells. A sentence that says so, or "". Single letters
/// may be codes, and are left.
std::string merge_spellings(std::vector<std::string_view>& trimmed_cells);

class CategoryIndex {
 public:
  CategoryIndex() = default;
  explicit CategoryIndex(const std::vector<std::string>& names);

  /// The place of the name that the trimmed cell stands for, or -1.
  int64_t find(std::string_view trimmed) const;

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>> exact_, loose_;
  bool truth_ = false;  // every name spells a truth value
};

}  // namespace fovea

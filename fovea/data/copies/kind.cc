#include "fovea/data/copies/kind.h"

#include "fovea/base/error.h"

namespace fovea {

namespace {

const std::vector<const CopyKind*>& all_copy_kinds() {
  static const std::vector<const CopyKind*> kinds = {&copy_symbols_kind(), &repeat_copy_kind(),
                                                     &associative_recall_kind(), &ngrams_kind(),
                                                     &priority_sort_kind()};
  return kinds;
}

}  // namespace

int64_t CopyLayout::inputs() const {
  return bits + kind->marks;
}

int64_t CopyLayout::outputs() const {
  return bits + int64_t(kind->repeats);
}

std::vector<std::string> copy_kinds() {
  std::vector<std::string> names;
  for (const CopyKind* kind : all_copy_kinds()) names.push_back(kind->name);
  return names;
}

const CopyKind& copy_kind(const std::string& name) {
  for (const CopyKind* kind : all_copy_kinds())
    if (name == kind->name) return *kind;
  fail(ErrorKind::InvalidArgument, "data.kind=", name, " is not known; expected one of ",
       join(copy_kinds()));
}

}  // namespace fovea

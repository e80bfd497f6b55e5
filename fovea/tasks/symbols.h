// What the numbers of a vocabulary or tokeniser stand for, for DataKind::symbols().
#pragma once

#include "fovea/data/tokenisers/piece_tokeniser.h"
#include "fovea/data/tokenisers/vocabulary.h"
#include "fovea/tasks/data_kind.h"

namespace fovea {

/// `label(number)` of each.
template <class Label>
SymbolTable symbols_of(std::string name, int64_t count, const Label& label) {
  SymbolTable table{std::move(name), {}};
  for (int64_t number = 0; number < count; ++number) table.labels.push_back(label(number));
  return table;
}

inline SymbolTable symbols_of(std::string name, const Vocabulary& vocabulary) {
  return symbols_of(std::move(name), vocabulary.size(),
                    [&](int64_t number) { return vocabulary.token(number); });
}

inline SymbolTable symbols_of(std::string name, const PieceTokeniser& tokeniser) {
  return symbols_of(std::move(name), tokeniser.size(),
                    [&](int64_t number) { return tokeniser.piece(number); });
}

}  // namespace fovea

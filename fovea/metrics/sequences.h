// Sequences of symbols against the sequences they should be, counted over real positions only:
// padding never enters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

using Symbols = std::vector<int64_t>;

/// Insertions, deletions and substitutions (Levenshtein).
int64_t edit_distance(std::span<const int64_t> output, std::span<const int64_t> target);

/// Share of outputs that equal their target in every symbol.
double exact_match(std::span<const Symbols> outputs, std::span<const Symbols> targets);

/// Share of the targets' positions where the output has the same symbol at the same place.
double position_accuracy(std::span<const Symbols> outputs, std::span<const Symbols> targets);

/// Edit distance over all pairs, divided by the number of target symbols: the error rate.
double error_rate(std::span<const Symbols> outputs, std::span<const Symbols> targets);

/// exp(nats / symbols).
double perplexity(double nats, int64_t symbols);

/// Code points of a text as symbols; invalid bytes count as one symbol each.
Symbols code_points(std::string_view text);

}  // namespace fovea

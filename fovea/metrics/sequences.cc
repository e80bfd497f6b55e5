#include "fovea/metrics/sequences.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {
namespace {

void check_pairs(std::span<const Symbols> outputs, std::span<const Symbols> targets) {
  require(outputs.size() == targets.size(), ErrorKind::InvalidArgument, "there are ",
          outputs.size(), " outputs but ", targets.size(), " targets");
  require(!outputs.empty(), ErrorKind::InvalidArgument,
          "a metric needs at least one output, found none");
}

int64_t count_symbols(std::span<const Symbols> targets) {
  int64_t count = 0;
  for (const Symbols& target : targets) count += int64_t(target.size());
  require(count > 0, ErrorKind::InvalidArgument,
          "a rate per symbol needs at least one target symbol, but all ", targets.size(),
          " targets are empty");
  return count;
}

}  // namespace

int64_t edit_distance(std::span<const int64_t> output, std::span<const int64_t> target) {
  std::vector<int64_t> distance(target.size() + 1);  // of the output so far to each beginning
  std::iota(distance.begin(), distance.end(), 0);
  for (const int64_t symbol : output) {
    int64_t diagonal = distance[0]++;
    for (size_t i = 0; i < target.size(); ++i) {
      const int64_t substituted = diagonal + (symbol == target[i] ? 0 : 1);
      diagonal = distance[i + 1];
      distance[i + 1] = std::min({substituted, diagonal + 1, distance[i] + 1});
    }
  }
  return distance.back();
}

double exact_match(std::span<const Symbols> outputs, std::span<const Symbols> targets) {
  check_pairs(outputs, targets);
  double hits = 0;
  for (size_t row = 0; row < outputs.size(); ++row) hits += outputs[row] == targets[row] ? 1 : 0;
  return hits / double(outputs.size());
}

double position_accuracy(std::span<const Symbols> outputs, std::span<const Symbols> targets) {
  check_pairs(outputs, targets);
  double hits = 0;
  for (size_t row = 0; row < outputs.size(); ++row) {
    const size_t common = std::min(outputs[row].size(), targets[row].size());
    for (size_t i = 0; i < common; ++i) hits += outputs[row][i] == targets[row][i] ? 1 : 0;
  }
  return hits / double(count_symbols(targets));
}

double error_rate(std::span<const Symbols> outputs, std::span<const Symbols> targets) {
  check_pairs(outputs, targets);
  double distance = 0;
  for (size_t row = 0; row < outputs.size(); ++row)
    distance += double(edit_distance(outputs[row], targets[row]));
  return distance / double(count_symbols(targets));
}

double perplexity(double nats, int64_t symbols) {
  require(symbols > 0, ErrorKind::InvalidArgument, "a perplexity needs at least one symbol, found ",
          symbols);
  return std::exp(nats / double(symbols));
}

}  // namespace fovea

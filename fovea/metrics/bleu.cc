#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/metrics/characters.h"
#include "fovea/metrics/ngrams.h"
#include "fovea/metrics/references.h"
#include "fovea/metrics/translation.h"

namespace fovea {
namespace {

constexpr size_t kOrders = 4;

/// Of these definitions, not of the library: it changes when a number could.
constexpr const char* kVersion = "fovea-1";

/// Sums over the corpus.
struct Statistics {
  std::array<int64_t, kOrders> matches = {}, totals = {};
  int64_t output_length = 0, reference_length = 0;
};

std::vector<std::string> tokenise(const std::string& text, const BleuOptions& options) {
  Symbols characters = code_points(text);
  // Before 13a sees the text: a dash at its very end is not one that joins two lines.
  while (!characters.empty() && is_white_space(characters.back())) characters.pop_back();
  if (options.lowercase)
    for (int64_t& character : characters) character = lowered(character);
  if (options.tokenisation == "13a") return tokenise_13a(utf8(characters));

  std::vector<std::string> tokens;
  for (const Symbols& word : split_words(characters)) {
    if (options.tokenisation == "none")
      tokens.push_back(utf8(word));
    else
      for (const int64_t character : word) tokens.push_back(utf8({&character, 1}));
  }
  return tokens;
}

/// The length nearest to the output's; the shorter of two that are equally near.
int64_t nearest_length(std::span<const Symbols> references, int64_t output_length) {
  int64_t nearest = int64_t(references[0].size());
  for (const Symbols& reference : references) {
    const auto length = int64_t(reference.size());
    const auto distance = std::abs(length - output_length);
    const auto smallest = std::abs(nearest - output_length);
    if (distance < smallest || (distance == smallest && length < nearest)) nearest = length;
  }
  return nearest;
}

void add_sentence(Statistics& sums, const std::string& output, const References& references,
                  const BleuOptions& options) {
  std::unordered_map<std::string, int64_t> numbers;
  auto numbered = [&](const std::string& text) {
    Symbols symbols;
    for (std::string& token : tokenise(text, options))
      symbols.push_back(
          numbers.try_emplace(std::move(token), int64_t(numbers.size())).first->second);
    return symbols;
  };
  std::vector<Symbols> sequences = {numbered(output)};  // the output first, then its references
  for (const std::string& reference : references) sequences.push_back(numbered(reference));

  const auto length = int64_t(sequences[0].size());
  sums.output_length += length;
  sums.reference_length += nearest_length(std::span(sequences).subspan(1), length);
  const std::vector<GramCounts> orders = count_ngrams(sequences, kOrders);
  for (size_t n = 0; n < kOrders; ++n) {
    const GramCounts& counts = orders[n];
    sums.totals[n] += std::max<int64_t>(length - int64_t(n), 0);
    for (size_t gram = 0; gram < counts[0].size(); ++gram) {
      int64_t allowed = 0;  // the reference that has it most often decides
      for (size_t s = 1; s < counts.size(); ++s) allowed = std::max(allowed, counts[s][gram]);
      sums.matches[n] += std::min(counts[0][gram], allowed);
    }
  }
}

Bleu to_score(const Statistics& sums, bool effective_order) {
  Bleu bleu;
  bleu.output_length = sums.output_length;
  bleu.reference_length = sums.reference_length;
  const auto output = double(sums.output_length);
  const auto reference = double(sums.reference_length);
  bleu.brevity_penalty = output >= reference ? 1
                         : output > 0        ? std::exp(1 - reference / output)
                                             : 0;
  // A longer match contains a shorter one: without single tokens there is nothing to smooth.
  if (sums.matches[0] == 0) return bleu;

  double log_sum = 0, smoothing = 1;
  size_t orders = 0;  // that the output is long enough for
  for (; orders < kOrders && sums.totals[orders] > 0; ++orders) {
    const auto total = double(sums.totals[orders]);
    const auto matches = double(sums.matches[orders]);
    if (matches == 0) smoothing *= 2;  // each further order without a match counts half as much
    bleu.precisions[orders] = 100 * (matches > 0 ? matches : 1 / smoothing) / total;
    log_sum += std::log(bleu.precisions[orders]);
  }
  if (orders == kOrders || effective_order)
    bleu.score = bleu.brevity_penalty * std::exp(log_sum / double(orders));
  return bleu;
}

void check_options(const BleuOptions& options) {
  const std::vector<std::string> known = {"13a", "none", "char"};
  require(std::ranges::find(known, options.tokenisation) != known.end(), ErrorKind::InvalidArgument,
          "BLEU has no tokenisation '", options.tokenisation, "'",
          suggestion(options.tokenisation, known), "; known: ", join(known));
}

}  // namespace

std::string Bleu::text() const {
  const double ratio = reference_length == 0 ? 0 : double(output_length) / double(reference_length);
  char line[200];
  std::snprintf(line, sizeof(line),
                "BLEU = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = "
                "%lld)",
                score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty,
                ratio, static_cast<long long>(output_length),
                static_cast<long long>(reference_length));
  return line;
}

Bleu corpus_bleu(std::span<const std::string> outputs, std::span<const References> references,
                 const BleuOptions& options) {
  check_options(options);
  check_references(outputs.size(), references);
  Statistics sums;
  for (size_t row = 0; row < outputs.size(); ++row)
    add_sentence(sums, outputs[row], references[row], options);
  return to_score(sums, false);
}

std::vector<double> bleu_counts(const std::string& output, const References& references,
                                const BleuOptions& options) {
  check_options(options);
  check_references(1, {&references, 1});
  Statistics own;
  add_sentence(own, output, references, options);
  std::vector<double> counts(own.matches.begin(), own.matches.end());
  counts.insert(counts.end(), own.totals.begin(), own.totals.end());
  counts.insert(counts.end(), {double(own.output_length), double(own.reference_length)});
  return counts;
}

double bleu_of_counts(std::span<const double> sums) {
  Statistics all;
  for (size_t n = 0; n < kOrders; ++n) {
    all.matches[n] = int64_t(sums[n]);
    all.totals[n] = int64_t(sums[kOrders + n]);
  }
  all.output_length = int64_t(sums[2 * kOrders]);
  all.reference_length = int64_t(sums[2 * kOrders + 1]);
  return to_score(all, false).score;
}

Bleu sentence_bleu(const std::string& output, const References& references,
                   const BleuOptions& options) {
  check_options(options);
  check_references(1, {&references, 1});
  Statistics sums;
  add_sentence(sums, output, references, options);
  return to_score(sums, true);
}

std::string bleu_signature(std::span<const References> references, const BleuOptions& options) {
  check_options(options);
  check_references(references.size(), references);
  std::set<size_t> counts;
  for (const References& each : references) counts.insert(each.size());
  return concat("nrefs:", counts.size() == 1 ? concat(*counts.begin()) : "var",
                "|case:", options.lowercase ? "lc" : "mixed", "|eff:no|tok:", options.tokenisation,
                "|smooth:exp|version:", kVersion);
}

}  // namespace fovea

// How near an output text is to its references.
//   BLEU  Papineni et al. 2002, over the 13a tokenisation (mteval-v13a), exponential smoothing
//         (Chen and Cherry 2014, method 3): the numbers and the signature that sacrebleu prints
//         (Post 2018)
//   chrF  Popovic 2015: F-score of character n-grams up to 6, beta 2, white space left out
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

using References = std::vector<std::string>;  // of one output

struct BleuOptions {
  // Letters of ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic, one for one; sacrebleu lowers
  // all of Unicode, writes a final sigma as such and takes İ for two characters.
  bool lowercase = false;
  std::string tokenisation = "13a";  // 13a, none (white space) or char
};

struct Bleu {
  double score = 0;                       // 0 ... 100
  std::array<double, 4> precisions = {};  // 0 ... 100, smoothed where a count was 0
  double brevity_penalty = 0;
  int64_t output_length = 0, reference_length = 0;  // tokens; the nearest reference of each output
  std::string text() const;  // "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len
                             // = 17 ref_len = 18)"
};

/// InvalidArgument when the counts differ, when an output has no reference, or when there is none.
Bleu corpus_bleu(std::span<const std::string> outputs, std::span<const References> references,
                 const BleuOptions& options = {});
/// What one output adds to the sums that BLEU follows from; bleu_of_counts() of their sums is what
/// corpus_bleu() gives.
std::vector<double> bleu_counts(const std::string& output, const References& references,
                                const BleuOptions& options = {});
double bleu_of_counts(std::span<const double> sums);
/// One sentence: n-gram orders that it is too short for are left out (effective order).
Bleu sentence_bleu(const std::string& output, const References& references,
                   const BleuOptions& options = {});
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:fovea-1"; nrefs:var when counts differ.
/// The version is that of the definitions: it grows when a number could change.
std::string bleu_signature(std::span<const References> references, const BleuOptions& options = {});
std::vector<std::string> tokenise_13a(std::string_view text);

struct ChrfOptions {
  int64_t characters = 6, words = 0;  // words 2: chrF++
  double beta = 2;
};
/// 0 ... 100; errors as for BLEU.
double corpus_chrf(std::span<const std::string> outputs, std::span<const References> references,
                   const ChrfOptions& options = {});
double sentence_chrf(const std::string& output, const References& references,
                     const ChrfOptions& options = {});

}  // namespace fovea

// How near a caption is to what several people wrote of the same picture, over words in small
// letters without punctuation (as the evaluation of MS COCO counts, Chen et al. 2015).
//   ROUGE-L  Lin 2004: with L the longest common subsequence of words, P = max L / |output| and
//            R = max L / |reference| over the references, F = (1 + b^2) P R / (R + b^2 P), b = 1.2;
//            the mean over the pictures
//   CIDEr    CIDEr-D of Vedantam et al. 2015. g_n(s) has for each n-gram of s how often it is there
//            times log(pictures / pictures with a reference that has it), at least log 1 below:
//              10/4 sum over n = 1 … 4 of the mean over references r of
//              exp(-(|output| - |r|)^2 / (2 6^2)) min(g_n(output), g_n(r)) · g_n(r)
//              / (|g_n(output)| |g_n(r)|)
//            the mean over the pictures: 0 … 10
// METEOR is left out: it needs a thesaurus.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/metrics/translation.h"

namespace fovea {

/// Words in small letters; tokens of 13a without a letter or digit are left out.
std::vector<std::string> caption_words(const std::string& text);

/// 0 … 1. Errors as for BLEU.
double rouge_l(std::span<const std::string> outputs, std::span<const References> references);

/// Errors as for BLEU.
double cider(std::span<const std::string> outputs, std::span<const References> references);

}  // namespace fovea

// What each code adds on average: which codes a model of health records takes for causes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/tokenisers/vocabulary.h"
#include "fovea/models/model.h"

namespace fovea {

constexpr int64_t kPatientsRanked = 1000;

struct RankedCode {
  std::string code;
  int64_t visits = 0;    // that hold it
  double mean = 0;       // contribution to the log odds, over these visits; of several outcomes to
  double deviation = 0;  // those of the one that it changes most
  int effect = 0;        // what is planted: 1 raises the odds, -1 lowers them
  std::vector<double> means = {}, deviations = {};  // of each outcome
};

/// The known codes of at least five visits of at most kPatientsRanked patients, the one that adds
/// most first. Empty for a model that does not say what codes add.
std::vector<RankedCode> rank_codes(const Model& model, const Dataset& rows,
                                   const Vocabulary& codes);

/// The share of the ranked causes that stand at its top, and of the protections that stand at its
/// bottom. None where nothing is planted or ranked.
std::optional<double> planted_first(const std::vector<RankedCode>& ranking);

}  // namespace fovea

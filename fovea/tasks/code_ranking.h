// What each code adds on average: which codes a model of health records takes for causes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/data/visits/encoder.h"
#include "fovea/models/model.h"

namespace fovea {

constexpr int64_t kPatientsRanked = 1000;

struct RankedCode {
  std::string code;
  int64_t visits = 0;  // that hold it
  double mean = 0;     // contribution to the log odds, over these visits
  double deviation = 0;
};

/// The known codes of at least five visits of at most kPatientsRanked patients, the one that adds
/// most first. Empty for a model that does not say what codes add.
std::vector<RankedCode> rank_codes(const Model& model, const VisitDataset& rows);

/// The share of the planted causes that stand at the top of the ranking, and of the protections
/// that stand at its bottom. None where nothing is planted or ranked.
std::optional<double> planted_first(const std::vector<RankedCode>& ranking,
                                    const VisitDataset& rows);

}  // namespace fovea

// Synthetic health records with planted causes for the task `visits`. A patient has up to `visits`
// visits, each with some ordinary codes that mean nothing; now and then a cause or a protection
// stands among them. The outcome is drawn with
//   log odds = strength (C - P) + b
// where C and P count causes and protections in the last `recent` visits, and b makes both outcomes
// about equally frequent. Older ones do nothing: a sum over all visits cannot know that, attention
// over them can. So it is known which codes of which visits made the outcome likely. Of several
// labels each has one cause, C of its own, and b makes it likely where that cause stands. With a
// label at every visit that is drawn from the visits until then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/draw.h"
#include "fovea/data/visits/reader.h"

namespace fovea {

struct SyntheticVisitsOptions : DrawOptions {
  SyntheticVisitsOptions() : DrawOptions{4000, 500, 1000} {}
  int64_t codes = 60;  // ordinary ones
  int64_t causes = 3;
  int64_t protections = 2;
  int64_t visits = 8;      // at most
  int64_t codes_each = 5;  // ordinary codes of a visit, at most
  int64_t recent = 3;
  double strength = 3;
  void describe(OptionList& list);
};

/// What is drawn of a patient.
struct SyntheticAnswers {
  bool several = false;  // labels, one for each cause
  bool every = false;    // at every visit
};

/// Codes that decide the outcome, in the last `recent` visits of a patient; 0: in any.
struct PlantedCodes {
  std::vector<std::string> raising, lowering;
  int64_t recent = 0;
  bool several = false;  // each raising code raises a label of its own alone

  bool empty() const { return raising.empty() && lowering.empty(); }
  /// 1 for a cause, -1 for a protection, 0 for others.
  int effect_of(const std::string& code) const;
  /// The same on one of the outcomes.
  int effect_of(const std::string& code, const std::string& outcome) const;
};

/// Records in splits and, where it is known, what decides.
struct PatientSplits : SplitRows<PatientRecord> {
  PlantedCodes planted = {};
};

/// The label that a cause raises: "smoking_effects".
std::string label_of_cause(const std::string& cause);

/// Labels are "no" and "yes", or several; times are days. InvalidArgument for sizes that cannot be.
PatientSplits draw_visits(const SyntheticVisitsOptions& options,
                          const SyntheticAnswers& answers = {});

}  // namespace fovea

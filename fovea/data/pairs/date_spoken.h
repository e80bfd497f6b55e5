// Dates as they are said: "the 3rd of March, 2001", "am dritten März 2001", "l'8 marzo 2001". The
// sentences are ours, the spelled numbers come from ICU.
#pragma once

#include <string>

#include "fovea/data/pairs/date_templates.h"

namespace fovea {

struct SpokenDates {
  Words patterns;                    // with the letters o, oo and t
  Words days, other_days, articles;  // what those stand for: DateSymbols
};

/// Empty for a language whose spoken forms we do not know, and in a build without ICU.
SpokenDates spoken_dates(const std::string& language);

}  // namespace fovea

// Answers that are compressed for clients that understand it.
#pragma once

#include <string>

namespace fovea::serving {

/// In the gzip format; false, and the text stays as it is, in builds without zlib.
bool gzip(std::string& text);

}  // namespace fovea::serving

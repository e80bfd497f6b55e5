#pragma once

namespace fovea {

/// The project's version, for manifests and --version.
const char* version();

}  // namespace fovea

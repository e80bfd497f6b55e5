#include "fovea/tasks/outputs/output.h"

#include "fovea/base/error.h"

namespace fovea {

StreamReport OutputKind::stream(const Model&, const std::filesystem::path&, bool,
                                const std::function<void(const std::string&)>&) const {
  fail(ErrorKind::Internal, "these inputs are no stream of events");
}

}  // namespace fovea

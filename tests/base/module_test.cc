#include "fovea/base/module.h"

#include <cstdlib>
#include <filesystem>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::module_test {
namespace {

using testing::expect_error;

constexpr const char* kThere = "libm.so.6";  // every program has it

TEST(Module, TheFirstPlaceThatHasTheDoorIsTaken) {
  EXPECT_NE(open_module(kThere, "cos").function, nullptr);
  const OpenedModule second = open_module(concat("/nowhere/libmodule.so:", kThere), "cos");
  EXPECT_NE(second.function, nullptr);
  EXPECT_EQ(second.reasons, "");
}

TEST(Module, ReasonsNameEveryPlace) {
  EXPECT_EQ(open_module("", "cos").function, nullptr);
  EXPECT_EQ(open_module("", "cos").reasons, "");
  const OpenedModule none = open_module(concat("/nowhere/libmodule.so:", kThere), "fovea_no_door");
  EXPECT_EQ(none.function, nullptr);
  EXPECT_NE(none.reasons.find("/nowhere/libmodule.so"), std::string::npos) << none.reasons;
  EXPECT_NE(none.reasons.find("fovea_no_door"), std::string::npos) << none.reasons;
}

/// The folder that FOVEA_MODULES names while one lives.
class NamedFolder {
 public:
  explicit NamedFolder(const std::string& folder) { ::setenv("FOVEA_MODULES", folder.c_str(), 1); }
  ~NamedFolder() { ::unsetenv("FOVEA_MODULES"); }
};

TEST(Module, PlacesAreMeantFromTheProgramsFolder) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const OpenedModule none = open_module("./libnone.so:../lib/fovea/libnone.so", "door");
  EXPECT_EQ(none.function, nullptr);
  for (const auto& place : {program / "libnone.so", program.parent_path() / "lib/fovea/libnone.so"})
    EXPECT_NE(none.reasons.find(place.string()), std::string::npos) << none.reasons;
}

TEST(Module, TheEnvironmentsFolderComesFirst) {
  const testing::TemporaryFolder folder;
  const NamedFolder named(folder.path().string());
  const OpenedModule none = open_module("./libnone.so", "door");
  EXPECT_EQ(none.reasons.find("; " + (folder.path() / "libnone.so").string()), 0u) << none.reasons;
  EXPECT_NE(open_module(kThere, "cos").function, nullptr) << "and the other places after it";
}

TEST(Module, AMissingOneSaysWhatToInstall) {
  struct Interface {};
  const Module<Interface> module("/nowhere/libmodule.so", "door", "install libmodule-dev");
  EXPECT_FALSE(module.is_there());
  expect_error(ErrorKind::Unsupported, {"install libmodule-dev", "/nowhere/libmodule.so"},
               [&] { module.get(); });
}

}  // namespace
}  // namespace fovea::module_test

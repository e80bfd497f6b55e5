#include "fovea/core/module.h"

#include "tests/support/expect_error.h"

namespace fovea {
namespace {

using testing::expect_error;

constexpr const char* kThere = "libm.so.6";  // every program has it

TEST(Module, TheFirstPlaceThatHasTheDoorIsTaken) {
  EXPECT_NE(open_door(kThere, "cos").function, nullptr);
  const OpenedDoor second = open_door(concat("/nowhere/libmodule.so:", kThere), "cos");
  EXPECT_NE(second.function, nullptr);
  EXPECT_EQ(second.reasons, "");
}

TEST(Module, ReasonsNameEveryPlace) {
  EXPECT_EQ(open_door("", "cos").function, nullptr);
  EXPECT_EQ(open_door("", "cos").reasons, "");
  const OpenedDoor none = open_door(concat("/nowhere/libmodule.so:", kThere), "fovea_no_door");
  EXPECT_EQ(none.function, nullptr);
  EXPECT_NE(none.reasons.find("/nowhere/libmodule.so"), std::string::npos) << none.reasons;
  EXPECT_NE(none.reasons.find("fovea_no_door"), std::string::npos) << none.reasons;
}

TEST(Module, AMissingOneSaysWhatToInstall) {
  struct Interface {};
  const Module<Interface> module("/nowhere/libmodule.so", "door", "install libmodule-dev");
  EXPECT_FALSE(module.is_there());
  expect_error(ErrorKind::Unsupported, {"install libmodule-dev", "/nowhere/libmodule.so"},
               [&] { module.get(); });
}

}  // namespace
}  // namespace fovea

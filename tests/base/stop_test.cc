#include "fovea/base/stop.h"

#include <gtest/gtest.h>

#include <thread>

namespace fovea::stop_test {
namespace {

TEST(Stop, NobodyAsksWithoutAScope) {
  EXPECT_NO_THROW(stop_if_asked());
}

TEST(Stop, AScopeAsksWhileItLives) {
  bool unwanted = false;
  {
    const StopScope scope([&] { return unwanted; });
    EXPECT_NO_THROW(stop_if_asked());
    unwanted = true;
    EXPECT_THROW(stop_if_asked(), Stopped);
  }
  EXPECT_NO_THROW(stop_if_asked());
}

TEST(Stop, AnInnerScopeAddsToTheOuterOne) {
  bool outer = false, inner = false;
  const StopScope first([&] { return outer; });
  {
    const StopScope second([&] { return inner; });
    outer = true;
    EXPECT_THROW(stop_if_asked(), Stopped);
    outer = false;
    inner = true;
    EXPECT_THROW(stop_if_asked(), Stopped);
  }
  EXPECT_NO_THROW(stop_if_asked());
}

TEST(Stop, OtherThreadsAreNotAsked) {
  const StopScope scope([] { return true; });
  bool stopped = false;
  std::thread other([&] {
    try {
      stop_if_asked();
    } catch (const Stopped&) {
      stopped = true;
    }
  });
  other.join();
  EXPECT_FALSE(stopped);
}

}  // namespace
}  // namespace fovea::stop_test

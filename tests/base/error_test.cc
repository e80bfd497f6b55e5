#include "fovea/base/error.h"

#include <set>

#include "tests/support/expect_error.h"

namespace fovea::error_test {
namespace {

using testing::expect_error;

TEST(Error, EveryKindHasItsName) {
  const std::pair<ErrorKind, const char*> kinds[] = {
      {ErrorKind::InvalidArgument, "invalid_argument"},
      {ErrorKind::BadData, "bad_data"},
      {ErrorKind::NotFound, "not_found"},
      {ErrorKind::Io, "io"},
      {ErrorKind::Unsupported, "unsupported"},
      {ErrorKind::Internal, "internal"}};
  std::set<std::string> names;
  for (const auto& [kind, name] : kinds) {
    EXPECT_STREQ(name_of(kind), name);
    names.insert(name_of(kind));
    expect_error(kind, {"found 3, expected 4"},
                 [kind = kind] { fail(kind, "found ", 3, ", expected ", 4); });
  }
  EXPECT_EQ(names.size(), std::size(kinds));
}

TEST(Error, RequireThrowsOnlyWhenTheConditionFails) {
  EXPECT_NO_THROW(require(true, ErrorKind::Internal, "never said"));
  expect_error(ErrorKind::Internal, {"said at 2.5"},
               [] { require(false, ErrorKind::Internal, "said at ", 2.5); });
}

TEST(Error, IsAStandardException) {
  EXPECT_THROW(fail(ErrorKind::Io, "x"), std::runtime_error);
}

}  // namespace
}  // namespace fovea::error_test

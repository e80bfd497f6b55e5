#include "cli/media.h"

#include <gtest/gtest.h>

#include "fovea/base/base64.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::cli::media_test {
namespace {

using testing::expect_error;

const Json kSchema = Json::parse(
    R"({"type": "object", "properties": {"image": {"type": "string", "contentMediaType": "image/*"},
        "note": {"type": "string", "contentMediaType": "text/plain"}}})");

TEST(Media, AFileStandsForItsPath) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("a b.JPG", "bytes").string();
  const std::string url = "data:image/jpeg;name=a%20b.JPG;base64," + base64_encode("bytes");
  EXPECT_EQ(Json::parse(with_media(path, kSchema)), Json({{"image", url}}));
  const Json given{{"image", path}, {"note", path}};
  EXPECT_EQ(Json::parse(with_media(given.dump(), kSchema)), Json({{"image", url}, {"note", path}}));
}

TEST(Media, EverythingElseStaysAsItIs) {
  EXPECT_EQ(with_media("1,2,3", {{"type", "string"}}), "1,2,3");
  EXPECT_EQ(with_media("data:image/png;base64,AAAA", kSchema), "data:image/png;base64,AAAA");
  EXPECT_EQ(with_media("", kSchema), "");
  EXPECT_EQ(Json::parse(with_media(R"({"image": 7})", kSchema)), Json({{"image", 7}}));
}

TEST(Media, AFileThatIsNotThereIsNamed) {
  expect_error(ErrorKind::NotFound, {"nowhere.png", "no such file"},
               [] { with_media("nowhere.png", kSchema); });
  expect_error(ErrorKind::BadData, "is a folder", [] { with_media("/", kSchema); });
}

}  // namespace
}  // namespace fovea::cli::media_test

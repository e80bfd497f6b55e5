#include "fovea/tasks/text_input.h"

#include "tests/support/expect_error.h"

namespace fovea::text_input_test {
namespace {

using testing::expect_error;

TEST(TextInput, IsATextOrAnObject) {
  EXPECT_EQ(read_text_input("a {text}").text, "a {text}");
  EXPECT_FALSE(read_text_input("a text").second);
  const TextInput one = read_text_input(R"( {"text": "a", "other": 3})");
  EXPECT_EQ(one.text, "a");
  EXPECT_FALSE(one.second);
  EXPECT_EQ(read_text_input(R"({"text": "a", "second": ""})").second, "");
}

TEST(TextInput, OtherObjectsAreRefused) {
  for (const char* line : {"{", "{}", R"({"text": 3})", R"({"text": "a", "second": null})"})
    expect_error(ErrorKind::BadData, "input", [&] { read_text_input(line); });
}

}  // namespace
}  // namespace fovea::text_input_test

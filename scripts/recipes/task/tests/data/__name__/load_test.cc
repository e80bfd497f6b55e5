#include "fovea/data/__name__/load.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::load_test {
namespace {

TEST(__Name__Data, WrittenRowsReadBackTheSame) {
  const testing::TemporaryFolder folder;
  const __Name__DataOptions options{20, 0.1};
  write___name___data(folder.path(), options);
  std::vector<std::string> drawn_classes, read_classes;
  const Splits drawn = load___name__({}, options, drawn_classes, 0);
  DataSource source;
  source.path = folder.path();
  const Splits read = load___name__(source, options, read_classes, 0);
  EXPECT_EQ(drawn_classes, read_classes);
  ASSERT_EQ(drawn.train->size(), read.train->size());
  for (int64_t row = 0; row < drawn.train->size(); ++row)
    EXPECT_EQ(drawn.train->input(row), read.train->input(row));
}

TEST(__Name__Data, RefusesWhatIsNoLetter) {
  testing::expect_error(ErrorKind::BadData, {"from a to z"}, [] { __name___example("aB"); });
  const testing::TemporaryFolder folder;
  testing::expect_error(ErrorKind::BadData, {"rows.tsv:2", "columns"},
                        [&] { read___name__(folder.write("rows.tsv", "aab\ta\naab\n")); });
}

}  // namespace
}  // namespace fovea::load_test

#include "fovea/data/__name__/load.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::__name__::load_test {
namespace {

TEST(__Name__Data, WrittenRowsReadBackTheSame) {
  const testing::TemporaryFolder folder;
  const __Name__DataOptions options{20, 0.1};
  write___name___data(folder.path(), options);
  __Name__Coding drawn_coding, read_coding;
  const Splits drawn = load___name__({}, options, drawn_coding, 0);
  DataSource source;
  source.path = folder.path();
  const Splits read = load___name__(source, options, read_coding, 0);
  EXPECT_EQ(drawn_coding.classes, read_coding.classes);
  ASSERT_EQ(drawn.train->size(), read.train->size());
  for (int64_t row = 0; row < drawn.train->size(); ++row)
    EXPECT_EQ(drawn.train->input(row), read.train->input(row));
}

TEST(__Name__Data, CodingIsRestored) {
  const __Name__Coding coding{{"a", "b"}};
  EXPECT_EQ(__Name__Coding::from_json(coding.to_json(), "run").classes, coding.classes);
}

TEST(__Name__Data, BatchesArePadded) {
  const std::vector<Example> two = {__name___example("abz"), __name___example("c")};
  const Batch batch = collate___name__(two);
  const at::Tensor expected = at::tensor({1, 2, 26, 3, 0, 0}, at::kLong).view({2, 3});
  EXPECT_TRUE(at::equal(batch.at("letters"), expected));
  EXPECT_TRUE(at::equal(batch.at("letters.keep"), expected != 0));
}

TEST(__Name__Data, RefusesWhatIsNoLetter) {
  testing::expect_error(ErrorKind::BadData, {"from a to z"}, [] { __name___example("aB"); });
  const testing::TemporaryFolder folder;
  testing::expect_error(ErrorKind::BadData, {"rows.tsv:2", "columns"},
                        [&] { read___name__(folder.write("rows.tsv", "aab\ta\naab\n")); });
  testing::expect_error(ErrorKind::BadData, {"rows.tsv:3", "'aB'"},
                        [&] { read___name__(folder.write("rows.tsv", "aab\ta\n\naB\ta\n")); });
}

}  // namespace
}  // namespace fovea::__name__::load_test

#include "fovea/data/copies/dataset.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

namespace fovea {
namespace {

TEST(CopyData, SymbolsAreTheirBits) {
  EXPECT_EQ(format_symbol(6, 4), "0110");
  EXPECT_EQ(format_symbol(1, 3), "100") << "the first bit first";
  int64_t bits = 0;
  EXPECT_EQ(parse_sequence(" 0110\t1000 ", bits, "input"), (CopySequence{6, 1}));
  EXPECT_EQ(bits, 4);
  EXPECT_EQ(format_sequence({6, 1}, 4), "0110 1000");
  const auto refused = [](const char* text, const std::vector<std::string>& words) {
    int64_t three = 3;
    expect_error(ErrorKind::BadData, words, [&] { parse_sequence(text, three, "a.txt:7"); });
  };
  refused("010 0110", {"a.txt:7", "'0110' is no symbol of 3 bits"});
  refused("01x", {"'01x' is no symbol"});
  refused("  ", {"a.txt:7", "holds no symbol"});
  bits = 0;
  expect_error(ErrorKind::BadData, "is no symbol",
               [&] { parse_sequence(std::string(40, '1'), bits, "input"); });
}

TEST(CopyData, AnExampleIsSymbolsThenNowThenSilence) {
  const Example example = copy_example({2, 5}, 3);
  const at::Tensor inputs =
      at::tensor({0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, at::kFloat)
          .view({5, 4});
  EXPECT_TRUE(example.tensors.at("inputs").equal(inputs));
  EXPECT_TRUE(
      example.tensors.at("target").narrow(0, 3, 2).equal(inputs.narrow(0, 0, 2).narrow(1, 0, 3)));
  EXPECT_EQ(example.tensors.at("target").narrow(0, 0, 3).sum().item<float>(), 0);
  EXPECT_TRUE(example.tensors.at("target.keep").equal(at::tensor({0, 0, 0, 1, 1}).to(at::kBool)));
  EXPECT_EQ(example.axis("steps").labels,
            (std::vector<std::string>{"010", "101", "now", "output 1", "output 2"}));
}

TEST(CopyData, BatchesEqualCollatedExamples) {
  const CopyDataset rows({{2, 5, 1}, {7}, {0, 3}}, 3, false);
  const std::vector<int64_t> picked{1, 0, 2};
  const Batch batch = rows.batch(picked);
  std::vector<Example> examples;
  for (const int64_t row : picked) examples.push_back(rows.example(row));
  const Batch collated = collate_copies(examples);
  ASSERT_EQ(batch.size, 3);
  EXPECT_FALSE(collated.has("slots"));
  for (const auto& [name, tensor] : batch.tensors)
    EXPECT_TRUE(tensor.equal(collated.at(name))) << name;
  EXPECT_EQ(rows.length(0), 7);
  examples[1].tensors["slots"] = at::zeros({4});
  const Batch with_slots = collate_copies(examples);
  EXPECT_EQ(with_slots.at("slots")[0].sum().item<float>(), 4) << "nothing is lost there";
  EXPECT_EQ(with_slots.at("slots")[1].sum().item<float>(), 0);
}

TEST(CopyData, FreshRowsKeepTheirLengths) {
  const CopyDataset fresh({{2, 5, 1}, {7}}, 3, true), fixed({{2, 5, 1}, {7}}, 3, false);
  const std::vector<int64_t> rows{0, 1};
  const Batch one = fresh.augmented_batch(rows, Random(1)),
              same = fresh.augmented_batch(rows, Random(1)),
              other = fresh.augmented_batch(rows, Random(2));
  EXPECT_TRUE(one.at("inputs").equal(same.at("inputs")));
  EXPECT_FALSE(one.at("inputs").equal(other.at("inputs")));
  EXPECT_TRUE(one.at("target.keep").equal(fixed.batch(rows).at("target.keep")));
  EXPECT_TRUE(
      fixed.augmented_batch(rows, Random(1)).at("inputs").equal(fixed.batch(rows).at("inputs")));
}

TEST(CopyData, FilesGiveTheSameRows) {
  const TemporaryFolder folder;
  CopyDataOptions options;
  options.generator.rows = 12;
  options.generator.validation_rows = 4;
  options.generator.test_rows = 2;
  write_copies_data(folder.path() / "data", options);
  int64_t bits = 0, read_bits = 0;
  const Splits drawn = load_copies({}, options, bits, 1);
  const Splits read = load_copies({folder.path() / "data", {}}, options, read_bits, 1);
  EXPECT_EQ(read_bits, 8);
  ASSERT_EQ(read.test->size(), 8);
  for (int64_t row = 0; row < 8; ++row) EXPECT_EQ(read.test->input(row), drawn.test->input(row));
  EXPECT_EQ(read.train->size(), 12);
  const auto wrong = folder.write("a.txt", "0101 1111\n");
  expect_error(ErrorKind::BadData, {"a.txt:1", "no symbol of 8 bits"}, [&] {
    load_copies({wrong, {}}, options, read_bits, 1);
  });
  const auto empty = folder.write("b.txt", "\n\n");
  expect_error(ErrorKind::BadData, "holds no sequence", [&] {
    load_copies({empty, {}}, options, read_bits, 1);
  });
}

}  // namespace
}  // namespace fovea

#include "fovea/data/copies/dataset.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

namespace fovea::copies::dataset_test {
namespace {

CopyLayout layout_of(int64_t bits, const char* kind = "copy") {
  return {.kind = &copy_kind(kind), .bits = bits};
}

CopyDataset three_rows(bool fresh) {
  return {{{{2, 5, 1}}, {{7}}, {{0, 3}}}, layout_of(3), {.bits = 3}, fresh};
}

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
  const Example example = copy_example({{2, 5}}, layout_of(3));
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
  const CopyDataset rows = three_rows(false);
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
  const CopyDataset fresh = three_rows(true), fixed = three_rows(false);
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
  for (const std::string& kind : copy_kinds()) {
    const TemporaryFolder folder;
    CopyDataOptions options;
    options.generator.kind = kind;
    options.generator.rows = 12;
    options.generator.validation_rows = 4;
    options.generator.test_rows = 2;
    options.generator.test_repeats = {10};
    write_copies_data(folder.path() / "data", options);
    CopyLayout layout, read_layout;
    const Splits drawn = load_copies({}, options, layout, 1);
    const Splits read = load_copies({folder.path() / "data", {}}, options, read_layout, 1);
    EXPECT_EQ(read_layout.bits, layout.bits) << kind;
    EXPECT_EQ(read_layout.repeats_mean, layout.repeats_mean);
    EXPECT_EQ(read_layout.repeats_deviation, layout.repeats_deviation);
    ASSERT_EQ(read.test->size(), drawn.test->size());
    for (int64_t row = 0; row < read.test->size(); ++row) {
      EXPECT_EQ(read.test->input(row), drawn.test->input(row));
      const Batch one = drawn.test->batch(std::span(&row, 1)),
                  other = read.test->batch(std::span(&row, 1));
      for (const auto& [name, tensor] : one.tensors)
        EXPECT_TRUE(tensor.equal(other.at(name))) << kind << " " << name;
    }
    EXPECT_EQ(read.train->size(), 12);
  }
}

TEST(CopyData, RefusesFilesOfAnotherKind) {
  const TemporaryFolder folder;
  CopyDataOptions options;
  options.generator.rows = 4;
  write_copies_data(folder.path() / "data", options);
  CopyLayout layout;
  load_copies({folder.path() / "data", {}}, options, layout, 1);
  const auto refused = [&](const std::filesystem::path& path,
                           const std::vector<std::string>& words) {
    expect_error(ErrorKind::BadData, words, [&] { load_copies({path, {}}, options, layout, 1); });
  };
  refused(folder.write("a.txt", "0101 1111\n"), {"a.txt:1", "no symbol of 8 bits"});
  refused(folder.write("b.txt", "\n\n"), {"holds no sequence"});
  options.generator.kind = "ngrams";
  layout = {};
  refused(folder.path() / "data", {"dataset.json", "data.kind=copy", "data.kind=ngrams"});
  for (const char* name : {"data/train.txt", "data/val.txt", "data/test.txt"})
    folder.write(name, "0110\n1011\n");
  folder.write("data/dataset.json",
               "{\"format\": \"fovea-dataset\", \"version\": 1, \"task\": \"copy\"}");
  EXPECT_EQ(load_copies({folder.path() / "data", {}}, options, layout, 1).train->size(), 2)
      << "who made the folder did not say of which kind it is";
}

}  // namespace
}  // namespace fovea::copies::dataset_test

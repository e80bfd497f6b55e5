#include "fovea/data/formats/idx.h"

#include <gtest/gtest.h>

#include "fovea/data/images/idx_folder.h"
#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::idx_test {
namespace {

const SplitOptions kAnySplit{.fraction = 0, .needs_training = false};

/// A header of unsigned bytes with these sizes.
std::string header(std::vector<uint32_t> sizes, char type = 8) {
  std::string bytes{'\0', '\0', type, char(sizes.size())};
  for (const uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(char(size >> shift & 0xff));
  return bytes;
}

std::string repeated(int count, char byte = 7) {
  return std::string(size_t(count), byte);
}

TEST(Idx, ReadsEveryTypeAsItWasWritten) {
  for (const auto type :
       {torch::kByte, torch::kChar, torch::kShort, torch::kInt, torch::kFloat, torch::kDouble}) {
    const at::Tensor values = (torch::arange(24).view({2, 3, 4}) * 5 - 7).abs().to(type);
    const at::Tensor read = parse_idx(idx_bytes(values), "here");
    EXPECT_EQ(read.scalar_type(), type);
    EXPECT_TRUE(read.equal(values)) << type;
  }
}

TEST(Idx, NumbersAreBigEndian) {
  const std::string bytes = header({2}, 0x0B) + std::string("\x01\x02\xff\xfe", 4);
  EXPECT_TRUE(parse_idx(bytes, "here").equal(torch::tensor({0x0102, -2}, torch::kShort)));
}

TEST(Idx, NothingIsAlsoAnArray) {
  EXPECT_EQ(parse_idx(header({0, 28, 28}), "here").sizes(), at::IntArrayRef({0, 28, 28}));
}

TEST(Idx, RefusesWhatIsNoIdxFile) {
  const auto refuses = [](const std::string& bytes, const char* words) {
    expect_error(ErrorKind::BadData, {"digits.idx", words},
                 [&] { parse_idx(bytes, "digits.idx"); });
  };
  refuses("", "0 bytes");
  refuses(std::string("\0\0\x08", 3), "3 bytes");
  refuses("\x89PNG and more", "two zero bytes");
  refuses(header({2}, 0x07) + repeated(2), "idx type 7");
  refuses(header({}), "0 dimensions");
  refuses(header(std::vector<uint32_t>(9, 1)) + repeated(1), "9 dimensions");
  refuses(header({2, 3}).substr(0, 9), "ends inside its header");
}

TEST(Idx, RefusesCountsThatDisagreeWithTheBytes) {
  expect_error(ErrorKind::BadData, {"[2, 3]", "6 bytes, found 5", "truncated"}, [] {
    parse_idx(header({2, 3}) + repeated(5), "x");
  });
  expect_error(ErrorKind::BadData, "6 bytes, found 7", [] {
    parse_idx(header({2, 3}) + repeated(7), "x");
  });
}

// Sizes whose product overflows, or needs all memory, never reach an allocation.
TEST(Idx, RefusesHugeSizes) {
  for (const std::vector<uint32_t>& sizes :
       {std::vector<uint32_t>{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
        std::vector<uint32_t>{60000, 60000, 60000}, std::vector<uint32_t>{0, 0xffffffff, 2}})
    expect_error(ErrorKind::BadData, "may hold", [&] { parse_idx(header(sizes), "x"); });
  expect_error(ErrorKind::BadData, "truncated", [] { parse_idx(header({4000000000u}), "x"); });
}

class IdxFolder : public ::testing::Test {
 protected:
  void write(const std::string& part, int64_t pictures, int64_t labels) const {
    folder.write(part + "-images-idx3-ubyte",
                 idx_bytes(torch::arange(pictures * 6).view({pictures, 2, 3}).to(torch::kByte)));
    folder.write(part + "-labels-idx1-ubyte",
                 idx_bytes((torch::arange(labels) % 3).to(torch::kByte)));
  }
  TemporaryFolder folder;
};

TEST_F(IdxFolder, FindsThePartsByTheirNames) {
  write("train", 4, 4);
  write("t10k", 2, 2);
  EXPECT_TRUE(holds_idx_images(folder.path()));
  const SplitRows<LabelledImage> splits = read_idx_images({folder.path(), {}}, kAnySplit);
  std::string labels;
  for (const LabelledImage& image : splits.train) {
    EXPECT_EQ(image.pixels.sizes(), at::IntArrayRef({1, 2, 3}));
    labels += image.label;
  }
  EXPECT_EQ(labels, "0120");
  EXPECT_EQ(splits.test.size(), 2);
  EXPECT_TRUE(splits.validation.empty());
  EXPECT_FALSE(splits.hash.empty());
}

TEST_F(IdxFolder, OneFileIsTrainingOrWhole) {
  write("emnist-letters-test", 3, 3);
  DataSource source{folder / "emnist-letters-test-images-idx3-ubyte", {}};
  EXPECT_EQ(read_idx_images(source, kAnySplit).train.size(), 3);
  source.whole = true;
  EXPECT_EQ(read_idx_images(source, kAnySplit).test.size(), 3);
  source.path = folder.path();
  EXPECT_EQ(read_idx_images(source, kAnySplit).test.size(), 3)
      << "a word of the name says the split";
}

TEST_F(IdxFolder, RefusesWhatDoesNotFitTogether) {
  write("train", 4, 3);
  expect_error(ErrorKind::BadData, {"train-labels", "3 labels for 4 pictures"}, [&] {
    read_idx_images({folder.path(), {}}, kAnySplit);
  });
  write("train", 4, 4);
  folder.write("train-images.idx3-ubyte", "");
  expect_error(ErrorKind::BadData, "holds both", [&] {
    read_idx_images({folder.path(), {}}, kAnySplit);
  });
}

TEST_F(IdxFolder, RefusesPicturesWithoutLabelsAndOtherNumbers) {
  folder.write("train-images-idx3-ubyte", idx_bytes(torch::zeros({2, 2, 2}, torch::kByte)));
  expect_error(ErrorKind::NotFound, "train-labels-idx1-ubyte", [&] {
    read_idx_images({folder.path(), {}}, kAnySplit);
  });
  folder.write("train-labels-idx1-ubyte", idx_bytes(torch::zeros({2}, torch::kFloat)));
  expect_error(ErrorKind::BadData, "labels are whole numbers", [&] {
    read_idx_images({folder.path(), {}}, kAnySplit);
  });
  folder.write("train-images-idx3-ubyte", idx_bytes(torch::zeros({2, 2, 2}, torch::kFloat)));
  expect_error(ErrorKind::BadData, "unsigned bytes", [&] {
    read_idx_images({folder.path(), {}}, kAnySplit);
  });
  folder.write("train-images-idx3-ubyte", idx_bytes(torch::zeros({2, 0, 2}, torch::kByte)));
  expect_error(ErrorKind::BadData, "0 x 2 pixels", [&] {
    read_idx_images({folder.path(), {}}, kAnySplit);
  });
}

TEST_F(IdxFolder, ANameMustSayWhichSplitItIs) {
  write("mine", 2, 2);
  expect_error(ErrorKind::BadData, "does not say which split", [&] {
    read_idx_images({folder.path(), {}}, kAnySplit);
  });
}

}  // namespace
}  // namespace fovea::idx_test

#include "fovea/data/formats/npz.h"

#include <cmath>

#include "fovea/data/formats/npy.h"
#include "fovea/tensor/torch.h"
#include "tests/data/formats/raw_npz.h"
#include "tests/data/testing.h"

namespace fovea::npz_test {
namespace {

/// What write_arrays.py calls counted().
at::Tensor counted(at::IntArrayRef shape, at::ScalarType type = at::kFloat) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return (torch::arange(count, at::kDouble) / 4 - 1).reshape(shape).to(type);
}

void expect_golden_arrays(const std::map<std::string, at::Tensor>& arrays) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const std::map<std::string, at::Tensor> expected = {
      {"half", counted({2, 3}, at::kHalf)},
      {"attentions.0", counted({1, 2, 3})},
      {"i1", torch::tensor({-128, 127}, at::kChar)},
      {"i2", torch::tensor({-32768, 258}, at::kShort)},
      {"i4", torch::tensor({std::numeric_limits<int32_t>::min(), 16909060}, at::kInt)},
      {"i8", torch::tensor({kLeast, (int64_t{1} << 53) + 1}, at::kLong)},
      {"u1", torch::tensor({0, 127, 128, 255}, at::kByte)},
      {"bool", torch::tensor({1, 0, 1}).to(at::kBool)},
      {"big_float", counted({2, 2})},
      {"big_long", torch::tensor({kLeast, (int64_t{1} << 53) + 1}, at::kLong)},
      {"columns_first", counted({2, 3, 4})},
      {"version2", counted({2, 2})},
      {"version3", counted({2, 2})},
      {"scalar", torch::tensor(42.0f)},
      {"nothing", torch::zeros({0, 7})},
      {"größe", torch::tensor({7}, at::kInt)}};
  EXPECT_EQ(arrays.size(), expected.size() + 1);
  for (const auto& [name, tensor] : expected) {
    SCOPED_TRACE(name);
    ASSERT_EQ(arrays.count(name), 1u);
    EXPECT_EQ(arrays.at(name).scalar_type(), tensor.scalar_type());
    EXPECT_EQ(arrays.at(name).sizes(), tensor.sizes());
    EXPECT_TRUE(arrays.at(name).is_contiguous());
    EXPECT_TRUE(torch::equal(arrays.at(name), tensor));
  }
  const at::Tensor& doubles = arrays.at("double");
  ASSERT_EQ(doubles.scalar_type(), at::kDouble);
  EXPECT_EQ(doubles[0].item<double>(), 1.0 / 3);
  EXPECT_EQ(doubles[1].item<double>(), -1e300);
  EXPECT_TRUE(std::isnan(doubles[2].item<double>()));
}

TEST(Npz, EveryDtypeOrderAndVersionThatNumpyWrites) {
  expect_golden_arrays(read_npz(fixture("arrays.npz")));
}

TEST(Npz, Deflated) {
#ifndef FOVEA_WITH_ZLIB
  GTEST_SKIP() << "built without zlib";
#endif
  expect_golden_arrays(read_npz(fixture("arrays_deflated.npz")));
}

TEST(Npz, AHandmadeArchiveWithACommentAndOneArrayAlone) {
  const TemporaryFolder folder;
  const std::string npy = make_npy("|u1", "(2, 3)", "abcdef");
  const at::Tensor expected = torch::tensor({97, 98, 99, 100, 101, 102}, at::kByte).view({2, 3});
  for (const std::string& bytes :
       {make_npz(npy), make_zip({{"a.npy", npy}}, "saved by hand"), npy}) {
    const auto arrays = read_npz(folder.write("a.npz", bytes));
    ASSERT_EQ(arrays.size(), 1u);
    ASSERT_EQ(arrays.begin()->first, "a");
    EXPECT_TRUE(torch::equal(arrays.begin()->second, expected));
  }
  EXPECT_TRUE(read_npz(folder.write("none.npz", make_zip({}))).empty());
}

TEST(Npz, HeadersMayBeSpacedOtherwise) {
  const TemporaryFolder folder;
  for (const char* header :
       {"{'shape':(2,),'descr':'|u1','fortran_order':False}",
        "{ \"descr\" : \"|u1\" ,\n 'fortran_order' : True , 'shape' : ( 2 , ) , }\n   ",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2), }"})
    EXPECT_EQ(parse_npy(make_raw_npy(header, "xy"), "test").numel(), 2) << header;
}

TEST(Npz, FilesThatAreNotThereOrSomethingElse) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::NotFound, "none.npz", [&] { read_npz(folder / "none.npz"); });
  expect_error(ErrorKind::InvalidArgument, "is a folder", [&] { read_npz(folder.path()); });
  expect_error(ErrorKind::BadData, "neither as a zip archive nor as a .npy file",
               [&] { read_npz(folder.write("text.npz", "attention")); });
  expect_error(ErrorKind::Unsupported, {"torch.save", "safetensors"}, [&] {
    read_npz(folder.write("model.npz", make_zip({{"model/data.pkl", "x"}, {"model/0", "y"}})));
  });
  expect_error(ErrorKind::BadData, {"readme.txt", "names end in .npy"}, [&] {
    read_npz(folder.write("a.npz", make_zip({{"readme.txt", "x"}})));
  });
}

TEST(Npz, DtypesThatTensorsCannotHaveAreRefusedWithAdvice) {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {{"|O", "pickle"},
                                                       {"<U5", "labels belong in a file"},
                                                       {"|S3", "labels"},
                                                       {"|V2", "bfloat16"},
                                                       {"<u4", "astype('int64')"},
                                                       {"<c8", "astype('float32')"},
                                                       {"<M8[s]", "astype"},
                                                       {"<f16", "astype"},
                                                       {"", "astype"},
                                                       {"f4", "astype"},
                                                       {"|f4", "astype"},
                                                       {"=f4", "astype"}};
  for (const auto& [dtype, says] : cases)
    expect_error(ErrorKind::Unsupported, {"x.npz: array 'a'", concat("'", dtype, "'"), says}, [&] {
      read_npz(folder.write("x.npz", make_npz(make_npy(dtype, "(1,)", "0123456789abcdef"))));
    });
  expect_error(ErrorKind::Unsupported, "named fields", [&] {
    parse_npy(
        make_raw_npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "0123"),
        "x");
  });
}

}  // namespace
}  // namespace fovea::npz_test

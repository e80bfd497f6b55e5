#include "fovea/tensor/safetensors.h"

#include <cstring>

#include "fovea/base/file.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/tensor/raw_safetensors.h"

namespace fovea::safetensors_test {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

using Tensors = std::map<std::string, at::Tensor>;
using Metadata = std::map<std::string, std::string>;

/// The tensor's numbers as bytes, row-major.
std::string bytes_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().contiguous();
  return {static_cast<const char*>(plain.data_ptr()), static_cast<size_t>(plain.nbytes())};
}

void expect_same(const at::Tensor& found, const at::Tensor& expected, const std::string& what) {
  EXPECT_EQ(found.scalar_type(), expected.scalar_type()) << what;
  EXPECT_EQ(found.sizes(), expected.sizes()) << what;
  EXPECT_EQ(bytes_of(found), bytes_of(expected)) << what;
}

/// Little-endian bytes of each number.
template <class Number>
std::string packed(std::initializer_list<Number> numbers) {
  std::string bytes;
  for (const Number number : numbers) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    bytes.append(raw, sizeof number);
  }
  return bytes;
}

TEST(Safetensors, ReadsAFileMadeByHand) {
  const TemporaryFolder folder;
  const std::string header =
      R"({"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("n":{"shape":[3],"data_offsets":[8,11],"dtype":"U8"},"__metadata__":{"format":"pt"}}   )";
  write_file(folder / "f",
             make_raw_safetensors(header, packed<float>({1.5f, -2.0f}) + "\x01\x02\xFF"));
  const SafetensorsFile file = read_safetensors(folder / "f");
  EXPECT_EQ(file.tensors.size(), 2u);
  expect_same(file.tensors.at("w"), torch::tensor({1.5f, -2.0f}).view({2, 1}), "w");
  expect_same(file.tensors.at("n"), torch::tensor({1, 2, 255}, torch::kUInt8), "n");
  EXPECT_EQ(file.metadata, (Metadata{{"format", "pt"}}));
  write_file(folder / "f", make_raw_safetensors("{}", ""));
  EXPECT_TRUE(read_safetensors(folder / "f").tensors.empty());
}

TEST(Safetensors, IsMappedWithTheSameNumbers) {
  const TemporaryFolder folder;
  const at::Tensor large = at::arange(100'000, at::kFloat).view({100, 1000});
  const Tensors tensors{
      {"large", large}, {"half", large.to(at::kBFloat16)}, {"none", at::zeros({0})}};
  write_safetensors(folder / "f", tensors, {{"format", "pt"}});
  SafetensorsFile mapped = map_safetensors(folder / "f");
  for (const auto& [name, tensor] : tensors) {
    expect_same(mapped.tensors.at(name), tensor, name);
    forget_pages(mapped.tensors.at(name));  // read again when they are looked at
    expect_same(mapped.tensors.at(name), tensor, name);
  }
  const at::Tensor own = large.clone();
  forget_pages(own);  // of no file: it stays
  expect_same(own, large, "own");
  // It lives as long as its tensors, and a file that takes its place changes nothing.
  const at::Tensor kept = mapped.tensors.at("large");
  mapped = {};
  write_safetensors(folder / "f", {{"large", large + 1}});
  expect_same(kept, large, "kept");
  // A file that was cut short is refused before anything is looked at.
  std::filesystem::resize_file(folder / "f", std::filesystem::file_size(folder / "f") - 4);
  expect_error(ErrorKind::BadData, "truncated", [&] { map_safetensors(folder / "f"); });
  std::filesystem::resize_file(folder / "f", 5);
  expect_error(ErrorKind::BadData, "fewer than the 8", [&] { map_safetensors(folder / "f"); });
}

TEST(Safetensors, ReadsTheGoldenFileOfAForeignWriter) {
  const SafetensorsFile file =
      read_safetensors(std::string(FOVEA_TEST_FILES) + "/fixtures/core/golden.safetensors");
  const auto complex = [](std::initializer_list<float> parts) {
    return torch::view_as_complex(torch::tensor(std::vector<float>(parts)).view({-1, 2}));
  };
  const Tensors expected{
      {"flags", torch::tensor({true, false, true})},
      {"layer.weight", torch::tensor({0.5f, -1.5f, 2.0f, 3.25f, -0.0f, 1e-3f}).view({2, 3})},
      {"layer.bias", torch::tensor({1.0 / 3, -1e300}, torch::kFloat64)},
      {"half", torch::tensor({0.099975586f, -65504.0f}).to(torch::kHalf)},
      {"brain", torch::tensor({1.0f, -123.5f}).to(torch::kBFloat16)},
      {"bytes", torch::tensor({0, 127, 128, 255}, torch::kUInt8).view({1, 4})},
      {"small", torch::tensor({-128, 127}, torch::kInt8)},
      {"short", torch::tensor({-32768, 258}, torch::kInt16)},
      {"int", torch::tensor({INT32_MIN, 16909060}, torch::kInt32)},
      {"long", torch::tensor({INT64_MIN, (int64_t{1} << 53) + 1}, torch::kInt64)},
      {"wave", complex({1.0f, -2.0f, 0.25f, 8.0f})},
      {"nothing", torch::empty({0, 7})},
      {"scalar", torch::tensor(42.0f)},
      {"gewicht.größe", torch::tensor({7}, torch::kInt32)}};
  EXPECT_EQ(file.tensors.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_EQ(file.tensors.count(name), 1u) << name;
    expect_same(file.tensors.at(name), tensor, name);
  }
  EXPECT_EQ(file.metadata, (Metadata{{"format", "pt"}, {"mode", "α→β \"quoted\"\n"}}));
}

/// Every dtype that all supported LibTorch versions have, with its name in the format.
const std::vector<std::pair<at::ScalarType, std::string>>& dtypes() {
  static const std::vector<std::pair<at::ScalarType, std::string>> all{
      {at::kDouble, "F64"}, {at::kFloat, "F32"}, {at::kHalf, "F16"},        {at::kBFloat16, "BF16"},
      {at::kLong, "I64"},   {at::kInt, "I32"},   {at::kShort, "I16"},       {at::kChar, "I8"},
      {at::kByte, "U8"},    {at::kBool, "BOOL"}, {at::kComplexFloat, "C64"}};
  return all;
}

TEST(Safetensors, WritesWhatTheFormatDemands) {
  const TemporaryFolder folder;
  Tensors tensors{{"empty", torch::empty({2, 0, 3})},
                  {"one byte", torch::tensor({9}, torch::kUInt8)},
                  {"scalar", torch::tensor(-7, torch::kInt16)}};
  for (const auto& [type, name] : dtypes())
    tensors["t." + name] = torch::arange(-3, 3).remainder(4).to(type).view({2, 3});
  const Metadata metadata{{"mode", "größe \"α\" \\ \n"}, {"", ""}};
  write_safetensors(folder / "f", tensors, metadata);
  const RawSafetensors raw = parse_raw_safetensors(read_file(folder / "f"));
  EXPECT_EQ(raw.header_size % 8, 0u) << "the data begins aligned";
  EXPECT_EQ(raw.metadata, metadata);
  EXPECT_EQ(raw.tensors.size(), tensors.size());
  for (const auto& [type, name] : dtypes()) EXPECT_EQ(raw.tensors.at("t." + name).dtype, name);
  uint64_t next = 0;
  for (const std::string& name : raw.order) {
    const RawTensor& found = raw.tensors.at(name);
    const at::Tensor& tensor = tensors.at(name);
    EXPECT_EQ(found.offsets.at(0), next) << name << " leaves a hole";
    EXPECT_EQ(found.offsets.at(0) % tensor.element_size(), 0u) << name << " is not aligned";
    EXPECT_EQ(found.shape, std::vector<uint64_t>(tensor.sizes().begin(), tensor.sizes().end()))
        << name;
    EXPECT_EQ(raw.bytes_of(name), bytes_of(tensor)) << name;
    next = found.offsets.at(1);
  }
  EXPECT_EQ(next, raw.data.size());
}

TEST(Safetensors, WritesTheSameBytesForTheSameContent) {
  const TemporaryFolder folder;
  const Tensors tensors{
      {"b", torch::ones({2})}, {"a", torch::zeros({2}, torch::kInt64)}, {"c", torch::ones({1})}};
  write_safetensors(folder / "f", tensors);
  write_safetensors(folder / "g", tensors);
  EXPECT_EQ(read_file(folder / "f"), read_file(folder / "g"));
  EXPECT_EQ(parse_raw_safetensors(read_file(folder / "f")).order,
            (std::vector<std::string>{"a", "b", "c"}))
      << "widest first, then by name";
}

TEST(Safetensors, RoundTripsEveryDtypeAndStride) {
  const TemporaryFolder folder;
  const at::Tensor grid = torch::arange(24, torch::kFloat32).view({2, 3, 4});
  const at::Tensor wave = torch::view_as_complex(torch::arange(8, torch::kFloat32).view({2, 2, 2}));
  Tensors tensors{{"transposed", grid.transpose(0, 2)},
                  {"slice", grid.select(1, 1).narrow(1, 1, 2)},
                  {"every second", grid.flatten().slice(0, 1, 24, 2)},
                  {"expanded", torch::tensor({1.0f, 2.0f}).unsqueeze(1).expand({2, 5})},
                  {"leaf", torch::rand({3}).requires_grad_()},
                  {"nan", torch::tensor({NAN, INFINITY, -0.0f, 1e-45f})},
                  {"scalar", torch::tensor(2.5)},
                  {"nothing", torch::empty({0})},
                  {"no rows", torch::empty({0, 5}, torch::kInt8)},
                  {"größe/日本 \"x\"\\", torch::tensor({1})},
                  {"", torch::tensor({2})},
                  {"64 dimensions", torch::tensor({3}).view(std::vector<int64_t>(64, 1))},
                  {"conjugated", wave.conj()},
                  {"adjoint", wave.conj().transpose(0, 1)},
                  {"negated", torch::imag(wave.conj())},
                  {"negated, contiguous", torch::imag(wave.flatten().narrow(0, 1, 1).conj())}};
  for (const auto& [type, name] : dtypes()) tensors[name] = torch::arange(7).remainder(3).to(type);
  write_safetensors(folder / "f", tensors, {{"ключ", "значение 🙂"}});
  const SafetensorsFile file = read_safetensors(folder / "f");
  EXPECT_EQ(file.metadata, (Metadata{{"ключ", "значение 🙂"}}));
  EXPECT_EQ(file.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors)
    expect_same(file.tensors.at(name), tensor.resolve_conj().resolve_neg(), name);
}

TEST(Safetensors, TensorsOutliveTheStructAndTheFile) {
  const TemporaryFolder folder;
  write_safetensors(folder / "f", {{"a", torch::arange(1000)}});
  at::Tensor kept = read_safetensors(folder / "f").tensors.at("a");
  std::filesystem::remove(folder / "f");
  EXPECT_TRUE(torch::equal(kept, torch::arange(1000)));
}

TEST(Safetensors, WritingToATensorDoesNotTouchTheFile) {
  const TemporaryFolder folder;
  write_safetensors(folder / "f", {{"a", torch::zeros({4})}});
  const std::string before = read_file(folder / "f");
  read_safetensors(folder / "f").tensors.at("a").fill_(1);
  EXPECT_EQ(read_file(folder / "f"), before);
}

TEST(Safetensors, CanBeWrittenOverTheFileItCameFrom) {
  const TemporaryFolder folder;
  write_safetensors(folder / "f", {{"a", torch::arange(1000)}});
  SafetensorsFile file = read_safetensors(folder / "f");
  file.tensors["b"] = file.tensors.at("a") + 1;
  write_safetensors(folder / "f", file.tensors);
  const SafetensorsFile again = read_safetensors(folder / "f");
  EXPECT_TRUE(torch::equal(again.tensors.at("a"), torch::arange(1000)));
  EXPECT_TRUE(torch::equal(again.tensors.at("b"), torch::arange(1, 1001)));
}

TEST(Safetensors, ManyNamesAreReadInGoodTime) {
  const TemporaryFolder folder;
  std::string header = "{";
  for (int i = 0; i < 30'000; ++i)
    header += (i ? ",\"" : "\"") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  write_file(folder / "f", make_raw_safetensors(header + "}", ""));
  EXPECT_EQ(read_safetensors(folder / "f").tensors.size(), 30'000u);
}

TEST(Safetensors, SaysWhatCannotBeWritten) {
  const TemporaryFolder folder;
  write_safetensors(folder / "f", {{"a", torch::zeros({1})}});
  const std::string before = read_file(folder / "f");
  const auto refused = [&](ErrorKind kind, const std::string& name, const at::Tensor& tensor) {
    expect_error(kind, {name == "x" ? "'x'" : ""}, [&] {
      write_safetensors(folder / "f", {{name, tensor}});
    });
  };
  refused(ErrorKind::InvalidArgument, "__metadata__", torch::zeros({1}));
  refused(ErrorKind::InvalidArgument, "x", at::Tensor());
  refused(ErrorKind::InvalidArgument, "a\xFF", torch::zeros({1}));
  refused(ErrorKind::Unsupported, "x", torch::zeros({1}, torch::kComplexDouble));
  refused(ErrorKind::Unsupported, "x", torch::eye(3).to_sparse());
  for (const Metadata& metadata : {Metadata{{"a\xFF", ""}}, Metadata{{"", "\xC3"}}})
    expect_error(ErrorKind::InvalidArgument, {"UTF-8"},
                 [&] { write_safetensors(folder / "f", {}, metadata); });
  EXPECT_EQ(read_file(folder / "f"), before) << "a refusal leaves the old file";
  EXPECT_EQ(folder.names(), std::vector<std::string>{"f"});
  expect_error(ErrorKind::Io, {"none"}, [&] { write_safetensors(folder / "none/f", {}); });
}

TEST(Safetensors, SaysWhichFileCannotBeOpened) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::NotFound, {"none"}, [&] { read_safetensors(folder / "none"); });
  expect_error(ErrorKind::Io, {"not a regular file"}, [&] { read_safetensors(folder.path()); });
}

/// A mapping of the file itself would end the program by SIGBUS.
TEST(Safetensors, WhatWasReadStaysWhateverHappensToTheFile) {
  const TemporaryFolder folder;
  const auto path = folder / "f.safetensors";
  const at::Tensor numbers = torch::arange(1'000'000);
  write_safetensors(path, {{"n", numbers}}, {{"key", "text"}});
  for (const uint64_t limit : {usual_memory_limit(), uint64_t{1000}}) {  // in memory, in a file
    write_safetensors(path, {{"n", numbers}}, {{"key", "text"}});
    const SafetensorsFile file = read_safetensors(path, limit);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"f.safetensors"});
    std::filesystem::resize_file(path, 100);
    EXPECT_TRUE(file.tensors.at("n").equal(numbers));
    expect_error(ErrorKind::BadData, "truncated", [&] { read_safetensors(path, limit); });
  }
}

TEST(Safetensors, MetadataAlone) {
  const TemporaryFolder folder;
  const auto path = folder / "f.safetensors";
  write_safetensors(path, {{"n", torch::arange(10)}}, {{"key", "text"}});
  EXPECT_EQ(read_safetensors_metadata(path).at("key"), "text");
  write_safetensors(path, {{"n", torch::arange(10)}});
  EXPECT_TRUE(read_safetensors_metadata(path).empty());
  write_file(path, "no");
  expect_error(ErrorKind::BadData, "f.safetensors", [&] { read_safetensors_metadata(path); });
}

}  // namespace
}  // namespace fovea::safetensors_test

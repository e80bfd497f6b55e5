// Event files are read back by a reader of its own: another way to compute the checksum, and
// protobuf's wire format field by field.
#include "fovea/training/tensorboard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::tensorboard_test {
namespace {

using namespace testing;

/// Bit by bit, as a polynomial division.
uint32_t slow_crc(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char byte : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = ((crc ^ (uint32_t(uint8_t(byte)) >> bit)) & 1) != 0;
      crc = (crc >> 1) ^ (carry ? 0x82f63b78u : 0);
    }
  return ~crc;
}

uint32_t masked_crc(std::string_view bytes) {
  const uint32_t crc = slow_crc(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

template <class Number>
Number number_at(std::string_view bytes) {
  Number number;
  require(bytes.size() >= sizeof number, ErrorKind::BadData, "the file ends early");
  std::memcpy(&number, bytes.data(), sizeof number);  // this machine is little endian, too
  return number;
}

/// The records of a TFRecord file; fails where a checksum is wrong.
std::vector<std::string> records_in(const std::string& file) {
  std::vector<std::string> records;
  for (std::string_view rest = file; !rest.empty();) {
    const auto size = number_at<uint64_t>(rest);
    EXPECT_EQ(number_at<uint32_t>(rest.substr(8)), masked_crc(rest.substr(0, 8)));
    const std::string_view record = rest.substr(12, size);
    EXPECT_EQ(number_at<uint32_t>(rest.substr(12 + size)), masked_crc(record));
    records.emplace_back(record);
    rest.remove_prefix(16 + size);
  }
  return records;
}

struct WireField {
  std::string bytes;  // of a string or message
  uint64_t bits = 0;  // of a number
};

/// The fields of a protobuf message by their numbers.
std::multimap<int, WireField> fields_in(std::string_view message) {
  std::multimap<int, WireField> fields;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = uint8_t(message.at(0));
      message.remove_prefix(1);
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (!message.empty()) {
    const uint64_t key = varint();
    WireField field;
    switch (key & 7) {
      case 0:
        field.bits = varint();
        break;
      case 1:
        field.bits = number_at<uint64_t>(message);
        message.remove_prefix(8);
        break;
      case 2: {
        const uint64_t size = varint();
        field.bytes = message.substr(0, size);
        message.remove_prefix(size);
        break;
      }
      case 5:
        field.bits = number_at<uint32_t>(message);
        message.remove_prefix(4);
        break;
      default:
        ADD_FAILURE() << "wire type " << (key & 7);
        return fields;
    }
    fields.emplace(int(key >> 3), field);
  }
  return fields;
}

struct Scalar {
  std::string tag;
  int64_t step;
  float value;
  auto operator<=>(const Scalar&) const = default;
};

struct EventFile {
  std::string version;
  std::vector<Scalar> scalars;
  std::optional<int64_t> start;  // the step of the session's start
};

EventFile read_events(const std::filesystem::path& path) {
  EventFile file;
  for (const std::string& record : records_in(read_file(path))) {
    const auto event = fields_in(record);
    EXPECT_EQ(event.count(1), 1u) << "wall_time";
    double time = 0;
    std::memcpy(&time, &event.find(1)->second.bits, sizeof time);
    EXPECT_GT(time, 1.7e9);
    const int64_t step = event.contains(2) ? int64_t(event.find(2)->second.bits) : 0;
    if (event.contains(3)) file.version = event.find(3)->second.bytes;
    if (event.contains(7)) {
      EXPECT_EQ(fields_in(event.find(7)->second.bytes).find(1)->second.bits, 1u) << "START";
      file.start = step;
    }
    if (!event.contains(5)) continue;
    const auto summary = fields_in(event.find(5)->second.bytes);
    for (auto [value, end] = summary.equal_range(1); value != end; ++value) {
      const auto parts = fields_in(value->second.bytes);
      const auto bits = uint32_t(parts.find(2)->second.bits);
      float number = 0;
      std::memcpy(&number, &bits, sizeof number);
      file.scalars.push_back({parts.find(1)->second.bytes, step, number});
    }
  }
  return file;
}

TEST(TensorBoard, HasThePublishedChecksum) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);              // RFC 3720's check value
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);    // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);  // RFC 3720, B.4
  EXPECT_EQ(slow_crc("123456789"), 0xe3069283u);
}

TEST(TensorBoard, IsReadBack) {
  TemporaryFolder folder;
  TensorBoardLog log(folder / "events");
  StepReport step;
  step.step = 300;  // two bytes of a varint
  step.loss = 0.625;
  step.learning_rate = 0.001;
  step.rows_per_second = 12000;
  log.add(step);
  EpochReport epoch;
  epoch.epoch = 1, epoch.steps = 400, epoch.loss = 0.5;
  epoch.validation = {{"accuracy", 0.75, true}, {"loss", 0.25}};
  log.add(epoch);
  EXPECT_TRUE(log.path().filename().string().starts_with("events.out.tfevents."));
  const EventFile file = read_events(log.path());
  EXPECT_EQ(file.version, "brain.Event:2");
  EXPECT_EQ(file.start, 300);
  EXPECT_EQ(file.scalars, (std::vector<Scalar>{{"train/loss", 300, 0.625f},
                                               {"learning_rate", 300, 0.001f},
                                               {"rows_per_second", 300, 12000.f},
                                               {"train/epoch_loss", 400, 0.5f},
                                               {"validation/accuracy", 400, 0.75f},
                                               {"validation/loss", 400, 0.25f}}));
}

TEST(TensorBoard, EachTrainingHasAFileOfItsOwn) {
  TemporaryFolder folder;
  const TensorBoardLog first(folder.path()), second(folder.path());
  EXPECT_NE(first.path(), second.path());
  EXPECT_LT(first.path(), second.path()) << "in the order in which they are read";
  write_file(folder / "file", "x");
  expect_error(ErrorKind::Io, {"file"}, [&] { TensorBoardLog(folder / "file"); });
}

}  // namespace
}  // namespace fovea::tensorboard_test

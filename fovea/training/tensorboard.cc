#include "fovea/training/tensorboard.h"

#include <array>
#include <bit>
#include <chrono>

#include "fovea/base/file.h"
#include "fovea/base/text.h"

namespace fovea {

namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    table[byte] = crc;
  }
  return table;
}();

/// The lowest byte first, on any machine.
template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof number; ++i, number >>= 8) bytes += char(number & 0xff);
  return bytes;
}

std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7) bytes += char(number | 128);
  return bytes + char(number);
}

std::string key(int field, WireType type) {
  return varint(uint64_t(field) << 3 | type);
}

std::string bytes_field(int field, std::string_view bytes) {
  return concat(key(field, kBytes), varint(bytes.size()), bytes);
}

std::string double_field(int field, double value) {
  return key(field, kFixed64) + little_endian(std::bit_cast<uint64_t>(value));
}

std::string float_field(int field, float value) {
  return key(field, kFixed32) + little_endian(std::bit_cast<uint32_t>(value));
}

std::string integer_field(int field, int64_t value) {
  return key(field, kVarint) + varint(static_cast<uint64_t>(value));
}

uint32_t masked(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string event(int64_t step, const std::string& what) {
  return double_field(1, wall_time()) + (step != 0 ? integer_field(2, step) : "") + what;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

TensorBoardLog::TensorBoardLog(const std::filesystem::path& folder) {
  make_folder(folder);
  const auto second = static_cast<int64_t>(wall_time());
  // TensorBoard reads the files of a folder in the order of their names.
  for (int64_t number = 0; path_.empty() || std::filesystem::exists(path_); ++number)
    path_ = folder / concat("events.out.tfevents.", second, ".fovea.", number);
  write(event(0, bytes_field(3, "brain.Event:2")));
}

void TensorBoardLog::add(const StepReport& report) {
  add(report.step, {{"train/loss", report.loss},
                    {"learning_rate", report.learning_rate},
                    {"rows_per_second", report.rows_per_second}});
}

void TensorBoardLog::add(const EpochReport& report) {
  Scalars scalars{{"train/epoch_loss", report.loss}};
  for (const Metric& metric : report.validation)
    scalars.emplace_back("validation/" + metric.name, metric.value);
  add(report.steps, scalars);
}

void TensorBoardLog::add(int64_t step, const Scalars& scalars) {
  constexpr int kStart = 1;
  if (!begun_) write(event(step, bytes_field(7, integer_field(1, kStart))));
  begun_ = true;
  std::string summary;
  for (const auto& [tag, value] : scalars)
    summary += bytes_field(1, bytes_field(1, tag) + float_field(2, static_cast<float>(value)));
  write(event(step, bytes_field(5, summary)));
}

void TensorBoardLog::write(std::string_view event) {
  const std::string length = little_endian<uint64_t>(event.size());
  append_unsynced(path_, concat(length, little_endian(masked(crc32c(length))), event,
                                little_endian(masked(crc32c(event)))));
}

}  // namespace fovea

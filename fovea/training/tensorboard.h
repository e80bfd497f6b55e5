// A training as TensorBoard's event files: records of TFRecord, each with two masked CRC-32C, that
// hold Event messages of protobuf. Tags: train/loss, train/epoch_loss, validation/<metric>,
// learning_rate, rows_per_second.
//   record   u64 length, u32 mask(crc(length)), bytes, u32 mask(crc(bytes)); little endian
//   mask(c)  ((c >> 15) | (c << 17)) + 0xa282ead8
//   Event    1 double wall_time, 2 int64 step, 3 string file_version, 5 Summary, 7 SessionLog
//   Summary  repeated 1 Value; Value: 1 string tag, 2 float simple_value
//   SessionLog  1 status; START drops what a training that was killed wrote from that step on
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/training/report.h"
#include "fovea/training/step_log.h"

namespace fovea {

class TensorBoardLog {
 public:
  /// A new file in the folder, which is made where there is none. Io.
  explicit TensorBoardLog(const std::filesystem::path& folder);

  void add(const StepReport& report);
  void add(const EpochReport& report);

  const std::filesystem::path& path() const { return path_; }

 private:
  using Scalars = std::vector<std::pair<std::string, double>>;
  void add(int64_t step, const Scalars& scalars);
  void write(std::string_view event);
  std::filesystem::path path_;
  bool begun_ = false;
};

/// Castagnoli's polynomial, as iSCSI and TFRecord have it.
uint32_t crc32c(std::string_view bytes);

}  // namespace fovea

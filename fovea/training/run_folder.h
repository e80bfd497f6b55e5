// A run: a folder that can be copied, with everything that prediction needs.
//   config.json         every option that made it; "format_version" first
//   model.safetensors   the best weights so far, with PyTorch's names
//   last.safetensors    the newest checkpoint: weights, optimiser, schedule, position in the data
//   metrics.jsonl       one line per epoch
//   manifest.json       data hash, seed, versions, a content hash of each file
//   assets/             what prediction needs besides weights: encodings, vocabularies
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "fovea/core/file.h"
#include "fovea/core/json.h"
#include "fovea/core/safetensors.h"

namespace fovea {

constexpr int64_t kRunFormatVersion = 1;

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.json"; }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  std::filesystem::path last() const { return path_ / "last.safetensors"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path manifest() const { return path_ / "manifest.json"; }
  std::filesystem::path asset(const std::string& name) const { return path_ / "assets" / name; }

  /// Whether a training can be resumed or predicted from here.
  bool holds_run() const;

  /// Makes the folder and keeps every other training out of it until this object dies.
  void claim();

  /// config.json after checking its version; NotFound and BadData say what is missing.
  Json read_config() const;

  /// An asset's JSON.
  Json read_asset(const std::string& name) const;
  void write_asset(const std::string& name, const Json& value) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<FileLock> lock_;
};

/// One metrics.jsonl: appended to while training, cut back when a resumed training repeats epochs.
class MetricsLog {
 public:
  explicit MetricsLog(std::filesystem::path path) : path_(std::move(path)) {}
  void keep(int64_t lines);  // drops every line after the first `lines`
  void append(const Json& record);

 private:
  std::filesystem::path path_;
};

}  // namespace fovea

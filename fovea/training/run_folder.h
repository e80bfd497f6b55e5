// A run: a folder that can be copied, with everything that prediction needs.
//   config.json         every option that made it; "format_version" first
//   model.safetensors   the best weights so far, with PyTorch's names
//   last.safetensors    the newest checkpoint: weights, optimiser, schedule, position in the data
//   metrics.jsonl       one line per epoch
//   steps.jsonl         one line now and then within an epoch
//   attention.jsonl     the attention of some validation rows, epoch by epoch, where it was asked
//   for manifest.json       data hash, seed, versions, a content hash of each file assets/ what
//   prediction needs besides weights: encodings, vocabularies adapter_*           of low-rank
//   adapters, as PEFT names and writes them .lock               held by a training; says so when
//   there is no checkpoint yet
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {

constexpr int64_t kRunFormatVersion = 1;

/// What PEFT calls the description and the weights of low-rank adapters.
constexpr const char *kAdapterConfig = "adapter_config.json",
                     *kAdapterModel = "adapter_model.safetensors";
constexpr const char* kAdapterFiles[] = {kAdapterConfig, kAdapterModel};

/// What may stand in a folder that is claimed.
enum class Claim {
  New,        // nothing, or what a training left that was killed before its first checkpoint
  Resume,     // a run
  Overwrite,  // anything: files of a run are replaced, all others stay
};

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.json"; }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  /// Weights that have not seen the validation rows, where those of model() have (tasks/refit.h).
  std::filesystem::path held_out() const { return path_ / "held_out.safetensors"; }
  std::filesystem::path last() const { return path_ / "last.safetensors"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path steps() const { return path_ / "steps.jsonl"; }
  std::filesystem::path attention() const { return path_ / "attention.jsonl"; }
  std::filesystem::path manifest() const { return path_ / "manifest.json"; }
  std::filesystem::path asset(const std::string& name) const { return path_ / "assets" / name; }

  /// Whether a training can be resumed or predicted from here.
  bool holds_run() const;

  /// Makes the folder and keeps every other training out of it until this object dies. If it dies
  /// before the first checkpoint, what was made and written is removed again: a training that was
  /// refused leaves nothing behind.
  void claim(Claim how = Claim::New);
  /// Removes what is to be replaced; from here on the folder is written to.
  void begin() const;
  /// The first checkpoint is written: whatever happens now, there is a run.
  void begun() const;
  /// Io when somebody has removed the claimed folder, or made it again, in the meantime: nothing
  /// must be written into another's.
  void require_still_ours() const;

  /// Whether a training is writing into the folder just now.
  bool is_held() const;

  /// A sentence when the training of this run did not come to its end, by the manifest; else empty.
  std::string unfinished() const;

  /// config.json after checking its version; NotFound and BadData say what is missing.
  Json read_config() const;

  /// An asset's JSON.
  Json read_asset(const std::string& name) const;
  void write_asset(const std::string& name, const Json& value) const;
  /// Where an asset is to be written that is no JSON.
  std::filesystem::path new_asset(const std::string& name) const;

  /// For the manifest: hashes of the assets that were written through this object.
  Json hashes_of_assets() const;
  /// BadData names the asset that is missing, that has changed or that is not from this run, by the
  /// hashes in the manifest. A run without manifest, or with one that has no hashes, passes.
  void check_assets() const;

 private:
  class Hold;
  std::filesystem::path path_;
  std::shared_ptr<Hold> hold_;
  std::shared_ptr<std::set<std::string>> written_ = std::make_shared<std::set<std::string>>();
};

/// One metrics.jsonl: appended to while training, cut back when a resumed training repeats epochs.
class MetricsLog {
 public:
  explicit MetricsLog(std::filesystem::path path) : path_(std::move(path)) {}
  void keep(int64_t lines);  // drops every line after the first `lines`, and one without an end
  void append(const Json& record);  // synced: a later checkpoint relies on it

 private:
  std::filesystem::path path_;
};

}  // namespace fovea

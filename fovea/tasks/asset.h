// What a run keeps of its encodings, as JSON.
#pragma once

#include <string>

#include "fovea/tasks/data_kind.h"
#include "fovea/training/run_folder.h"

namespace fovea {

/// The asset `name` as what has Coding::from_json(json, where) reads it.
template <class Coding>
auto read_asset_as(const RunFolder& folder, const std::string& name) {
  return Coding::from_json(folder.read_asset(name), folder.asset(name).string());
}

/// Data with options, and with what is learned from the training rows as one asset.
template <class Options, class Coding>
class CodedData : public DataKind {
 public:
  explicit CodedData(const char* asset) : asset_(asset) {}
  const Options& options() const { return options_; }
  const Coding& coding() const { return coding_; }

  void save(const RunFolder& folder) const override {
    folder.write_asset(asset_, coding_.to_json());
  }
  void restore(const RunFolder& folder) override {
    coding_ = read_asset_as<Coding>(folder, asset_);
  }

 protected:
  Options options_;
  Coding coding_;

 private:
  const char* asset_;
};

}  // namespace fovea

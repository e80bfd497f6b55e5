// What every file of `fovea prepare` has: a safetensors file whose metadata names its format, and
// holds tokenisers, options and notes as JSON; the data are tensors. docs/formats/prepared.md.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/data/tokenisers/tokeniser.h"
#include "fovea/tensor/example.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {

struct PreparedFormat {
  std::string name;  // "fovea-prepared-captions"
  std::string what;  // "captions": what such a file holds, for messages
  int64_t version = 1;
};

class PreparedReader {
 public:
  /// BadData for a file of another format, Unsupported for a newer version.
  PreparedReader(const std::filesystem::path& path, const PreparedFormat& format);

  const std::string& text(const std::string& key) const;  // BadData: the metadata has none
  Json json(const std::string& key) const;
  std::vector<std::string> notes() const;
  /// What PreparedWriter::add stored under this key, and SentencePiece's bytes under `model`.
  std::shared_ptr<const Tokeniser> tokeniser(const std::string& key, const std::string& model);

  bool has_text(const std::string& key) const { return file_.metadata.contains(key); }
  bool has_tensor(const std::string& name) const { return file_.tensors.contains(name); }
  /// Takes a tensor out of the file; undefined when it is not there.
  at::Tensor take(const std::string& name);
  /// The same, but BadData unless it is there, [n] and of this type.
  at::Tensor take(const std::string& name, at::ScalarType type);
  std::string take_bytes(const std::string& name);
  /// BadData when a tensor is left that nobody took.
  void finish() const;

  const std::string& where() const { return where_; }

 private:
  std::string where_, what_;
  SafetensorsFile file_;
};

class PreparedWriter {
 public:
  PreparedWriter(const PreparedFormat& format, const Json& options,
                 const std::vector<std::string>& notes);

  void add(const std::string& key, const std::string& text) { metadata_[key] = text; }
  void add(const std::string& name, const at::Tensor& tensor) { tensors_[name] = tensor; }
  void add_bytes(const std::string& name, const std::string& bytes);
  /// Its JSON under `key`, and SentencePiece's bytes, for the kinds that have them, under `model`.
  void add(const std::string& key, const std::string& model, const Tokeniser& tokeniser);
  void write(const std::filesystem::path& path) const;  // atomically

 private:
  NamedTensors tensors_;
  std::map<std::string, std::string> metadata_;
};

/// BadData where a file was prepared with other symbols than the run's.
void require_same_symbols(const Tokeniser& own, const Tokeniser& prepared,
                          const std::string& where);

/// Which options a file's preparation fixed.
struct FixedOptions {
  std::set<std::string> keys;      // empty: all
  std::set<std::string> decisive;  // another value is refused: the user would get something else
};

/// A note that names the fixed options that are set differently now, or none.
std::vector<std::string> overridden_options(const std::string& where, const Json& now,
                                            const Json& prepared, const FixedOptions& fixed);

/// A file that a PreparedReader should open: by its name (.safetensors) or its first bytes.
bool is_prepared(const std::filesystem::path& path);

/// Whether the file is one that `fovea prepare` has written, of whatever version.
bool holds_prepared(const std::filesystem::path& path);

}  // namespace fovea

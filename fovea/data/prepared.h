// What every file of `fovea prepare` has: a safetensors file whose metadata names its format, and
// holds tokenisers, options and notes as JSON; the data are tensors. docs/formats/prepared.md.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/data/tokenisers/tokeniser.h"
#include "fovea/tensor/example.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {

struct PreparedFormat {
  std::string name;  // "fovea-prepared-captions"
  std::string what;  // "captions": what such a file holds, for messages
  int64_t version = 1;
};

/// Which options a file's preparation fixed.
struct FixedOptions {
  std::set<std::string> keys;      // empty: all
  std::set<std::string> decisive;  // another value is refused: the user would get something else
};

/// The tensor with the rows of a split, "train.rows".
std::string rows_name(int split);

class PreparedReader {
 public:
  /// BadData for a file of another format, Unsupported for a newer version.
  PreparedReader(const std::filesystem::path& path, const PreparedFormat& format);

  const std::string& text(const std::string& key) const;  // BadData: the metadata has none
  Json json(const std::string& key) const;
  std::vector<std::string> notes() const;
  /// With a note that names the fixed options that are set differently now.
  std::vector<std::string> notes(const Json& now, const FixedOptions& fixed) const;
  /// InvalidArgument unless the file was prepared with this value of data.KEY.
  void require_option(const std::string& key, const Json& now) const;
  /// What PreparedWriter::add stored under this key, and SentencePiece's bytes under `model`.
  std::shared_ptr<const Tokeniser> tokeniser(const std::string& key, const std::string& model);
  /// The file's only one. BadData where the run has another one already.
  std::shared_ptr<const Tokeniser> tokeniser(const std::shared_ptr<const Tokeniser>& own);

  bool has_text(const std::string& key) const { return file_.metadata.contains(key); }
  bool has_tensor(const std::string& name) const { return file_.tensors.contains(name); }
  /// Takes a tensor out of the file; undefined when it is not there.
  at::Tensor take(const std::string& name);
  /// The same, but BadData unless it is there, [n] and of this type.
  at::Tensor take(const std::string& name, at::ScalarType type);
  std::string take_bytes(const std::string& name);
  bool has_rows(int split) const { return has_tensor(rows_name(split)); }
  /// Rows that PreparedWriter::add_rows wrote, each read by `take(row)`.
  template <class Take>
  auto take_rows(int split, const Take& take) {
    std::vector<decltype(take(std::declval<const Field&>()))> rows;
    const std::string name = rows_name(split), place = where_ + ": " + name;
    const Json listed = parse_json(take_bytes(name), place);
    Field(listed, place).each({}, [&](const Field& row) { rows.push_back(take(row)); });
    return rows;
  }
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
  void add(const Tokeniser& tokeniser);  // the only one
  /// Rows as one list of JSON.
  template <class Row, class ToJson>
  void add_rows(int split, const std::vector<Row>& rows, const ToJson& to_json) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(to_json(row));
    add_bytes(rows_name(split), list.dump());
  }
  void write(const std::filesystem::path& path) const;  // atomically

 private:
  NamedTensors tensors_;
  std::map<std::string, std::string> metadata_;
};

/// BadData where a file was prepared with other symbols than the run's.
void require_same_symbols(const Tokeniser& own, const Tokeniser& prepared,
                          const std::string& where);

/// A note that names the fixed options that are set differently now, or none.
std::vector<std::string> overridden_options(const std::string& where, const Json& now,
                                            const Json& prepared, const FixedOptions& fixed);

/// A file that a PreparedReader should open: by its name (.safetensors) or its first bytes.
bool is_prepared(const std::filesystem::path& path);

/// Whether the file is one that `fovea prepare` has written, of whatever version.
bool holds_prepared(const std::filesystem::path& path);

}  // namespace fovea

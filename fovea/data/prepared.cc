#include "fovea/data/prepared.h"

#include <ATen/ops/empty.h>

#include <cstring>
#include <fstream>

#include "fovea/core/error.h"
#include "fovea/core/file.h"
#include "fovea/core/safetensors.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "fovea-prepared";
constexpr int64_t kVersion = 1;
constexpr const char* kSourceModel = "source.model";
constexpr const char* kTargetModel = "target.model";

constexpr const char* kArrays[] = {"source.ids",          "source.spans",
                                   "source.offsets",      "source.text",
                                   "source.text_offsets", "target.ids",
                                   "target.spans",        "target.offsets",
                                   "references.text",     "references.text_offsets",
                                   "references.offsets",  "links",
                                   "links.offsets"};

at::Tensor bytes_tensor(const std::string& bytes) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

/// The tokeniser's JSON as metadata, SentencePiece's bytes as a tensor.
std::string store(const Tokeniser& tokeniser, const char* model, NamedTensors& tensors) {
  const TokeniserState state = tokeniser.state();
  if (!state.model.empty()) tensors[model] = bytes_tensor(state.model);
  return state.description.dump();
}

class PreparedReader {
 public:
  explicit PreparedReader(const fs::path& path)
      : where_(path.string()), file_(read_safetensors(path)) {}

  Prepared read() {
    check_version();
    Prepared prepared;
    prepared.task = text("task");
    prepared.options = parse_json(text("options"), where_ + ": options");
    prepared.tokenisers.source = tokeniser("source_tokeniser", kSourceModel);
    prepared.tokenisers.target = file_.metadata.contains("target_tokeniser")
                                     ? tokeniser("target_tokeniser", kTargetModel)
                                     : prepared.tokenisers.source;
    prepared.splits.train = split("train.", prepared.tokenisers);
    prepared.splits.validation = split("val.", prepared.tokenisers);
    prepared.splits.test = split("test.", prepared.tokenisers);
    require(file_.tensors.empty(), ErrorKind::BadData, where_, ": holds the tensor '",
            file_.tensors.empty() ? "" : file_.tensors.begin()->first,
            "', which prepared data does not have");
    require(prepared.splits.train || prepared.splits.validation || prepared.splits.test,
            ErrorKind::BadData, where_, ": holds no pairs");
    const Json notes = parse_json(text("notes"), where_ + ": notes");
    require(notes.is_array(), ErrorKind::BadData, where_, ": the notes are no list");
    for (const Json& note : notes) {
      require(note.is_string(), ErrorKind::BadData, where_, ": a note is no text");
      prepared.splits.notes.push_back(note.get<std::string>());
    }
    return prepared;
  }

 private:
  const std::string& text(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    require(found != file_.metadata.end(), ErrorKind::BadData, where_, ": the metadata has no '",
            key, "'");
    return found->second;
  }

  void check_version() const {
    const auto format = file_.metadata.find("format");
    require(format != file_.metadata.end() && format->second == kFormat, ErrorKind::BadData, where_,
            ": is a safetensors file but holds no prepared pairs (its format must be '", kFormat,
            "')");
    int64_t version = 0;
    require(parse_integer(text("version"), version) && version >= 1, ErrorKind::BadData, where_,
            ": the version '", text("version"), "' is not a whole number");
    require(version <= kVersion, ErrorKind::Unsupported, where_, ": ", kFormat, " version ",
            version, " is newer than this program, which reads ", kVersion);
  }

  /// Takes a tensor out of the file; undefined when it is not there.
  at::Tensor take(const std::string& name) {
    auto node = file_.tensors.extract(name);
    return node.empty() ? at::Tensor() : node.mapped();
  }

  std::shared_ptr<const Tokeniser> tokeniser(const std::string& key, const char* model_name) {
    TokeniserState state{parse_json(text(key), where_ + ": " + key), ""};
    if (const at::Tensor model = take(model_name); model.defined()) {
      require(model.scalar_type() == at::kByte && model.dim() == 1, ErrorKind::BadData, where_,
              ": '", model_name, "' must be [n] of bytes");
      state.model.assign(reinterpret_cast<const char*>(model.data_ptr<uint8_t>()),
                         static_cast<size_t>(model.size(0)));
    }
    return Tokeniser::restore(state, where_ + ": " + key);
  }

  std::shared_ptr<Dataset> split(const std::string& prefix, const PairTokenisers& tokenisers) {
    NamedTensors arrays;
    for (const char* name : kArrays)
      if (const at::Tensor array = take(prefix + name); array.defined()) arrays[name] = array;
    if (arrays.empty()) return nullptr;
    try {
      return std::make_shared<PairDataset>(std::move(arrays), tokenisers.source, tokenisers.target);
    } catch (const Error& error) {
      fail(error.kind(), where_, ": ", prefix, " ", error.what());
    }
  }

  std::string where_;
  SafetensorsFile file_;
};

}  // namespace

void write_prepared(const fs::path& path, const Splits& splits, const PairTokenisers& tokenisers,
                    const std::string& task, const Json& options) {
  NamedTensors tensors;
  std::map<std::string, std::string> metadata{
      {"format", kFormat},
      {"version", std::to_string(kVersion)},
      {"task", task},
      {"options", options.dump()},
      {"notes", Json(splits.notes).dump(-1, ' ', false, Json::error_handler_t::replace)}};
  metadata["source_tokeniser"] = store(*tokenisers.source, kSourceModel, tensors);
  if (tokenisers.source != tokenisers.target)
    metadata["target_tokeniser"] = store(*tokenisers.target, kTargetModel, tensors);
  const auto add = [&](const std::string& prefix, const std::shared_ptr<Dataset>& data) {
    if (data == nullptr) return;
    const auto* pairs = dynamic_cast<const PairDataset*>(data.get());
    require(pairs != nullptr, ErrorKind::InvalidArgument, path.string(),
            ": only pairs of texts can be prepared");
    for (const auto& [name, array] : pairs->arrays()) tensors[prefix + name] = array;
  };
  add("train.", splits.train);
  add("val.", splits.validation);
  add("test.", splits.test);
  write_safetensors(path, tensors, metadata);
}

Prepared read_prepared(const fs::path& path) {
  Prepared prepared = PreparedReader(path).read();
  prepared.splits.hash = hash_of_file(path);
  return prepared;
}

bool is_prepared(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  if (path.extension() == ".safetensors") return true;
  // Eight bytes of length, of which the upper four are 0, then JSON: no text begins like that.
  char head[9] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::memcmp(head + 4, "\0\0\0\0{", 5) == 0;
}

}  // namespace fovea

#include "fovea/data/prepared.h"

#include <ATen/ops/empty.h>

#include <cstring>
#include <fstream>

#include "fovea/base/error.h"
#include "fovea/data/dataset.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTokeniser = "tokeniser";
constexpr const char* kTokeniserModel = "tokeniser.model";

}  // namespace

std::string rows_name(int split) {
  return concat(kSplitFileNames[split], ".rows");
}

PreparedReader::PreparedReader(const fs::path& path, const PreparedFormat& format)
    : where_(path.string()), what_(format.what), file_(read_safetensors(path)) {
  const auto found = file_.metadata.find("format");
  require(found != file_.metadata.end() && found->second == format.name, ErrorKind::BadData, where_,
          ": is a safetensors file but holds no prepared ", what_, " (its format must be '",
          format.name, "')");
  int64_t version = 0;
  require(parse_integer(text("version"), version) && version >= 1, ErrorKind::BadData, where_,
          ": the version '", text("version"), "' is not a whole number");
  require(version <= format.version, ErrorKind::Unsupported, where_, ": ", format.name, " version ",
          version, " is newer than this program, which reads ", format.version);
}

const std::string& PreparedReader::text(const std::string& key) const {
  const auto found = file_.metadata.find(key);
  require(found != file_.metadata.end(), ErrorKind::BadData, where_, ": the metadata has no '", key,
          "'");
  return found->second;
}

Json PreparedReader::json(const std::string& key) const {
  return parse_json(text(key), where_ + ": " + key);
}

std::vector<std::string> PreparedReader::notes() const {
  const Json list = json("notes");
  require(list.is_array(), ErrorKind::BadData, where_, ": the notes are no list");
  std::vector<std::string> notes;
  for (const Json& note : list) {
    require(note.is_string(), ErrorKind::BadData, where_, ": a note is no text");
    notes.push_back(note.get<std::string>());
  }
  return notes;
}

std::shared_ptr<const Tokeniser> PreparedReader::tokeniser(const std::string& key,
                                                           const std::string& model) {
  TokeniserState state{json(key), ""};
  if (has_tensor(model)) state.model = take_bytes(model);
  return Tokeniser::restore(state, where_ + ": " + key);
}

std::shared_ptr<const Tokeniser> PreparedReader::tokeniser(
    const std::shared_ptr<const Tokeniser>& own) {
  auto prepared = tokeniser(kTokeniser, kTokeniserModel);
  if (own) require_same_symbols(*own, *prepared, where_);
  return prepared;
}

std::vector<std::string> PreparedReader::notes(const Json& now, const FixedOptions& fixed) const {
  std::vector<std::string> all = notes();
  for (std::string& note : overridden_options(where_, now, json("options"), fixed))
    all.push_back(std::move(note));
  return all;
}

void PreparedReader::require_option(const std::string& key, const Json& now) const {
  const Json options = json("options");
  const Json prepared = options.is_object() ? options.value(key, Json()) : Json();
  require(prepared == now, ErrorKind::InvalidArgument, where_, ": was prepared with data.", key,
          "=", prepared.dump(), "; now it is ", now.dump());
}

at::Tensor PreparedReader::take(const std::string& name) {
  auto node = file_.tensors.extract(name);
  return node.empty() ? at::Tensor() : node.mapped();
}

at::Tensor PreparedReader::take(const std::string& name, at::ScalarType type) {
  const at::Tensor tensor = take(name);
  require(tensor.defined(), ErrorKind::BadData, where_, ": there is no '", name, "'");
  require(tensor.dim() == 1 && tensor.scalar_type() == type, ErrorKind::BadData, where_, ": '",
          name, "' must be [n] of ", type == at::kByte ? "bytes" : at::toString(type));
  return tensor.contiguous();
}

std::string PreparedReader::take_bytes(const std::string& name) {
  const at::Tensor bytes = take(name, at::kByte);
  return {reinterpret_cast<const char*>(bytes.data_ptr<uint8_t>()), size_t(bytes.size(0))};
}

void PreparedReader::finish() const {
  require(file_.tensors.empty(), ErrorKind::BadData, where_, ": holds the tensor '",
          file_.tensors.empty() ? "" : file_.tensors.begin()->first, "', which prepared ", what_,
          " do not have");
}

PreparedWriter::PreparedWriter(const PreparedFormat& format, const Json& options,
                               const std::vector<std::string>& notes)
    : metadata_{{"format", format.name},
                {"version", std::to_string(format.version)},
                {"options", options.dump()},
                {"notes", Json(notes).dump(-1, ' ', false, Json::error_handler_t::replace)}} {}

void PreparedWriter::add_bytes(const std::string& name, const std::string& bytes) {
  at::Tensor tensor = at::empty({int64_t(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  add(name, tensor);
}

void PreparedWriter::add(const std::string& key, const std::string& model,
                         const Tokeniser& tokeniser) {
  const TokeniserState state = tokeniser.state();
  add(key, state.description.dump());
  if (!state.model.empty()) add_bytes(model, state.model);
}

void PreparedWriter::add(const Tokeniser& tokeniser) {
  add(kTokeniser, kTokeniserModel, tokeniser);
}

void PreparedWriter::write(const fs::path& path) const {
  write_safetensors(path, tensors_, metadata_);
}

void require_same_symbols(const Tokeniser& own, const Tokeniser& prepared,
                          const std::string& where) {
  const TokeniserState a = own.state(), b = prepared.state();
  require(a.description == b.description && a.model == b.model, ErrorKind::BadData, where,
          ": was prepared with other symbols than the run's; use the files that it was prepared "
          "from");
}

std::vector<std::string> overridden_options(const std::string& where, const Json& now,
                                            const Json& prepared, const FixedOptions& fixed) {
  std::vector<std::string> differences;
  if (!prepared.is_object()) return {};
  for (const auto& [key, value] : now.items()) {
    if (!prepared.contains(key) || prepared[key] == value) continue;
    if (!fixed.keys.empty() && !fixed.keys.contains(key)) continue;
    if (value == Json("") || value == Json(false)) continue;  // not set
    require(!fixed.decisive.contains(key), ErrorKind::InvalidArgument, where,
            ": was prepared with ", key, "=", prepared[key].dump(), ", which ", key, "=",
            value.dump(), " cannot change; leave it out or prepare the data again");
    differences.push_back(concat(key, "=", prepared[key].dump()));
  }
  if (differences.empty()) return {};
  return {concat("the data was prepared with ", join(differences),
                 "; other values given now have no effect")};
}

bool is_prepared(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  if (path.extension() == ".safetensors") return true;
  // Eight bytes of length, of which the upper four are 0, then JSON: no text begins like that.
  char head[9] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::memcmp(head + 4, "\0\0\0\0{", 5) == 0;
}

bool holds_prepared(const fs::path& path) {
  if (!is_prepared(path)) return false;
  try {
    const auto metadata = read_safetensors_metadata(path);
    const auto format = metadata.find("format");
    return format != metadata.end() && format->second.starts_with("fovea-prepared");
  } catch (const Error&) {
    return false;
  }
}

}  // namespace fovea

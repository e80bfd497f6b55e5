#include "fovea/data/formats/npz.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/formats/npy.h"
#include "fovea/data/formats/zip.h"

namespace fovea {

namespace {

constexpr std::string_view kExtension = ".npy";
constexpr uint64_t kHeaderAllowance = 1 << 20;  // headers and directory beside the numbers
constexpr uint64_t kByteLimit =
    static_cast<uint64_t>(kNumpyElementLimit) * sizeof(double) + kHeaderAllowance;

void check_size(const std::filesystem::path& path) {
  std::error_code ignored;  // read_file says what is wrong with the file
  const uint64_t size = std::filesystem::file_size(path, ignored);
  require(ignored || size <= kByteLimit, ErrorKind::BadData, path.string(), ": has ",
          format_count(static_cast<int64_t>(size)), " bytes, the limit is ",
          format_count(static_cast<int64_t>(kByteLimit)), "; save only the arrays to look at");
}

std::string array_name(const std::string& file, const std::string& path) {
  require(!file.ends_with("data.pkl"), ErrorKind::Unsupported, path,
          ": is a file of torch.save, whose pickle can run any code; save the tensors with "
          "safetensors.torch.save_file or numpy.savez");
  require(file.ends_with(kExtension) && file.size() > kExtension.size(), ErrorKind::BadData, path,
          ": holds '", file,
          "', expected only arrays whose names end in .npy, as numpy.savez "
          "writes them");
  return file.substr(0, file.size() - kExtension.size());
}

/// Sizes that the directory promises, before anything is unpacked.
void check_total(const ZipArchive& archive, const std::string& where) {
  uint64_t total = 0;
  for (const ZipArchive::Entry& entry : archive.entries()) {
    total += entry.size;
    require(total <= kByteLimit, ErrorKind::BadData, where, ": '", entry.name,
            "' and the arrays before it would unpack to ",
            format_count(static_cast<int64_t>(total)), " bytes, the limit is ",
            format_count(static_cast<int64_t>(kByteLimit)));
  }
}

}  // namespace

std::map<std::string, at::Tensor> parse_npz(std::string_view bytes, const std::string& where) {
  require(bytes.starts_with("PK"), ErrorKind::BadData, where,
          ": is not a .npz file: it begins neither as a zip archive nor as a .npy file");
  const ZipArchive archive(bytes, where);
  check_total(archive, where);
  std::map<std::string, at::Tensor> tensors;
  int64_t elements = 0;
  for (const ZipArchive::Entry& entry : archive.entries()) {
    const std::string name = array_name(entry.name, where);
    const at::Tensor tensor =
        parse_npy(archive.unpack(entry), concat(where, ": array '", name, "'"));
    elements += tensor.numel();
    require(elements <= kNumpyElementLimit, ErrorKind::BadData, where, ": array '", name,
            "' and those before it have more than ", format_count(kNumpyElementLimit),
            " numbers, the limit for one file");
    tensors.emplace(name, tensor);
  }
  return tensors;
}

std::map<std::string, at::Tensor> read_npz(const std::filesystem::path& path) {
  check_size(path);
  const std::string bytes = read_file(path);
  if (is_npy(bytes)) return {{path.stem().string(), parse_npy(bytes, path.string())}};
  return parse_npz(bytes, path.string());
}

}  // namespace fovea

#include "fovea/tensor/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr uint64_t kHeaderLimit = 100'000'000;  // the format's own limit
constexpr int64_t kDimensionLimit = 64;
constexpr size_t kDepthLimit = 3;  // {name: {"shape": [

// Sorted rather than ordered: with very many names the ordered type would take quadratic time.
using Header = SortedJson;

struct DtypeName {
  const char* name;
  at::ScalarType type;
};

// Every dtype that both the format and all supported LibTorch versions have.
constexpr DtypeName kDtypes[] = {
    {"F64", at::kDouble},
    {"F32", at::kFloat},
    {"F16", at::kHalf},
    {"BF16", at::kBFloat16},
    {"I64", at::kLong},
    {"I32", at::kInt},
    {"I16", at::kShort},
    {"I8", at::kChar},
    {"U8", at::kByte},
    {"BOOL", at::kBool},
    {"C64", at::kComplexFloat},
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
    {"F8_E4M3", at::ScalarType::Float8_e4m3fn},
    {"F8_E5M2", at::ScalarType::Float8_e5m2},
#endif
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
    {"U16", at::ScalarType::UInt16},
    {"U32", at::ScalarType::UInt32},
    {"U64", at::ScalarType::UInt64},
#endif
};

/// A file that is open for reading.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) : path_(path) {
    // A pipe must not make us wait for its writer.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    require(descriptor_ >= 0, errno == ENOENT ? ErrorKind::NotFound : ErrorKind::Io, path.string(),
            ": cannot be opened (", std::strerror(errno), ")");
    struct stat status {};
    const bool regular = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    size = regular ? static_cast<uint64_t>(status.st_size) : 0;
    if (!regular) ::close(descriptor_);
    require(regular, ErrorKind::Io, path.string(), ": is not a regular file");
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  void read(uint64_t offset, char* bytes, uint64_t count) const {
    constexpr uint64_t kMost = uint64_t{1} << 30;  // a call may read no more than 2 GiB
    while (count > 0) {
      const ssize_t got =
          ::pread(descriptor_, bytes, std::min(count, kMost), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      require(got >= 0, ErrorKind::Io, path_.string(), ": cannot be read (", std::strerror(errno),
              ")");
      require(got > 0, ErrorKind::BadData, path_.string(), ": was cut short while it was read");
      offset += static_cast<uint64_t>(got);
      bytes += got;
      count -= static_cast<uint64_t>(got);
    }
  }

  int descriptor() const { return descriptor_; }

  uint64_t size = 0;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// A nameless file of that size; -1 when there is no room for it in the folder.
int nameless_file(const std::filesystem::path& folder, uint64_t size) {
  std::string name = (folder / "fovea-XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return -1;
  ::unlink(name.c_str());
  // Reserved as a whole: a page without a block would end the program when it is written.
  if (::posix_fallocate(descriptor, 0, static_cast<off_t>(size)) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

/// A copy of the file's data, from `offset` to its end, shared by all tensors that point into it. A
/// mapping of the file itself would change with it, after everything was checked, and would end the
/// program by SIGBUS where the file is cut short.
class FileCopy {
 public:
  FileCopy(const std::filesystem::path& path, const OpenFile& file, uint64_t offset,
           uint64_t memory_limit)
      : size(file.size - offset) {
    if (size == 0) return;
    int scratch = -1;
    if (size > memory_limit) {
      const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
      scratch = nameless_file(folder, size);
      if (scratch < 0) scratch = nameless_file(std::filesystem::temp_directory_path(), size);
      require(scratch >= 0, ErrorKind::Io, path.string(), ": has ", size,
              " bytes, too many for this machine's memory, and there is no room for a copy in ",
              folder.string(), " or in the folder for temporary files (TMPDIR)");
    }
    void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                           scratch < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, scratch, 0);
    const int reason = errno;
    if (scratch >= 0) ::close(scratch);
    require(address != MAP_FAILED, ErrorKind::Io, path.string(),
            ": there is no memory for its bytes (", std::strerror(reason), ")");
    bytes = static_cast<char*>(address);
    try {
      file.read(offset, bytes, size);
    } catch (...) {
      ::munmap(bytes, size);
      throw;
    }
  }
  ~FileCopy() {
    if (bytes) ::munmap(bytes, size);
  }
  FileCopy(const FileCopy&) = delete;
  FileCopy& operator=(const FileCopy&) = delete;

  char* bytes = nullptr;
  uint64_t size = 0;
};

/// Where mapped files lie: first byte -> number of bytes.
std::map<uintptr_t, uint64_t>& mapped_ranges() {
  static std::map<uintptr_t, uint64_t> ranges;
  return ranges;
}
std::mutex& mapped_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// The file's data itself, from `offset` to its end: the system reads a page when it is first
/// looked at, and may forget it again. Nobody can write to it.
class FileMap {
 public:
  FileMap(const std::filesystem::path& path, const OpenFile& file, uint64_t offset)
      : whole_(file.size) {
    void* address = ::mmap(nullptr, whole_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    require(address != MAP_FAILED, ErrorKind::Io, path.string(), ": cannot be mapped into memory (",
            std::strerror(errno), ")");
    address_ = static_cast<char*>(address);
    bytes = address_ + offset;
    const std::lock_guard lock(mapped_mutex());
    mapped_ranges()[reinterpret_cast<uintptr_t>(address_)] = whole_;
  }
  ~FileMap() {
    {
      const std::lock_guard lock(mapped_mutex());
      mapped_ranges().erase(reinterpret_cast<uintptr_t>(address_));
    }
    ::munmap(address_, whole_);
  }
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  char* bytes = nullptr;

 private:
  char* address_ = nullptr;
  uint64_t whole_ = 0;
};

struct Entry {
  std::string name;
  at::ScalarType type;
  std::vector<int64_t> shape;
  uint64_t begin, end;
};

/// Reads one header entry, refusing every number that does not fit the others.
class HeaderReader {
 public:
  HeaderReader(std::string path, uint64_t data_size)
      : path_(std::move(path)), data_size_(data_size) {}

  Entry read(const std::string& name, const Header& value) const {
    check(value.is_object() && value.size() == 3 && value.contains("dtype") &&
              value.contains("shape") && value.contains("data_offsets") &&
              value["dtype"].is_string(),
          "tensor '", name, "' must have exactly dtype, shape and data_offsets");
    Entry entry{name, dtype(name, value["dtype"].get<std::string>()), {}, 0, 0};
    const uint64_t bytes = product(entry, value["shape"]);
    const Header& offsets = value["data_offsets"];
    check(offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
              offsets[1].is_number_unsigned(),
          "tensor '", name, "': data_offsets must be two whole numbers");
    entry.begin = offsets[0].get<uint64_t>(), entry.end = offsets[1].get<uint64_t>();
    check(entry.begin <= entry.end && entry.end <= data_size_, "tensor '", name,
          "': data_offsets [", entry.begin, ", ", entry.end, "] leave the data, which has ",
          data_size_, " bytes (is the file truncated?)");
    check(entry.end - entry.begin == bytes, "tensor '", name, "': shape and dtype need ", bytes,
          " bytes, data_offsets give ", entry.end - entry.begin);
    return entry;
  }

  template <class... Pieces>
  void check(bool condition, const Pieces&... pieces) const {
    if (!condition) fail(ErrorKind::BadData, path_, ": not a valid safetensors file: ", pieces...);
  }

 private:
  at::ScalarType dtype(const std::string& tensor, const std::string& name) const {
    for (const DtypeName& known : kDtypes)
      if (name == known.name) return known.type;
    fail(ErrorKind::Unsupported, path_, ": tensor '", tensor, "' has dtype ", name,
         ", which this LibTorch does not have");
  }

  uint64_t product(Entry& entry, const Header& shape) const {
    check(shape.is_array() && shape.size() <= kDimensionLimit, "tensor '", entry.name,
          "': shape must be a list of at most ", kDimensionLimit, " numbers");
    uint64_t bytes =
        c10::elementSize(entry.type);  // with every 0 taken as 1: strides must not overflow either
    bool empty = false;
    for (const Header& extent : shape) {
      check(extent.is_number_unsigned(), "tensor '", entry.name,
            "': a dimension is not a whole number");
      const uint64_t size = extent.get<uint64_t>();
      empty = empty || size == 0;
      check(!__builtin_mul_overflow(bytes, std::max<uint64_t>(size, 1), &bytes) &&
                bytes <= uint64_t(INT64_MAX),
            "tensor '", entry.name, "': the shape overflows");
      entry.shape.push_back(static_cast<int64_t>(size));
    }
    return empty ? 0 : bytes;
  }

  std::string path_;
  uint64_t data_size_;
};

uint64_t little_endian(const char* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Parses the header; a name that occurs twice is refused, since two readers could then see two
/// different files.
Header parse_header(std::string_view text, const HeaderReader& reader, const std::string& path) {
  reader.check(!text.empty() && text[0] == '{', "the header does not begin with '{'");
  JsonLimits limits;
  limits.depth = kDepthLimit;
  limits.comments = false;
  limits.one_line = true;
  return parse_sorted_json(text, path + ": the header", limits);
}

}  // namespace

uint64_t usual_memory_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) / 2
                               : UINT64_MAX;
}

namespace {

std::string header_of(const OpenFile& file, const std::string& path) {
  const HeaderReader reader(path, 0);
  reader.check(file.size >= 8, "it has ", file.size,
               " bytes, fewer than the 8 of the header length");
  char length[8];
  file.read(0, length, sizeof length);
  reader.check(std::string_view(length, sizeof length) != "version ",
               "it is a Git LFS pointer, not the file itself; fetch it with git lfs pull");
  const uint64_t size = little_endian(length);
  reader.check(size <= kHeaderLimit, "the header claims ", size, " bytes, the limit is ",
               kHeaderLimit);
  reader.check(size <= file.size - 8, "the header claims ", size, " bytes, the file has only ",
               file.size - 8, " after its first 8 (is it truncated?)");
  std::string header(size, ' ');
  file.read(8, header.data(), size);
  return header;
}

std::map<std::string, std::string> metadata_in(const Header& header, const HeaderReader& reader) {
  std::map<std::string, std::string> metadata;
  const auto found = header.find("__metadata__");
  if (found == header.end()) return metadata;
  reader.check(found->is_object(), "__metadata__ must be an object");
  for (const auto& [key, text] : found->items()) {
    reader.check(text.is_string(), "__metadata__ may hold texts only, '", key, "' is ",
                 text.type_name());
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

}  // namespace

std::map<std::string, std::string> read_safetensors_metadata(const std::filesystem::path& path) {
  const OpenFile file(path);
  const std::string text = header_of(file, path.string());
  const HeaderReader reader(path.string(), file.size - 8 - text.size());
  return metadata_in(parse_header(text, reader, path.string()), reader);
}

namespace {

/// hold(file, data_begin) gives what keeps the bytes of the data, which lie at its `bytes`.
template <class Hold>
SafetensorsFile read_tensors(const std::filesystem::path& path, Hold hold) {
  const OpenFile file(path);
  const std::string text = header_of(file, path.string());
  const uint64_t data_begin = 8 + text.size();
  const HeaderReader reader(path.string(), file.size - data_begin);
  const Header header = parse_header(text, reader, path.string());
  SafetensorsFile result;
  result.metadata = metadata_in(header, reader);
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items())
    if (name != "__metadata__") entries.push_back(reader.read(name, value));
  // No holes and no overlaps: every byte belongs to exactly one tensor.
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t next = 0;
  for (const Entry& entry : entries) {
    reader.check(entry.begin == next, "tensor '", entry.name, "' begins at byte ", entry.begin,
                 ", expected ", next, " (holes and overlaps are not allowed)");
    next = entry.end;
  }
  reader.check(next == file.size - data_begin, "bytes are left over after the last tensor");

  const auto copy = hold(file, data_begin);
  for (const Entry& entry : entries) {
    char* data = copy->bytes + entry.begin;
    const uint64_t size = entry.end - entry.begin;
    reader.check(entry.type != at::kBool ||
                     std::all_of(data, data + size, [](char b) { return b == 0 || b == 1; }),
                 "tensor '", entry.name, "': a BOOL byte is neither 0 nor 1");
    const auto options = torch::TensorOptions().dtype(entry.type);
    const bool aligned = reinterpret_cast<uintptr_t>(data) % c10::elementSize(entry.type) == 0;
    at::Tensor tensor = size == 0 ? torch::empty(entry.shape, options) : at::Tensor();
    if (!tensor.defined() && aligned)
      tensor = torch::from_blob(
          data, entry.shape, [copy](void*) {}, options);
    if (!tensor.defined()) {  // a foreign writer may have put narrow tensors before wide ones
      tensor = torch::empty(entry.shape, options);
      std::memcpy(tensor.data_ptr(), data, size);
    }
    result.tensors[entry.name] = tensor;
  }
  return result;
}

}  // namespace

SafetensorsFile read_safetensors(const std::filesystem::path& path, uint64_t memory_limit) {
  return read_tensors(path, [&](const OpenFile& file, uint64_t begin) {
    return std::make_shared<FileCopy>(path, file, begin, memory_limit);
  });
}

SafetensorsFile map_safetensors(const std::filesystem::path& path) {
  return read_tensors(path, [&](const OpenFile& file, uint64_t begin) {
    return std::make_shared<FileMap>(path, file, begin);
  });
}

void forget_pages(const at::Tensor& view) {
  if (!view.is_cpu() || view.numel() == 0) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(view.data_ptr()),
             end = begin + static_cast<uintptr_t>(view.nbytes());
  const std::lock_guard lock(mapped_mutex());
  const auto after = mapped_ranges().upper_bound(begin);
  if (!view.is_contiguous() || after == mapped_ranges().begin()) return;
  const auto& [first, size] = *std::prev(after);
  if (end > first + size) return;                            // not of a mapped file
  const uintptr_t whole = (begin + page - 1) / page * page;  // pages that are its own
  if (whole < end / page * page)
    ::madvise(reinterpret_cast<void*>(whole), end / page * page - whole, MADV_DONTNEED);
}

namespace {

void require_utf8(const std::string& text) {
  require(valid_utf8_prefix(text) == text.size(), ErrorKind::InvalidArgument,
          "names and metadata of a safetensors file must be UTF-8, found byte ",
          valid_utf8_prefix(text), " of '", text.substr(0, valid_utf8_prefix(text)),
          "…' that is not");
}

/// On the CPU, row-major, nothing lazy left. PyTorch keeps conjugation and negation of complex
/// views as a flag beside the data.
at::Tensor plain(const std::string& name, const at::Tensor& tensor) {
  require(name != "__metadata__", ErrorKind::InvalidArgument,
          "a tensor cannot be called __metadata__");
  require_utf8(name);
  require(tensor.defined(), ErrorKind::InvalidArgument, "tensor '", name, "' is undefined");
  require(tensor.layout() == at::kStrided, ErrorKind::Unsupported, "tensor '", name,
          "': only dense tensors can be written");
  return tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
}

}  // namespace

void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, at::Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<std::pair<std::string, at::Tensor>> ordered;
  for (const auto& [name, tensor] : tensors) ordered.emplace_back(name, plain(name, tensor));
  for (const auto& [key, text] : metadata) require_utf8(key), require_utf8(text);
  // Widest elements first, so that every tensor is aligned without holes.
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return a.second.element_size() > b.second.element_size();
  });
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : ordered) {
    const auto* known =
        std::find_if(std::begin(kDtypes), std::end(kDtypes),
                     [&](const DtypeName& d) { return d.type == tensor.scalar_type(); });
    require(known != std::end(kDtypes), ErrorKind::Unsupported, "tensor '", name,
            "': safetensors has no dtype for ", tensor.scalar_type());
    const uint64_t end = offset + static_cast<uint64_t>(tensor.numel()) *
                                      static_cast<uint64_t>(tensor.element_size());
    header[name] = {
        {"dtype", known->name}, {"shape", tensor.sizes().vec()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begins aligned
  require(text.size() <= kHeaderLimit, ErrorKind::InvalidArgument, path.string(),
          ": the header would take ", text.size(), " bytes, the limit of safetensors is ",
          kHeaderLimit);
  char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  AtomicFile file(path);
  file.write(length, sizeof length);
  file.write(text);
  for (const auto& [name, tensor] : ordered)
    file.write(tensor.data_ptr(), static_cast<size_t>(tensor.numel() * tensor.element_size()));
  file.commit();
}

}  // namespace fovea

#include "fovea/data/traces/store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fovea/base/error.h"

namespace fovea {

ScratchFile::ScratchFile(const std::filesystem::path& folder)
    : folder_(folder.empty() ? std::filesystem::temp_directory_path() : folder) {
  std::string name = (folder_ / "fovea-trace-XXXXXX").string();
  descriptor_ = ::mkstemp(name.data());
  require(descriptor_ >= 0, ErrorKind::Io, folder_.string(),
          ": no file can be made there: ", std::strerror(errno),
          "; set data.scratch to a folder that can be written");
  ::unlink(name.c_str());
}

ScratchFile::~ScratchFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
  ::close(descriptor_);
}

void ScratchFile::write(const void* bytes, size_t size) {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, from, size);
    if (written < 0 && errno == EINTR) continue;
    require(written > 0, ErrorKind::Io, folder_.string(), ": after ", format_count(int64_t(size_)),
            " bytes of the trace: ", std::strerror(errno),
            "; set data.scratch to a folder with more room");
    from += written;
    size -= size_t(written);
    size_ += size_t(written);
  }
}

void ScratchFile::map() {
  if (size_ == 0 || data_ != nullptr) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
  require(data != MAP_FAILED, ErrorKind::Io, folder_.string(), ": the trace of ",
          format_count(int64_t(size_)), " bytes cannot be mapped: ", std::strerror(errno));
  data_ = data;
}

}  // namespace fovea

#include "fovea/data/formats/line_stream.h"

#ifdef FOVEA_WITH_ZLIB
#include <zlib.h>
#else
#include <cstdio>
#endif

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/formats/text_encoding.h"

namespace fovea {

namespace {

constexpr unsigned kPiece = 1u << 18;  // bytes read at once

}  // namespace

#ifdef FOVEA_WITH_ZLIB

struct LineStream::File {
  explicit File(const std::string& path) : stream(gzopen(path.c_str(), "rb")) {}
  ~File() {
    if (stream != nullptr) gzclose(stream);
  }
  bool is_open() const { return stream != nullptr; }
  int64_t read(char* into, unsigned size) { return gzread(stream, into, size); }
  /// What is wrong, or "".
  std::string problem() {
    int code = Z_OK;
    const char* text = gzerror(stream, &code);
    if (code == Z_BUF_ERROR) return "it ends too early; was the copy cut short?";
    return code == Z_OK || code == Z_STREAM_END ? "" : text;
  }
  gzFile stream;  // plain files are read as they are
};

#else

struct LineStream::File {
  explicit File(const std::string& path) : stream(std::fopen(path.c_str(), "rb")) {}
  ~File() {
    if (stream != nullptr) std::fclose(stream);
  }
  bool is_open() const { return stream != nullptr; }
  int64_t read(char* into, unsigned size) {
    return static_cast<int64_t>(std::fread(into, 1, size, stream));
  }
  std::string problem() { return std::ferror(stream) ? "it cannot be read" : ""; }
  std::FILE* stream;
};

#endif

LineStream::LineStream(const std::filesystem::path& path) : path_(path.string()) {
  require(std::filesystem::exists(path), ErrorKind::NotFound, path_, ": no such file");
  require(!std::filesystem::is_directory(path), ErrorKind::Io, path_, ": is a folder, not a file");
#ifndef FOVEA_WITH_ZLIB
  require(path.extension() != ".gz", ErrorKind::Unsupported, path_,
          ": this build has no zlib; unpack the file first");
#endif
  file_ = std::make_unique<File>(path_);
  require(file_->is_open(), ErrorKind::Io, path_, ": cannot be opened");
}

LineStream::~LineStream() = default;

bool LineStream::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t had = buffer_.size();
  buffer_.resize(had + kPiece);
  const int64_t read = file_->read(buffer_.data() + had, kPiece);
  buffer_.resize(had + static_cast<size_t>(std::max<int64_t>(read, 0)));
  if (read > 0 && number_ == 0) refuse_foreign(buffer_, path_);
  if (read > 0) return true;
  const std::string problem = file_->problem();
  require(problem.empty(), ErrorKind::BadData, place(), ": damaged after this line: ", problem);
  return false;
}

bool LineStream::next(std::string_view& line) {
  size_t end = buffer_.find('\n', at_);
  while (end == std::string::npos) {
    const size_t looked = buffer_.size() - at_;
    if (!fill()) break;
    require(looked <= kLongestLine, ErrorKind::BadData, path_, ":", number_ + 1,
            ": a line of more than ", format_count(int64_t(kLongestLine)), " bytes");
    end = buffer_.find('\n', at_ + looked);
  }
  has_end_ = end != std::string::npos;
  if (!has_end_) {
    if (at_ == buffer_.size()) return false;
    end = buffer_.size();
  }
  line = std::string_view(buffer_).substr(at_, end - at_);
  at_ = std::min(end + 1, buffer_.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  require(line.size() <= kLongestLine, ErrorKind::BadData, path_, ":", number_ + 1,
          ": a line of more than ", format_count(int64_t(kLongestLine)), " bytes");
  ++number_;
  return true;
}

std::string LineStream::place() const {
  return concat(path_, ":", number_);
}

}  // namespace fovea

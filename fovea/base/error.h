// Every failure a user can meet is one Error: a kind, for exit codes and HTTP statuses, and a
// message that says what was found, what was expected, where, and what to try. The library throws;
// it never prints and never aborts.
#pragma once

#include <stdexcept>
#include <string>

#include "fovea/base/text.h"

namespace fovea {

enum class ErrorKind {
  InvalidArgument,  // an option or argument that can never work
  BadData,          // a file's content is not what its format demands
  NotFound,         // a file, run, task or name does not exist
  Io,               // the operating system refused to read or write
  Unsupported,      // valid, but this build or version cannot do it
  Internal,         // our own mistake
};

/// The kind as it appears in JSON answers, for example "bad_data".
const char* name_of(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Throws an Error whose message is the concatenation of the pieces.
template <class... Pieces>
[[noreturn]] void fail(ErrorKind kind, const Pieces&... pieces) {
  throw Error(kind, concat(pieces...));
}

/// Throws unless `condition` holds.
template <class... Pieces>
void require(bool condition, ErrorKind kind, const Pieces&... pieces) {
  if (!condition) [[unlikely]]
    fail(kind, pieces...);
}

}  // namespace fovea

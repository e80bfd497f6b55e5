#include "fovea/base/error.h"

namespace fovea {

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::InvalidArgument:
      return "invalid_argument";
    case ErrorKind::BadData:
      return "bad_data";
    case ErrorKind::NotFound:
      return "not_found";
    case ErrorKind::Io:
      return "io";
    case ErrorKind::Unsupported:
      return "unsupported";
    case ErrorKind::Internal:
      return "internal";
  }
  return "internal";
}

}  // namespace fovea

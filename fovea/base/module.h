// A part of the library that lies in a shared library of its own, because what it links with must
// not meet LibTorch in one program (two protobufs would call each other's functions). It is opened
// when it is first asked for, such that it sees its own symbols first. Everything passes one
// exported function, the entry point, which gives the module's interface.
#pragma once

#include <string>

#include "fovea/base/error.h"

namespace fovea {

/// What was found in a shared library.
struct OpenedModule {
  void* function = nullptr;  // null where no library has it
  std::string reasons;       // why not, each after a "; "
};

/// Tries the libraries at `places` (paths with colons between them; empty: this build has none). A
/// path with a slash that does not begin with one is meant from the folder of the program, or of
/// the library that holds this code, so that an install may be moved. A file of the same name in
/// the folder that the environment's FOVEA_MODULES names comes first.
OpenedModule open_module(const std::string& places, const char* name);

template <class Interface>
class Module {
 public:
  /// `missing` says what this build cannot do without the module, and what to install.
  Module(const char* places, const char* entry_point, std::string missing)
      : missing_(std::move(missing)) {
    const OpenedModule opened = open_module(places, entry_point);
    if (opened.function != nullptr)
      interface_ = reinterpret_cast<const Interface* (*)()>(opened.function)();
    else
      missing_ += opened.reasons;
  }

  bool is_there() const { return interface_ != nullptr; }
  /// Unsupported where it is not there.
  const Interface& get() const {
    require(is_there(), ErrorKind::Unsupported, missing_);
    return *interface_;
  }

 private:
  const Interface* interface_ = nullptr;
  std::string missing_;
};

}  // namespace fovea

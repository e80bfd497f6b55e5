#include "fovea/core/module.h"

#include <dlfcn.h>

#include "fovea/core/text.h"

namespace fovea {

OpenedDoor open_door(const std::string& places, const char* name) {
  OpenedDoor result;
  for (const std::string& place : split(places, ':')) {
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void* function = library == nullptr ? nullptr : dlsym(library, name);
    if (function != nullptr) return {function, ""};
    result.reasons += concat("; ", dlerror());
  }
  return result;
}

}  // namespace fovea

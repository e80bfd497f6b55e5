// Files that somebody else made: safetensors when the ninth byte begins a JSON object, else an
// explanation. Only an Error may come out of it; what is read is used.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "fovea/base/error.h"
#include "fovea/explain/record/json.h"
#include "fovea/tensor/safetensors.h"

namespace {

using namespace fovea;

/// Every byte of every tensor is touched.
uint64_t sum_of(const SafetensorsFile& file) {
  uint64_t sum = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const auto* bytes = static_cast<const uint8_t*>(tensor.data_ptr());
    for (size_t i = 0; i < tensor.nbytes(); ++i) sum += bytes[i];
  }
  return sum;
}

uint64_t read_tensors(const uint8_t* bytes, size_t size) {
  const int descriptor = ::memfd_create("fuzz", 0);
  [[maybe_unused]] const ssize_t written = ::write(descriptor, bytes, size);
  uint64_t sum = 0;
  try {
    sum = sum_of(read_safetensors("/proc/self/fd/" + std::to_string(descriptor)));
  } catch (const Error&) {
  }
  ::close(descriptor);
  return sum;
}

void read_explanation_text(const std::string& text) {
  try {
    const Explanation explanation = explanation_from_json(parse_json(text, "fuzz"), "fuzz");
    explanation_to_json(explanation);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size > 8 && bytes[8] == '{')
    read_tensors(bytes, size);
  else
    read_explanation_text({reinterpret_cast<const char*>(bytes), size});
  return 0;
}

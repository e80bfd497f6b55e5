#include "fovea/tensor/device_stream.h"

#include "fovea/base/error.h"

#ifdef FOVEA_WITH_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

namespace fovea {

void* current_device_stream() {
#ifdef FOVEA_WITH_CUDA
  return c10::cuda::getCurrentCUDAStream().stream();
#else
  fail(ErrorKind::Unsupported, "this build has no CUDA");
#endif
}

}  // namespace fovea

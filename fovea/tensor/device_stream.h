// Where kernels of ours are launched on a GPU, so that they come after what LibTorch launched
// before.
#pragma once

namespace fovea {

/// This thread's stream, a cudaStream_t. Unsupported in builds without CUDA.
void* current_device_stream();

}  // namespace fovea

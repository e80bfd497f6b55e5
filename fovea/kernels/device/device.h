// Whether this build has the kernels of this folder: they are compiled where LibTorch is one for
// GPUs and nvcc is found.
#pragma once

namespace fovea::kernels::device {

bool exists();

}  // namespace fovea::kernels::device

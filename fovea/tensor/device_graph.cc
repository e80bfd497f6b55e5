#include "fovea/tensor/device_graph.h"

#include "fovea/base/error.h"

#ifdef FOVEA_WITH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace fovea {

#ifdef FOVEA_WITH_CUDA

struct DeviceGraph::State {
  at::cuda::CUDAGraph graph;
};

bool DeviceGraph::exists() {
  return true;
}

void DeviceGraph::record(const std::function<void()>& work, DeviceGraph* sibling) {
  state_ = std::make_unique<State>();
  const auto pool = sibling ? sibling->state_->graph.pool() : at::cuda::graph_pool_handle();
  c10::cuda::device_synchronize();  // what is still under way belongs to no recording
  const c10::cuda::CUDAStreamGuard elsewhere(c10::cuda::getStreamFromPool());
  state_->graph.capture_begin(pool);
  try {
    work();
  } catch (const std::exception& problem) {
    try {
      state_->graph.capture_end();
    } catch (const std::exception&) {  // says that the recording is broken, which is known
    }
    fail(ErrorKind::Unsupported, "this step cannot be recorded; use training.path=autograd (",
         problem.what(), ")");
  }
  state_->graph.capture_end();
}

void DeviceGraph::replay() {
  state_->graph.replay();
}

#else

struct DeviceGraph::State {};

bool DeviceGraph::exists() {
  return false;
}

void DeviceGraph::record(const std::function<void()>&, DeviceGraph*) {
  fail(ErrorKind::Unsupported, "this build has no CUDA");
}

void DeviceGraph::replay() {
  fail(ErrorKind::Unsupported, "this build has no CUDA");
}

#endif

DeviceGraph::DeviceGraph() = default;
DeviceGraph::~DeviceGraph() = default;

}  // namespace fovea

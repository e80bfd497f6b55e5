// What a GPU is told to do, recorded once and repeated by a single launch (a CUDA graph): networks
// of many small steps spend their time on launches otherwise. Builds without CUDA have none.
#pragma once

#include <functional>
#include <memory>

namespace fovea {

class DeviceGraph {
 public:
  DeviceGraph();
  ~DeviceGraph();

  /// Whether this build can record.
  static bool exists();

  /// Records what `work` launches on the GPU; nothing is computed yet. With `sibling`, a recorded
  /// graph, both share their memory: what one leaves must be used before the other is replayed.
  /// Unsupported where `work` waits for the GPU.
  void record(const std::function<void()>& work, DeviceGraph* sibling = nullptr);

  /// Does it once more, on the current stream, with what the same tensors hold now.
  void replay();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fovea

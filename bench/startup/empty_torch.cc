// The least that a LibTorch program can do: what `fovea predict` is held against.
#include <torch/torch.h>

#include <cstdio>

int main() {
  std::printf("%g\n", torch::ones({2, 2}).sum().item<double>());
}

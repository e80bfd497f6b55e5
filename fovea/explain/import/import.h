// Attention that other programs computed, as an Explanation: the weights that PyTorch or Hugging
// Face models return, saved as JSON, safetensors or NumPy arrays, with labels beside them. Each
// head of each layer becomes one map. docs/formats/weights.md says which shapes, names and labels
// are understood and how to save them.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fovea/explain/import/labels.h"
#include "fovea/explain/record/explanation.h"

namespace fovea {

struct ImportOptions {
  std::string title = "";  // the file's name by default
  int64_t batch = 0;       // which row of a batch, from 0
  /// What the dimensions of the tensors are, in their order: of layers, batch, heads, queries and
  /// keys. For tensors of so many dimensions; by default as they are usually saved.
  std::vector<std::string> dimensions = {};
  std::vector<std::string> tensors = {};         // names of tensors or families; all by default
  std::vector<int64_t> layers = {}, heads = {};  // from 1; all by default
};

/// Tensors with their labels, where those lie in the same file.
struct ImportedWeights {
  std::map<std::string, at::Tensor> tensors;
  ImportedLabels labels = {};
};

/// BadData, naming the tensor and its shape, for tensors that cannot be attention;
/// InvalidArgument for options and labels that do not fit them, and for tensors that can be read in
/// several ways.
Explanation import_weights(const std::map<std::string, at::Tensor>& tensors,
                           const ImportedLabels& labels, const ImportOptions& options = {});

/// Reads .npz and .npy files: fovea/data has such a reader, which explain/ does not see.
using NpzReader = std::function<std::map<std::string, at::Tensor>(const std::filesystem::path&)>;

/// From a file .json, .safetensors, .npz or .npy; a .json may be an explanation already. `labels`
/// as in read_labels; they take the place of those in the file.
Explanation import_file(const std::filesystem::path& path, const std::string& labels,
                        const ImportOptions& options, const NpzReader& reader);

}  // namespace fovea

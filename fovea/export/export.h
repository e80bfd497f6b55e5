// A run as .onnx files that ONNX Runtime and others can load (docs/formats/onnx.md). Written with
// ONNX's own protobufs, through the entry point of onnx_module.h, and seen by its checker.
#pragma once

#include <filesystem>
#include <vector>

#include "fovea/export/exporters.h"
#include "fovea/tasks/pipeline.h"

namespace fovea {

/// The bytes of one .onnx file. Unsupported without the ONNX module; Internal when ONNX's checker
/// refuses the graph.
std::string onnx_bytes(const onnx::Graph& graph);

/// Writes `file`, which ends in .onnx; a model of several graphs becomes several files,
/// name-encoder.onnx and name-decoder.onnx. Returns what was written.
std::vector<std::filesystem::path> export_onnx(const Pipeline& run,
                                               const std::filesystem::path& file,
                                               const ExportOptions& options);

}  // namespace fovea

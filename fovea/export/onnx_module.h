// ONNX's protobufs and its checker in a shared library of its own. LibTorch brings protobuf and
// ONNX with it, in Debian the same shared libraries that we would use, in other builds copies of
// its own; linked into one program, two copies call each other's functions and end it before
// main(). So what touches ONNX is a shared library of its own, made from onnx_module.cc and opened
// at run time such that it sees its own symbols first. Only these types pass its entry point; no
// exception does.
#pragma once

#include <string>

#include "fovea/export/description.h"

namespace fovea {

class OnnxModule {
 public:
  virtual ~OnnxModule() = default;
  /// The bytes of an .onnx file, after ONNX's checker and its type and shape inference had nothing
  /// to say against it; else "", with `error` set.
  virtual std::string write(const onnx::Description& model, std::string& error) const = 0;
};

/// The one function that the shared library exports; it gives an OnnxModule.
inline constexpr const char* kOnnxDoor = "fovea_onnx_module";

}  // namespace fovea

// One ONNX model in plain types: what graph.h builds and what passes the entry point of
// onnx_module.h. Values have names; a node reads some of them and makes others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fovea::onnx {

/// The version of ONNX's operators that every graph uses, and of the file format. ONNX Runtime 1.12
/// and later read them.
inline constexpr int64_t kOperatorSet = 17, kFormatVersion = 8;

/// With ONNX's own numbers.
enum class ElementType { Float = 1, Int32 = 6, Int64 = 7, Bool = 9 };

/// A size, or the name of one that the caller decides: "batch".
using Dimension = std::variant<int64_t, std::string>;
using Shape = std::vector<Dimension>;

/// An input or output of the whole graph.
struct Port {
  std::string name;
  ElementType type = ElementType::Float;
  Shape shape;
  std::string help;  // one sentence
};

/// A tensor that the file carries.
struct StoredTensor {
  std::string name;
  ElementType type = ElementType::Float;
  std::vector<int64_t> shape;
  std::string_view bytes;  // little endian; belongs to whoever made the description
};

struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>> value;
};

struct Node {
  std::string operation, name;
  std::vector<std::string> inputs;  // "": an optional one that is left out
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
};

struct Description {
  std::string name, help;
  std::string producer, producer_version;
  std::vector<Port> inputs, outputs;
  std::vector<StoredTensor> tensors;
  std::vector<Node> nodes;  // each after those it reads from
  std::map<std::string, std::string> notes;
};

}  // namespace fovea::onnx

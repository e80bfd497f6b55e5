// A second, deliberately simple reader of the safetensors format for the tests: it knows nothing of
// LibTorch and shares no code with the library. It throws std::runtime_error at the first byte that
// it does not expect.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace fovea {

struct RawTensor {
  std::string dtype;
  std::vector<uint64_t> shape, offsets;
};

struct RawSafetensors {
  uint64_t header_size = 0;
  std::vector<std::string> order;  // of the tensors in the header
  std::map<std::string, RawTensor> tensors;
  std::map<std::string, std::string> metadata;
  std::string data;

  std::string bytes_of(const std::string& name) const {
    const auto& offsets = tensors.at(name).offsets;
    return data.substr(offsets.at(0), offsets.at(1) - offsets.at(0));
  }
};

class RawHeaderParser {
 public:
  explicit RawHeaderParser(const std::string& text) : text_(text) {}

  void parse(RawSafetensors& file) {
    object([&](const std::string& name) {
      if (name == "__metadata__")
        return object([&](const std::string& key) { file.metadata[key] = string(); });
      file.order.push_back(name);
      RawTensor& tensor = file.tensors[name];
      object([&](const std::string& key) {
        if (key == "dtype")
          tensor.dtype = string();
        else if (key == "shape")
          tensor.shape = numbers();
        else if (key == "data_offsets")
          tensor.offsets = numbers();
        else
          throw std::runtime_error("unknown key " + key);
      });
    });
    while (at_ < text_.size()) expect(' ');
  }

 private:
  char next() { return text_.at(at_++); }
  void expect(char wanted) {
    if (next() != wanted)
      throw std::runtime_error("expected " + std::string(1, wanted) + " before byte " +
                               std::to_string(at_));
  }
  bool accept(char wanted) { return at_ < text_.size() && text_[at_] == wanted && ++at_ > 0; }

  template <class Member>
  void object(Member member) {
    expect('{');
    if (accept('}')) return;
    do {
      const std::string key = string();
      expect(':');
      member(key);
    } while (accept(','));
    expect('}');
  }

  std::vector<uint64_t> numbers() {
    std::vector<uint64_t> list;
    expect('[');
    if (accept(']')) return list;
    do {
      size_t used = 0;
      list.push_back(std::stoull(text_.substr(at_), &used));
      at_ += used;
    } while (accept(','));
    expect(']');
    return list;
  }

  std::string string() {
    std::string value;
    expect('"');
    for (char c = next(); c != '"'; c = next()) {
      if (c == '\\') {
        c = next();
        if (c == 'n')
          c = '\n';
        else if (c != '"' && c != '\\')
          throw std::runtime_error("unexpected escape");
      }
      value += c;
    }
    return value;
  }

  const std::string& text_;
  size_t at_ = 0;
};

inline RawSafetensors parse_raw_safetensors(const std::string& bytes) {
  RawSafetensors file;
  for (int i = 7; i >= 0; --i)
    file.header_size =
        file.header_size * 256 + static_cast<unsigned char>(bytes.at(static_cast<size_t>(i)));
  const std::string header = bytes.substr(8, file.header_size);
  file.data = bytes.substr(8 + file.header_size);
  RawHeaderParser(header).parse(file);
  return file;
}

/// A file from its header and data.
inline std::string make_raw_safetensors(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

}  // namespace fovea

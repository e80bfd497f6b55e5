#include "fovea/data/formats/npy.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeaderLimit = 1 << 16;
constexpr size_t kDimensionLimit = 64;

struct DtypeName {
  std::string_view name;
  at::ScalarType type;
};

constexpr DtypeName kDtypes[] = {{"f2", at::kHalf}, {"f4", at::kFloat}, {"f8", at::kDouble},
                                 {"i1", at::kChar}, {"i2", at::kShort}, {"i4", at::kInt},
                                 {"i8", at::kLong}, {"u1", at::kByte},  {"b1", at::kBool}};

struct Header {
  std::optional<std::string> dtype;
  std::optional<bool> columns_first;  // 'fortran_order'
  std::optional<std::vector<int64_t>> shape;
};

/// Reads the one dictionary literal that a header may be. A Python parser would accept more; the
/// format does not.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header read() {
    Header header;
    take('{');
    while (!next_is('}')) {
      const std::string key = quoted();
      take(':');
      if (key == "descr" && !header.dtype)
        header.dtype = dtype();
      else if (key == "fortran_order" && !header.columns_first)
        header.columns_first = boolean();
      else if (key == "shape" && !header.shape)
        header.shape = tuple();
      else
        refuse(concat("'", key, "' where descr, fortran_order or shape is expected, each once"));
      if (!next_is('}')) take(',');
    }
    take('}');
    skip_blanks();
    if (at_ != text_.size()) refuse("text after its dictionary");
    if (!header.dtype || !header.columns_first || !header.shape)
      refuse("a dictionary without descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& found) const {
    fail(ErrorKind::BadData, where_, ": not a valid .npy header: found ", found, " at character ",
         at_, " of ", text_.size());
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool next_is(char c) {
    skip_blanks();
    if (at_ == text_.size()) refuse("its end");
    return text_[at_] == c;
  }
  void take(char c) {
    if (!next_is(c)) refuse(concat("no '", c, "'"));
    ++at_;
  }
  std::string quoted() {
    const char quote = next_is('"') ? '"' : '\'';
    take(quote);
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) refuse("a text that does not end");
    const std::string text(text_.substr(at_, end - at_));
    at_ = end + 1;
    return text;
  }
  std::string dtype() {
    require(!next_is('['), ErrorKind::Unsupported, where_,
            ": its elements have named fields; save each field as an array of its own");
    return quoted();
  }
  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true},
                                      std::pair<std::string_view, bool>{"False", false}})
      if (text_.substr(at_).starts_with(word)) return at_ += word.size(), value;
    refuse("neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    take('(');
    while (!next_is(')')) {
      const size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
      int64_t value = 0;
      if (!parse_integer(text_.substr(at_, end - at_), value)) refuse("no size of a dimension");
      values.push_back(value);
      at_ = end;
      if (!next_is(')')) take(',');
    }
    take(')');
    return values;
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
};

/// Why numbers of that dtype are not for us, and what to do.
std::string advice_on(char letter) {
  switch (letter) {
    case 'O':
      return "Python objects, which only running their code (pickle) could read. Lists of "
             "different "
             "lengths become such objects: save each as an array of its own";
    case 'U':
    case 'S':
      return "texts; labels belong in a file of their own";
    case 'V':
      return "raw bytes (bfloat16 is saved like this); convert it with .astype('float32')";
    case 'u':
      return "unsigned numbers that tensors do not have; convert it with .astype('int64')";
    default:
      return "no numbers that a tensor of weights can have; convert it with .astype('float32')";
  }
}

struct Dtype {
  at::ScalarType type;
  bool swapped;  // big-endian
};

Dtype dtype_of(const std::string& text, const std::string& where) {
  const bool ordered = !text.empty() && std::string_view("<>|").find(text[0]) < 3;
  const std::string_view name = std::string_view(text).substr(ordered ? 1 : 0);
  for (const DtypeName& known : kDtypes)
    if (ordered && name == known.name && (text[0] != '|' || c10::elementSize(known.type) == 1))
      return {known.type, text[0] == '>'};
  fail(ErrorKind::Unsupported, where, ": has dtype '", text,
       "': ", advice_on(name.empty() ? ' ' : name[0]));
}

/// The number of elements, refused when it is large even with every 0 taken as 1: strides must not
/// overflow either.
int64_t elements_of(const std::vector<int64_t>& shape, const std::string& where) {
  require(shape.size() <= kDimensionLimit, ErrorKind::BadData, where, ": has ", shape.size(),
          " dimensions, at most ", kDimensionLimit, " are possible");
  int64_t extent = 1, elements = 1;
  for (const int64_t size : shape) {
    require(size <= kNumpyElementLimit / extent, ErrorKind::BadData, where,
            ": its shape has more "
            "than ",
            format_count(kNumpyElementLimit), " numbers, the limit for one file");
    extent *= std::max<int64_t>(size, 1);
    elements *= size;
  }
  return elements;
}

void swap_bytes(char* bytes, size_t count, size_t width) {
  for (size_t i = 0; i < count; ++i) std::reverse(bytes + i * width, bytes + (i + 1) * width);
}

at::Tensor tensor_of(const Header& header, std::string_view data, const std::string& where) {
  const Dtype dtype = dtype_of(*header.dtype, where);
  const int64_t elements = elements_of(*header.shape, where);
  const size_t width = c10::elementSize(dtype.type);
  const size_t needed = static_cast<size_t>(elements) * width;
  require(data.size() == needed, ErrorKind::BadData, where, ": shape and dtype need ", needed,
          " bytes, found ", data.size(), data.size() < needed ? " (is it truncated?)" : "");
  require(dtype.type != at::kBool ||
              std::all_of(data.begin(), data.end(), [](char b) { return b == 0 || b == 1; }),
          ErrorKind::BadData, where, ": a bool is neither 0 nor 1");
  std::vector<int64_t> shape = *header.shape;
  if (*header.columns_first) std::reverse(shape.begin(), shape.end());
  const at::Tensor tensor = at::empty(shape, dtype.type);
  if (needed > 0) std::memcpy(tensor.data_ptr(), data.data(), needed);
  if (dtype.swapped)
    swap_bytes(static_cast<char*>(tensor.data_ptr()), static_cast<size_t>(elements), width);
  if (!*header.columns_first) return tensor;
  std::vector<int64_t> order;
  for (int64_t i = tensor.dim(); i-- > 0;) order.push_back(i);
  return tensor.permute(order).contiguous();
}

}  // namespace

bool is_npy(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

at::Tensor parse_npy(std::string_view bytes, const std::string& where) {
  constexpr size_t kVersionEnd = kMagic.size() + 2;
  require(is_npy(bytes) && bytes.size() >= kVersionEnd, ErrorKind::BadData, where,
          ": does not begin as a .npy file does (is it empty or truncated?)");
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  const int minor = static_cast<unsigned char>(bytes[kMagic.size() + 1]);
  require(version >= 1 && version <= 3 && minor == 0, ErrorKind::Unsupported, where,
          ": has version ", version, ".", minor, " of the .npy format; 1.0, 2.0 and 3.0 are known");
  const size_t begin = kVersionEnd + (version == 1 ? 2 : 4);
  require(bytes.size() >= begin, ErrorKind::BadData, where, ": ends inside its header");
  size_t length = 0;
  for (size_t i = begin; i-- > kVersionEnd;)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  require(length <= kHeaderLimit, ErrorKind::BadData, where, ": its header claims ", length,
          " bytes, the limit is ", kHeaderLimit);
  require(length <= bytes.size() - begin, ErrorKind::BadData, where, ": its header claims ", length,
          " bytes, found ", bytes.size() - begin, " (is it truncated?)");
  const Header header = HeaderReader(bytes.substr(begin, length), where).read();
  return tensor_of(header, bytes.substr(begin + length), where);
}

}  // namespace fovea

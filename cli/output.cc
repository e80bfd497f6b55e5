#include "cli/output.h"

#include <unistd.h>

#include <iostream>

#include "fovea/base/text.h"

namespace fovea::cli {

void tell(std::string_view message) {
  std::cerr << printable(message) << "\n";
}

void put_line(std::string_view line) {
  static const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  if (is_terminal)
    std::cout << printable(line) << "\n";
  else
    std::cout << line << "\n";
}

}  // namespace fovea::cli

// Files that want to do harm: a reader refuses them with an Error that fits, without a crash and
// without a large allocation.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

struct Hostile {
  std::string what, bytes, says;
  ErrorKind kind = ErrorKind::BadData;
};

/// In a child that gets 64 MB more than this process has mapped, `read(bytes)` refuses every file.
inline void expect_refusals_need_little_memory(
    const std::vector<Hostile>& files, const std::function<void(const std::string&)>& read) {
  const pid_t child = fork();
  if (child == 0) {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const uint64_t most =
        pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (uint64_t{64} << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    int other = 0;
    for (const Hostile& file : files) try {
        read(file.bytes);
        ++other;
      } catch (const Error&) {
      } catch (...) {
        ++other;
      }
    _exit(other);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

enum class Outcome { Read, Refused, Other };

/// Reads named tensors and touches every byte of them; Refused only when the Error is one that a
/// bad file deserves.
template <class Read>
Outcome outcome_of_reading(const Read& read) try {
  uint64_t sum = 0;
  for (const auto& [name, tensor] : read()) {
    const auto* bytes = static_cast<const unsigned char*>(tensor.data_ptr());
    for (size_t i = 0; i < tensor.nbytes(); ++i) sum += bytes[i];
  }
  return sum + 1 > 0 ? Outcome::Read : Outcome::Other;
} catch (const Error& error) {
  const bool fitting = error.kind() == ErrorKind::BadData || error.kind() == ErrorKind::Unsupported;
  return fitting ? Outcome::Refused : Outcome::Other;
} catch (...) {
  return Outcome::Other;
}

}  // namespace fovea::testing

// Calls LLVMFuzzerTestOneInput with random inputs, guided by coverage. The code under test is built
// with -fsanitize-coverage=trace-pc, this file is not.
//   PROGRAM SECONDS FOLDER…   changes the files of the folders at random for so long
//   PROGRAM FILE              only this one
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr size_t kMapSize = size_t{1} << 16;
constexpr size_t kLongest = size_t{1} << 14;
constexpr unsigned kSecondsOfOne = 20;

uint8_t reached[kMapSize];  // by this input: how often each step from place to place was taken
uint8_t known[kMapSize];    // by all before: which orders of magnitude
uintptr_t last_place = 0;

std::string current;

}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  uint8_t& count = reached[(place ^ last_place) % kMapSize];
  count = static_cast<uint8_t>(count + (count < 255));
  last_place = place >> 1;
}

namespace {

void save_current() {
  const std::string name = "found-" + std::to_string(std::hash<std::string>()(current));
  std::ofstream(name, std::ios::binary) << current;
  std::fprintf(stderr, "the input is in %s\n", name.c_str());
}

void too_slow(int) {
  std::fprintf(stderr, "one input took longer than %u s\n", kSecondsOfOne);
  save_current();
  _exit(1);
}

/// Whether the input reached something new.
bool run(const std::string& input) {
  current = input;
  std::memset(reached, 0, sizeof reached);
  last_place = 0;
  ::alarm(kSecondsOfOne);
  // A copy of exactly this size, so that reading beyond its end is noticed.
  std::vector<uint8_t> exact(input.begin(), input.end());
  exact.shrink_to_fit();
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  bool is_new = false;
  for (size_t i = 0; i < kMapSize; ++i) {
    if (reached[i] == 0) continue;
    const auto magnitude = static_cast<uint8_t>(1u << std::min(7, 31 - __builtin_clz(reached[i])));
    is_new = is_new || (known[i] & magnitude) == 0;
    known[i] |= magnitude;
  }
  return is_new;
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  std::string change(const std::vector<std::string>& pool) {
    std::string input = pick(pool);
    for (size_t changes = 1 + below(6); changes > 0; --changes) change_once(input, pool);
    input.resize(std::min(input.size(), kLongest));
    return input;
  }

 private:
  size_t below(size_t count) { return count == 0 ? 0 : random_() % count; }
  const std::string& pick(const std::vector<std::string>& pool) { return pool[below(pool.size())]; }

  void change_once(std::string& input, const std::vector<std::string>& pool) {
    static const std::vector<std::string> words = {"{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ":",
                                                   ",",
                                                   "\"",
                                                   "null",
                                                   "true",
                                                   "-1",
                                                   "0",
                                                   "1e308",
                                                   "1e999",
                                                   "0.5",
                                                   "\\u0000",
                                                   "\\ud800",
                                                   "\xff",
                                                   "\xf0\x9f\x98\x80",
                                                   "\r\n",
                                                   "0\r\n\r\n",
                                                   "ffffffffffffffff",
                                                   "4294967295",
                                                   "-9223372036854775808",
                                                   "18446744073709551615",
                                                   "\"a\":",
                                                   "F32",
                                                   "I64",
                                                   "BF16"};
    const size_t at = below(input.size() + 1);
    const size_t length = below(std::min<size_t>(input.size() - at, 64) + 1);
    switch (below(9)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ 1 << below(8));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(random_());
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, input.substr(at, length));
        break;
      case 4:
        input.insert(at, pick(words));
        break;
      case 5:
        input.replace(at, length, pick(words));
        break;
      case 6: {  // a number of up to eight bytes, small, large or off by one
        uint64_t number = (uint64_t{1} << below(64)) + below(3) - 1;
        char bytes[8];
        std::memcpy(bytes, &number, 8);
        const size_t width = std::min(size_t{1} << below(4), input.size() - at);
        input.replace(at, width, bytes, width);
        break;
      }
      case 7: {
        const std::string& other = pick(pool);
        const size_t from = below(other.size() + 1);
        input.insert(at, other.substr(from, below(128)));
        break;
      }
      default: {
        const std::string& other = pick(pool);
        input = input.substr(0, at) + other.substr(std::min(at, other.size()));
      }
    }
  }

  std::mt19937_64 random_;
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> seeds_of(int count, char** folders) {
  std::vector<std::string> seeds{""};
  for (int i = 0; i < count; ++i)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folders[i]))
      if (entry.is_regular_file() && entry.file_size() <= 8 * kLongest)
        seeds.push_back(content_of(entry.path()));
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGALRM, too_slow);
  __sanitizer_set_death_callback(save_current);
  if (argc == 2) return run(content_of(argv[1])), 0;
  if (argc < 3) return std::fprintf(stderr, "usage: %s SECONDS FOLDER… | FILE\n", argv[0]), 2;
  std::vector<std::string> pool = seeds_of(argc - 2, argv + 2);
  const size_t seeds = pool.size();
  for (const std::string& seed : pool) run(seed);
  const auto begin = std::chrono::steady_clock::now();
  const auto until = begin + std::chrono::seconds(std::atoi(argv[1]));
  Mutator mutator(std::random_device{}());
  uint64_t executions = 0;
  for (; std::chrono::steady_clock::now() < until; ++executions) {
    const std::string input = mutator.change(pool);
    if (run(input)) pool.push_back(input);
  }
  const auto places =
      std::count_if(known, known + kMapSize, [](uint8_t seen) { return seen != 0; });
  std::printf("%llu inputs, %zu seeds, %zu more that reached something new, %ld steps of code\n",
              static_cast<unsigned long long>(executions), seeds, pool.size() - seeds,
              static_cast<long>(places));
  return 0;
}

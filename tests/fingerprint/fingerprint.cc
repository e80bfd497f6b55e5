// Trains every row of cases.txt with the program's own commands, and prints for each a hash of its
// weights, of its metrics and of one explanation: what a change that is meant to change nothing
// must leave alone. usage: fovea_fingerprint CASES [--expect FILE] [--quick] [--only NAME]
//
// Names are not part of a hash (weights and metrics may be renamed); shapes, values and labels are.
// Bits depend on the instruction set, so ./dev fingerprint and ctest ask every library for AVX2.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/record/json.h"
#include "fovea/kernels/instruction_set.h"
#include "fovea/tensor/safetensors.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;  // ctest calls that skipped

struct Case {
  std::string name, task;
  std::vector<std::string> options;
};

std::vector<Case> read_cases(const fs::path& path) {
  std::vector<Case> cases;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Case row;
    words >> row.name >> row.task;
    for (std::string option; words >> option;) row.options.push_back(option);
    cases.push_back(std::move(row));
  }
  return cases;
}

/// The hash of lines in any order.
std::string hash_of_lines(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  ContentHash hash;
  for (const std::string& line : lines) hash.add(line + "\n");
  return hash.text().substr(std::strlen("fnv1a64:"));
}

std::string weights_hash(const fs::path& run) {
  std::vector<std::string> lines;
  for (const auto& [name, tensor] : read_safetensors(run / "model.safetensors").tensors) {
    const at::Tensor whole = tensor.contiguous();
    ContentHash hash;
    hash.add(concat(whole.sizes(), whole.scalar_type()));
    hash.add(whole.data_ptr(), static_cast<size_t>(whole.nbytes()));
    lines.push_back(hash.text());
  }
  return hash_of_lines(std::move(lines));
}

/// The numbers of a value but for times.
void add_numbers(const std::string& place, const Json& value, std::vector<std::string>& lines) {
  if (value.is_number()) lines.push_back(place + " " + value.dump());
  if (value.is_object())
    for (const auto& [key, member] : value.items())
      if (key != "seconds") add_numbers(place, member, lines);
}

std::string metrics_hash(const fs::path& run) {
  std::vector<std::string> lines;
  std::istringstream file(read_file(run / "metrics.jsonl"));
  int64_t epoch = 0;
  for (std::string line; std::getline(file, line);)
    add_numbers(std::to_string(++epoch), parse_json(line, "metrics.jsonl"), lines);
  return hash_of_lines(std::move(lines));
}

/// Of the run's first example: what was predicted, and the labels and weights of every map.
std::string explanation_hash(const fs::path& run, const fs::path& file) {
  const Json inputs = read_json_file(run / "assets" / "examples.json");
  if (inputs.empty()) return "none";
  const std::string input = inputs[0].is_string() ? inputs[0].get<std::string>() : inputs[0].dump();
  const testing::Outcome predicted = testing::fovea({"predict", run.string(), input});
  require(predicted.status == 0, ErrorKind::Internal, predicted.err);
  const testing::Outcome explained =
      testing::fovea({"explain", run.string(), input, "--out", file.string()});
  if (explained.status != 0) return "none";  // a model without attention
  std::vector<std::string> lines{predicted.out};
  for (const MapView& map : read_explanation(file).maps) {
    ContentHash hash;
    hash.add(
        concat(join(map.query_labels), "|", join(map.key_labels), "|", map.layer, " ", map.head));
    hash.add(map.weights.data(), map.weights.size() * sizeof(double));
    lines.push_back(hash.text());
  }
  return hash_of_lines(std::move(lines));
}

std::string fingerprint(const Case& row, int64_t threads, const fs::path& folder) {
  const fs::path run = folder / "run";
  fs::remove_all(run);
  std::vector<std::string> arguments{
      "train", row.task, "--quiet", "--out", run.string(), "--threads", std::to_string(threads)};
  for (const std::string& option : row.options)
    arguments.insert(arguments.end(), {"--set", option});
  const testing::Outcome trained = testing::fovea(arguments);
  require(trained.status == 0, ErrorKind::Internal, row.name, ": ", trained.err);
  return concat("weights ", weights_hash(run), "  metrics ", metrics_hash(run), "  explanation ",
                explanation_hash(run, folder / "explanation.json"));
}

std::map<std::string, std::string> read_expected(const fs::path& path) {
  std::map<std::string, std::string> expected;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);)
    if (const size_t blank = line.find(' '); blank != std::string::npos)
      expected[line.substr(0, blank)] = line.substr(line.find_first_not_of(' ', blank));
  return expected;
}

int run(const std::vector<std::string>& arguments) {
  if (kernels::instruction_set() != kernels::InstructionSet::Avx2) {
    std::cerr << "fingerprints are compared with AVX2, which this machine or environment lacks\n";
    return kSkipped;
  }
  std::map<std::string, std::string> expected;
  std::string only;
  bool quick = false;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--expect") expected = read_expected(arguments.at(++i));
    if (arguments[i] == "--only") only = arguments.at(++i);
    if (arguments[i] == "--quick") quick = true;
  }
  const testing::TemporaryFolder folder;
  int different = 0, compared = 0;
  for (const Case& row : read_cases(arguments.at(0))) {
    if (!only.empty() && row.name != only) continue;
    const std::string now = fingerprint(row, 2, folder.path());
    std::cout << row.name << "  " << now << std::endl;
    if (!quick && fingerprint(row, 1, folder.path()) != now)
      ++different, std::cerr << row.name << ": other bits with one thread than with two\n";
    if (expected.empty()) continue;
    ++compared;
    if (const std::string& was = expected[row.name]; was != now)
      ++different, std::cerr << row.name << ": was  "
                             << (was.empty() ? "not there; --write --only NAME adds it" : was)
                             << "\n";
  }
  if (!expected.empty())
    std::cerr << compared - different << " of " << compared << " fingerprints are as expected\n";
  return different > 0 ? 1 : 0;
}

}  // namespace
}  // namespace fovea

int main(int count, char** arguments) {
  try {
    return fovea::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

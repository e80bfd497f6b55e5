#include <iostream>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/prepared.h"

namespace fovea::cli {

namespace {

namespace fs = std::filesystem;

/// Whether `out` is `input`, or one of the files in it.
bool is_part_of(const fs::path& out, const fs::path& input) {
  std::error_code none;
  if (input.empty() || !fs::exists(out, none) || !fs::exists(input, none)) return false;
  if (fs::equivalent(out, input, none)) return true;
  if (!fs::is_directory(input, none)) return false;
  const fs::path folder = fs::canonical(input, none);
  const fs::path inside = fs::canonical(out, none).lexically_relative(folder);
  return !inside.empty() && *inside.begin() != "..";
}

/// Before anything is read: what stands there is replaced only if it is a prepared file, or if the
/// user says so, and never if it is what is to be read.
void check_out(const fs::path& out, const DataSource& source, const fs::path& config,
               bool overwrite) {
  for (const fs::path& input : {source.path, source.target_path, config})
    require(!is_part_of(out, input), ErrorKind::InvalidArgument, "--out ", out.string(),
            ": is what is to be prepared; choose another name");
  check_output_file(out);
  require(overwrite || !fs::exists(out) || holds_prepared(out), ErrorKind::InvalidArgument,
          "--out ", out.string(),
          ": exists and is no prepared file; add --overwrite to replace it, or choose another "
          "name");
}

}  // namespace

void add_prepare(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "prepare", "reads and tokenises once, into one file that trains on any machine");
  auto flags = std::make_shared<TrainFlags>();
  auto out = std::make_shared<std::string>();
  add_data_flags(*command, *flags);
  command->add_option("--out", *out, "file to write, for example pairs.safetensors")->required();
  auto overwrite = std::make_shared<bool>(false);
  command->add_flag("--overwrite", *overwrite, "replace --out even if it is no prepared file");
  command->footer(
      "Examples:\n"
      "  fovea prepare dates --set data.rows=500 --out dates.safetensors\n"
      "  fovea prepare translate --set data.rows=500 --out phrases.safetensors\n"
      "  fovea train dates dates.safetensors --epochs 1 --out runs/prepared");
  command->callback([=] {
    Setup setup = make_setup(*flags);
    check_out(*out, setup.source(), flags->config, *overwrite);
    setup.task().prepare(setup.source(), static_cast<uint64_t>(setup.common().seed), *out);
    put_line(*out);
  });
}

}  // namespace fovea::cli

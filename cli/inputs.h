// What a user asks a run about: inputs on the command line, in a file, or on standard input.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/tasks/pipeline.h"

namespace fovea::cli {

struct InputFlags {
  std::vector<std::string> inputs;  // on the command line
  std::string file;  // one input a line, or a table with a header; "-" is standard input
};

/// The whole of a text file, or of standard input where `file` is "-", as UTF-8.
std::string read_content(const std::string& file);

/// One column of the inputs, as they have it: a cell for each example.
struct KeyColumn {
  std::string name;
  std::vector<std::string> cells;
  bool is_file = false;  // the path of the picture or sound that is the input
};

struct KeyedInputs {
  std::vector<Example> examples;
  std::vector<KeyColumn> keys;
  std::vector<std::string> truths;  // right answers, of a table that has them; else empty
};

/// The same with the columns called `keys`, which the run need not know; of pictures and sounds a
/// column `file` comes first. InvalidArgument where the
/// inputs are neither a table with a header nor JSON objects; NotFound for a column that is not
/// there.
KeyedInputs read_keyed_inputs(const Pipeline& pipeline, const InputFlags& flags,
                              const std::vector<std::string>& keys);

/// The examples in order. An error in line 7 of a file says so; what of them was cut is said on
/// standard error.
std::vector<Example> read_inputs(const Pipeline& pipeline, const InputFlags& flags);

}  // namespace fovea::cli

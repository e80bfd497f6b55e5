#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/tasks/generate.h"

namespace fovea::cli {

namespace {

struct GenerateFlags {
  std::string run, prompt = "-", device = "cpu";
  std::vector<std::string> assignments, stop;
  std::optional<int64_t> tokens, top_k, beam, seed;
  std::optional<double> temperature, top_p, repetition_penalty;
  bool json = false, only_new = false;
};

/// "\n", "\t" and "\\" as a shell hands them on.
std::string unescape(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool is_escape = text[i] == '\\' && (next == 'n' || next == 't' || next == '\\');
    if (is_escape) ++i;
    plain += !is_escape ? text[i] : next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
  }
  return plain;
}

/// The flags, then --set, then what suits a text that is drawn.
GenerateOptions options_of(const GenerateFlags& flags, GenerateOptions options) {
  const auto is_set = [&](const std::string& name) {
    const std::string start = concat("decoding.", name, "=");
    return std::ranges::any_of(flags.assignments,
                               [&](const auto& one) { return one.starts_with(start); });
  };
  SearchOptions& search = options.search;
  if (!is_set("maximum_length")) search.maximum_length = 200;
  if (!is_set("temperature")) search.temperature = 0.8;
  if (!is_set("method")) search.method = "sample";
  if (flags.tokens) search.maximum_length = *flags.tokens;
  if (flags.temperature) search.method = *flags.temperature > 0 ? "sample" : "greedy";
  if (flags.temperature.value_or(0) > 0) search.temperature = *flags.temperature;
  if (flags.beam) search.method = "beam", search.beam = *flags.beam;
  require(!flags.beam || (!flags.temperature && !flags.top_k && !flags.top_p),
          ErrorKind::InvalidArgument,
          "--beam takes the likeliest text and draws nothing; leave --temperature, --top-k and "
          "--top-p out");
  if (flags.seed) search.seed = *flags.seed;
  if (flags.repetition_penalty) search.repetition_penalty = *flags.repetition_penalty;
  if (flags.top_k) search.top_k = *flags.top_k;
  require(flags.top_p.value_or(1) <= 1, ErrorKind::InvalidArgument, "--top-p ",
          flags.top_p.value_or(1), " is above 1; it is a probability");
  if (flags.top_p) search.top_p = *flags.top_p;
  for (const std::string& word : flags.stop) options.stop.push_back(unescape(word));
  return options;
}

/// A piece of text on standard output, at once. On a terminal it must not move the cursor.
void put_piece(const std::string& text) {
  if (!::isatty(STDOUT_FILENO)) {
    std::cout << text << std::flush;
    return;
  }
  std::string line;
  for (const char byte : text) {
    if (byte == '\n' || byte == '\t') {
      std::cout << printable(line) << byte;
      line.clear();
    } else {
      line += byte;
    }
  }
  std::cout << printable(line) << std::flush;
}

void run_generate(const GenerateFlags& flags) {
  const Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  for (const std::string& note : pipeline.notes()) tell(note);
  const TextGenerator generator(pipeline);
  const std::string prompt = flags.prompt == "-" ? read_content("-") : flags.prompt;
  const Example example = pipeline.parse(Json{{"text", prompt}}.dump());
  const bool streams = !flags.json;
  const auto begin = std::chrono::steady_clock::now();
  bool is_first = true;
  size_t put = 0;  // bytes of the text
  const GenerateOptions options = options_of(flags, generator.usual_options());
  const Decoded output = generator.generate(example, options, [&](const GeneratedToken& one) {
    if (streams && is_first && !flags.only_new) put_piece(prompt);
    is_first = false;
    if (streams) put_piece(one.text);
    put += one.text.size();
  });
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto count = int64_t(output.tokens.size());
  if (flags.json) {
    const Json json{{"prompt", prompt},
                    {"text", output.text},
                    {"log_probability", output.log_probability},
                    {"tokens", count},
                    {"seconds", seconds}};
    std::cout << json.dump() << "\n";
    return;
  }
  put_piece(output.text.substr(std::min(put, output.text.size())) + "\n");
  tell(concat(format_count(count), count == 1 ? " token in " : " tokens in ",
              format_duration(seconds), ": ",
              format_count(int64_t(double(count) / std::max(seconds, 1e-9))), " a second"));
}

}  // namespace

void add_generate(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("generate", "continues a text, token by token, as it is written");
  auto flags = std::make_shared<GenerateFlags>();
  command->add_option("run", flags->run, "run of the task language, or a Hugging Face folder")
      ->required();
  command->add_option("prompt", flags->prompt, "the text to continue; - (default): standard input");
  command->add_option("--tokens", flags->tokens, "most tokens to write (default 200)")
      ->check(above_zero());
  command
      ->add_option("--temperature", flags->temperature,
                   "below 1 sharpens, 0: always the likeliest token (default 0.8)")
      ->check(zero_or_more());
  command->add_option("--top-k", flags->top_k, "only from the likeliest tokens; 0: all")
      ->check(zero_or_more());
  command
      ->add_option("--top-p", flags->top_p,
                   "only from the fewest tokens that hold this probability")
      ->check(above_zero());
  command
      ->add_option("--repetition-penalty", flags->repetition_penalty,
                   "above 1: tokens that are there already become less likely")
      ->check(above_zero());
  command
      ->add_option("--beam", flags->beam,
                   "the likeliest text by a beam of this width, at most 64, in place of drawing")
      ->check(above_zero());
  command
      ->add_option("--stop", flags->stop,
                   "text that ends it and is not part of it, \\n for a line end; give it again "
                   "for more")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--seed", flags->seed, "the same seed writes the same text")
      ->check(zero_or_more());
  command->add_option("--device", flags->device, "cpu or cuda");
  add_decoding_flag(*command, flags->assignments);
  command->add_flag("--only-new", flags->only_new, "leave the prompt out");
  command->add_flag("--json", flags->json, "the whole as one JSON value, at the end");
  command->footer(
      "Examples:\n"
      "  fovea train language --set data.rows=200 --set model.hidden=32 --set "
      "model.maximum_length=32 --epochs 1 --out runs/book\n"
      "  fovea generate runs/book \"d7 k2 \" --tokens 20 --seed 1\n"
      "  fovea generate runs/book \"d7 k2 \" --tokens 20 --top-k 5 --stop \"\\n\" --json");
  command->callback([flags] { run_generate(*flags); });
}

}  // namespace fovea::cli

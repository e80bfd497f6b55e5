#include <algorithm>
#include <iostream>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/report.h"
#include "fovea/tasks/embeddings.h"

namespace fovea::cli {

namespace {

constexpr const char* kRows = "rows";

struct EmbeddingsFlags : RowFlags {
  std::string of, out;
  std::vector<std::string> nearest;
  int64_t most = kMostPoints;
};

/// A line per point: label, group where there are groups, and the two components.
std::string points_tsv(const Json& points) {
  const bool has_groups = points.contains("groups");
  const auto cell = [](const Json& text) {  // a tab or line end would be another cell
    std::string plain = text.get<std::string>();
    std::ranges::replace_if(
        plain, [](char byte) { return byte == '\t' || byte == '\n' || byte == '\r'; }, ' ');
    return plain;
  };
  std::string text = has_groups ? "label\tgroup\tpc1\tpc2\n" : "label\tpc1\tpc2\n";
  for (size_t i = 0; i < points["labels"].size(); ++i) {
    text += cell(points["labels"][i]);
    if (has_groups) text += "\t" + cell(points["groups"][i]);
    for (const Json& number : points["points"][i]) text += concat("\t", number.dump());
    text += "\n";
  }
  return text;
}

void write_points(const std::string& path, const Json& points) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".html")
    write_file(path, embeddings_html(points));
  else if (ending == ".json")
    write_file(path, points.dump() + "\n");
  else
    write_file(path, points_tsv(points));
}

/// The neighbours of a label, nearest first.
std::string neighbours_of(const std::string& label, const Json& points) {
  const auto labels = points["labels"].get<std::vector<std::string>>();
  const auto found = std::ranges::find(labels, label);
  require(found != labels.end(), ErrorKind::NotFound, "--nearest: there is no '", label,
          "' among the ", labels.size(), " points", suggestion(label, labels));
  TextTable table({"nearest to " + printable(label), "cosine"});
  for (const Json& neighbour : points["neighbours"][size_t(found - labels.begin())])
    table.add(
        {printable(labels[neighbour[0].get<size_t>()]), format_number(neighbour[1].get<double>())});
  return table.plain();
}

void check_out(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  require(ending == ".html" || ending == ".json" || ending == ".tsv", ErrorKind::Unsupported,
          "--out ", path, ": expected a name that ends in .html, .json or .tsv");
  check_output_file(path);
}

void run_embeddings(EmbeddingsFlags& flags) {
  if (!flags.out.empty()) {
    check_out(flags.out);
    check_no_input(flags.out, {flags.data, flags.source, flags.target_text});
  }
  Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  for (const std::string& note : pipeline.notes()) tell(note);
  const bool from_data = !flags.data.empty() || !flags.source.empty();
  require(!from_data || flags.of.empty() || flags.of == kRows, ErrorKind::InvalidArgument,
          "data has rows; leave --of out, or say --of rows");
  const bool of_rows =
      from_data || flags.of == kRows || (flags.of.empty() && embedding_names(pipeline).empty());
  const LabelledPoints found = of_rows
                                   ? row_points(pipeline, *choose_rows(pipeline, flags), flags.most)
                                   : vocabulary_points(pipeline, flags.of, flags.most);
  const Json points = points_to_json(found, pipeline);
  if (!flags.out.empty()) write_points(flags.out, points);
  if (flags.json) {
    std::cout << points.dump() << "\n";
    return;
  }
  const int64_t count = int64_t(found.labels.size());
  const auto percent = [&](size_t i) {
    return concat(format_number(100 * points["explained"][i].get<double>(), 3), " %");
  };
  put_line(concat(
      found.name, ": ",
      count < found.of ? concat("the first ", count, " of ", found.of) : std::to_string(count),
      " points of ", found.vectors.size(1), " numbers; the two principal components hold ",
      percent(0), " and ", percent(1), " of their variance"));
  for (const std::string& label : flags.nearest) std::cout << "\n" << neighbours_of(label, points);
}

}  // namespace

void add_embeddings(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "embeddings", "what a network has learned of its words or rows, as points with neighbours");
  auto flags = std::make_shared<EmbeddingsFlags>();
  command->add_option("run", flags->run, "a run of any task, or a Hugging Face folder")->required();
  command->add_option("data", flags->data, "rows of this file or folder instead of the vocabulary");
  command->add_option(
      "--of", flags->of,
      "which: a vocabulary as tokens, words, source, target, codes (default: the first "
      "there is), or rows: of the run's own data");
  command->add_option("--out", flags->out,
                      "write .html (a picture to search and zoom), .json or .tsv");
  command->add_option("--nearest", flags->nearest, "print the neighbours of these labels");
  command->add_option("--most", flags->most, "points, the first ones (default 5000)")
      ->check(above_zero());
  add_row_flags(*command, *flags);
  command->footer(
      "Examples:\n"
      "  fovea embeddings runs/tag --out words.html\n"
      "  fovea embeddings runs/tag --of letters --nearest a --nearest e\n"
      "  fovea embeddings runs/tag --most 100 --out words.tsv");
  command->callback([flags] { run_embeddings(*flags); });
}

}  // namespace fovea::cli

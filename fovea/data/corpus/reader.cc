#include "fovea/data/corpus/reader.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/documents/reader.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/tokenisers/sentences.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// Lines of one document to its sentences.
class DocumentWriter {
 public:
  DocumentWriter(bool cut, const std::function<void(Document)>& take) : cut_(cut), take_(take) {}

  void add_line(std::string_view line) {
    line = trim(line);
    if (line.empty()) return;
    if (cut_) {
      text_ += (text_.empty() ? "" : " ") + std::string(line);
    } else {
      document_.emplace_back(line);
    }
  }

  /// A text that may have several lines.
  void add_text(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      add_line(text.substr(at, end - at));
      at = end + 1;
    }
  }

  void end() {
    if (cut_)
      for (const std::string_view sentence : cut_sentences(text_)) document_.emplace_back(sentence);
    text_.clear();
    if (document_.empty()) return;
    ++count_;
    take_(std::move(document_));
    document_ = {};
  }

  int64_t count() const { return count_; }

 private:
  bool cut_;
  const std::function<void(Document)>& take_;
  std::string text_;
  Document document_;
  int64_t count_ = 0;
};

void check_choice(const char* name, const std::string& value,
                  const std::vector<std::string>& choices) {
  require(std::find(choices.begin(), choices.end(), value) != choices.end(),
          ErrorKind::InvalidArgument, name, " is '", value, "'; expected ", join(choices));
}

std::string read_lines(const fs::path& path, const CorpusOptions& options, DocumentWriter& writer) {
  TextLines lines(path, options.max_bytes);
  for (std::string_view line; lines.next(line);) {
    writer.add_line(line);
    if (options.documents == "lines" || trim(line).empty()) writer.end();
  }
  writer.end();
  return lines.hash();
}

std::string read_column(const fs::path& path, const CorpusOptions& options,
                        DocumentWriter& writer) {
  LabelledTextOptions reading;
  reading.roles = options.roles;
  reading.needs_label = false;
  reading.max_bytes = options.max_bytes;
  const auto take = [&](LabelledText&& row, std::optional<Split>) {
    writer.add_text(row.text);
    writer.end();
  };
  return read_labelled_text(path, reading, take).hash;
}

}  // namespace

std::string read_corpus(const fs::path& path, const CorpusOptions& options,
                        const std::function<void(Document)>& take) {
  check_choice("documents", options.documents, {"blank_lines", "lines"});
  check_choice("sentences", options.sentences, {"auto", "lines", "cut"});
  const bool rows = is_labelled_text(path);
  require(rows || options.roles.empty(), ErrorKind::InvalidArgument, path.string(),
          ": is plain text and has no columns; leave the roles out");
  const bool one_a_line = !rows && options.documents == "blank_lines";
  const bool cut = options.sentences == "cut" || (options.sentences == "auto" && !one_a_line);
  DocumentWriter writer(cut, take);
  const std::string hash =
      rows ? read_column(path, options, writer) : read_lines(path, options, writer);
  require(writer.count() > 0, ErrorKind::BadData, path.string(), ": holds no text");
  return hash;
}

SplitRows<Document> open_corpus(const DataSource& source, const SplitOptions& split,
                                CorpusOptions options) {
  check_roles(source, {"text"});
  options.roles = source.roles;
  const auto read = [options](const fs::path& path, const RowSink<Document>& sink) {
    FileRows<Document> texts{sink};
    texts.hash =
        read_corpus(path, options, [&](Document document) { texts.add(std::move(document)); });
    return texts;
  };
  return read_splits<Document>(
      source, split, {{".txt", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson"}, read, "documents"});
}

}  // namespace fovea

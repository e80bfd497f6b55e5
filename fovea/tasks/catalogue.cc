#include "fovea/tasks/catalogue.h"

#include "fovea/base/error.h"
<<<<<<< ours
#include "fovea/tasks/caption.h"
#include "fovea/tasks/dates.h"
#include "fovea/tasks/documents.h"
#include "fovea/tasks/glimpse.h"
#include "fovea/tasks/pretrain.h"
#include "fovea/tasks/ratings.h"
#include "fovea/tasks/speech.h"
#include "fovea/tasks/translate.h"

namespace fovea {

std::unique_ptr<Task> make_context_task();
std::unique_ptr<Task> make_copy_task();
std::unique_ptr<Task> make_features_task();
std::unique_ptr<Task> make_forecast_task();
std::unique_ptr<Task> make_graph_task();
std::unique_ptr<Task> make_prefetch_task();
std::unique_ptr<Task> make_visits_task();
=======
#include "fovea/tasks/context.h"
#include "fovea/tasks/copy.h"
#include "fovea/tasks/documents.h"
#include "fovea/tasks/forecast.h"
#include "fovea/tasks/graph.h"
#include "fovea/tasks/prefetch.h"
#include "fovea/tasks/pretrain.h"
#include "fovea/tasks/ratings.h"
#include "fovea/tasks/tag.h"
#include "fovea/tasks/visits.h"

namespace fovea {

std::unique_ptr<Task> make_caption_task();
std::unique_ptr<Task> make_dates_task();
std::unique_ptr<Task> make_features_task();
std::unique_ptr<Task> make_glimpse_task();
std::unique_ptr<Task> make_speech_task();
std::unique_ptr<Task> make_translate_task();
>>>>>>> theirs

namespace {

template <class Kind>
std::unique_ptr<Task> make() {
  return std::make_unique<Kind>();
}

std::vector<TaskRow> built_in_tasks() {
  return {
      {"features", "predict a column of a table from the others", "attention, plain, linear",
       "prediction -> columns", "CSV or TSV with a header; the target column is named by --target",
       make_features_task},
      {"context", "a context picks the position that matters", "free, softmax",
       "context -> positions", "CSV or TSV with a header: context, one column per position, y",
       make_context_task},
      {"dates", "a date as people write it becomes yyyy-mm-dd", "seq2seq, transformer",
       "output character -> source character", "TSV with two columns: text, date", make_dates_task},
      {"translate", "a sentence becomes a sentence in another language", "seq2seq, transformer",
       "output token -> source token",
       "TSV with two or more columns: source, target, further references; two parallel text files; "
       "a "
       "folder of either",
       make_translate_task},
      {"forecast", "the next steps of numeric series from the last ones", "seq2seq",
       "output step -> past step", "CSV with a header: one row per step, one column per series",
       make_forecast_task},
      {"pretrain", "BERT learns from plain text; then texts become embeddings", "bert",
       "token -> token",
       "plain text with blank lines between documents; the text column of a CSV, TSV or JSONL; a "
       "folder of either",
       make_pretrain_task},
      {"documents", "which class a text, or a pair of texts, belongs to", "bert, han",
       "token -> token, or document -> sentence -> word",
       "CSV, TSV or JSONL with a text, perhaps a second one, and a label; a folder of such",
       make_documents_task},
      {"tag", "every word of a sentence has a tag: names of persons, places, …", "lstm, bert",
       "word -> word, or token -> token",
       "one word and its tag a line (CoNLL, TSV), a blank line between sentences; a folder of such",
       make_tag_task},
      {"ratings", "how highly a user will rate an item", "mpcn, dattn, mf, biases, mean",
       "rating -> reviews of user and item -> words",
       "CSV, TSV or JSONL with user, item, rating, text and perhaps time; a folder of such",
       make_ratings_task},
      {"graph", "which class a node of a graph belongs to", "gat", "node -> neighbours",
       "a folder: edges.tsv (two nodes a line), features.tsv (a node and its features), "
       "labels.tsv, "
       "split.tsv",
       make_graph_task},
      {"caption", "what a picture shows, as a sentence", "show_attend_tell", "word -> cell",
       "CSV or TSV with a header: image (a path), caption and perhaps further captions; a folder "
       "of "
       "such",
       make_caption_task},
      {"speech", "what is said, as text", "listen_attend_spell", "symbol -> frames of the sound",
       "CSV or TSV with a header: audio (a path) or parts (several), transcript, perhaps speaker "
       "and "
       "boundaries; a folder of such",
       make_speech_task},
      {"glimpse", "which class a picture belongs to, from a few small looks at it",
       "ram, plain, cnn", "glimpse -> place in the picture",
       "idx files (MNIST and its relatives), perhaps with .gz; a folder of PNG or JPEG pictures by "
       "class",
       make_glimpse_task},
      {"prefetch", "which line of memory a program accesses next",
       "voyager, last_successor, stride, next_line", "access -> experts, next line -> accesses",
       "a trace: KIND ADDRESS SIZE PC a line, or what valgrind's lackey writes, perhaps with .gz; "
       "a "
       "folder of such",
       make_prefetch_task},
      {"visits", "whether an outcome follows on what a patient's visits hold",
       "retain, logistic, gru", "outcome -> visits -> codes",
       "CSV, TSV or JSONL, one visit a line: patient, time, codes, label; a folder of such",
       make_visits_task},
      {"copy", "hear symbols, then say them again: does a network store and fetch?", "ntm, lstm",
       "step -> slots of the memory", "text, one sequence a line, symbols as bits: 0110 1011",
       make_copy_task},
  };
}

using AddedModel = std::pair<std::string, std::function<ModelSpec(const Task&)>>;

std::vector<TaskRow>& rows() {
  static std::vector<TaskRow> all = built_in_tasks();
  return all;
}

std::vector<AddedModel>& added_models() {
  static std::vector<AddedModel> all;
  return all;
}

const TaskRow& find_task(const std::string& name) {
  std::vector<std::string> names;
  for (const TaskRow& row : rows()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  fail(ErrorKind::NotFound, "there is no task '", name, "'", suggestion(name, names),
       "; there are: ", join(names));
}

}  // namespace

const std::vector<TaskRow>& task_table() {
  return rows();
}

void register_task(TaskRow row) {
  for (const TaskRow& known : rows())
    require(known.name != row.name, ErrorKind::InvalidArgument, "there is a task '", row.name,
            "' already");
  rows().push_back(std::move(row));
}

void register_model(const std::string& task, std::function<ModelSpec(const Task&)> make) {
  find_task(task);
  added_models().emplace_back(task, std::move(make));
}

std::unique_ptr<Task> make_task(const std::string& name) {
  std::unique_ptr<Task> task = find_task(name).make();
  for (const auto& [of, make] : added_models())
    if (of == name) task->add_model(make(*task));
  return task;
}

}  // namespace fovea

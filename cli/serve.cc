#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/serving/pipeline_model.h"
#include "fovea/serving/server.h"

namespace fovea::cli {

namespace {

struct ServeFlags {
  std::vector<std::string> runs, named;
  serving::ServerOptions server;
  serving::PipelineOptions pipeline;
  double max_wait_milliseconds = 2, drain_seconds = 20;
};

struct NamedRun {
  std::string name, run;  // no name: that of the folder
};

std::vector<NamedRun> runs_of(const ServeFlags& flags) {
  std::vector<NamedRun> runs;
  for (const std::string& run : flags.runs) runs.push_back({"", run});
  for (const std::string& named : flags.named) {
    const size_t equals = named.find('=');
    require(equals != std::string::npos && equals > 0 && equals + 1 < named.size(),
            ErrorKind::InvalidArgument, "--model ", named, ": expected NAME=RUN");
    runs.push_back({named.substr(0, equals), named.substr(equals + 1)});
  }
  require(!runs.empty(), ErrorKind::InvalidArgument,
          "there is nothing to serve; name a run: fovea serve runs/dates");
  return runs;
}

/// Each run takes those of --set that its task has; one that no run has is a mistake.
std::vector<serving::ModelSource> sources_of(const ServeFlags& flags) {
  std::vector<serving::ModelSource> sources;
  std::set<std::string> unused(flags.pipeline.assignments.begin(),
                               flags.pipeline.assignments.end());
  for (const NamedRun& named : runs_of(flags)) {
    serving::PipelineOptions own = flags.pipeline;
    std::erase_if(own.assignments, [&](const std::string& assignment) {
      if (!serving::run_has_option(named.run, assignment)) return true;
      unused.erase(assignment);
      return false;
    });
    sources.push_back(serving::source_of_run(named.run, named.name, own));
  }
  require(unused.empty(), ErrorKind::InvalidArgument, "--set ", *unused.begin(),
          ": none of these runs has such an option; `fovea tasks TASK` lists them");
  return sources;
}

/// The characters of RFC 6750: others do not survive every proxy.
void check_key(const std::string& key) {
  const auto known = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("-._~+/=").find(char(c)) != std::string_view::npos;
  };
  require(std::all_of(key.begin(), key.end(), known), ErrorKind::InvalidArgument,
          "--api-key: may hold only letters, digits and - . _ ~ + / =");
}

/// Until a signal comes or no model is left to wait for.
void wait_for_end(const serving::Server& server, const HeldSignals& signals) {
  std::vector<bool> told(server.host().models().size(), false);
  while (!signals.wait(100)) {
    for (size_t i = 0; i < told.size(); ++i) {
      const serving::HostedModel& model = *server.host().models()[i];
      if (told[i] || model.status() == serving::ModelStatus::Loading) continue;
      told[i] = true;
      const bool is_ready = model.status() == serving::ModelStatus::Ready;
      tell(concat(model.name(), " is ", is_ready ? "ready" : "broken: " + model.error()));
      if (is_ready && !model.model().card().note.empty()) tell(model.model().card().note);
    }
    require(!server.host().all_are(serving::ModelStatus::Failed), ErrorKind::BadData,
            "no model could be loaded");
  }
}

void drain(serving::Server& server, double seconds) {
  std::cerr << "finishing what has come; a second signal ends at once\n";
  if (server.drain(std::chrono::milliseconds(int64_t(seconds * 1000)))) return;
  std::cerr << "error: " << server.in_flight() << " requests were not done after " << seconds
            << " s\n"
            << std::flush;
  std::_Exit(1);  // a worker may be in the middle of something long
}

void run_serve(const ServeFlags& flags) {
  check_key(flags.server.api_key);
  const bool open = !serving::is_loopback(flags.server.transport.host);
  if (open && flags.server.api_key.empty())
    std::cerr << "warning: everyone who reaches this machine can use the models; set "
                 "FOVEA_API_KEY to ask for a key\n";
  if (open && flags.server.allowed_hosts.empty())
    std::cerr << "warning: only requests to localhost and " << flags.server.transport.host
              << " are answered; name the others that lead here with --allowed-hosts\n";
  const HeldSignals signals;
  serving::Server server(flags.server, sources_of(flags));
  std::cout << "listening on " << server.address() << "\n" << std::flush;
  wait_for_end(server, signals);
  drain(server, flags.drain_seconds);
}

}  // namespace

void add_serve(CLI::App& program) {
  CLI::App* command = program.add_subcommand("serve", "answers over HTTP, with a page to look at");
  auto flags = std::make_shared<ServeFlags>();
  serving::ServerOptions& server = flags->server;
  const auto option = [command](const std::string& name, auto& value, const std::string& help) {
    std::string variable = "FOVEA_" + name;
    for (char& character : variable)
      character =
          character == '-' ? '_' : char(std::toupper(static_cast<unsigned char>(character)));
    return command->add_option("--" + name, value, help)->envname(variable)->capture_default_str();
  };
  command->add_option("runs", flags->runs, "folders made by fovea train, or Hugging Face folders");
  option("model", flags->named, "NAME=RUN: a run under a name of its own")
      ->delimiter(',')
      ->allow_extra_args(false);
  option("host", server.transport.host, "address to listen on; 0.0.0.0: all of this machine");
  option("port", server.transport.port, "0: any free one")->check(CLI::Range(0, 65535));
  option("max-batch", server.batching.max_batch, "inputs that are predicted together")
      ->check(CLI::Range(1, 65536));
  option("max-wait-ms", flags->max_wait_milliseconds, "how long an input waits for others")
      ->check(CLI::Range(0.0, 10000.0));
  option("queue", server.batching.queue, "inputs that may wait for each model; then 429")
      ->check(CLI::Range(1, 1 << 20));
  option("body-limit", server.transport.protocol.body_limit, "bytes of a request; then 413")
      ->check(CLI::Range(size_t{1}, size_t{1} << 32));
  option("max-length", server.max_length, "units (tokens, steps) of an input; then 422")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  option("max-units", server.max_units, "units of all inputs of a request; then 422")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  option("max-weights", server.max_weights, "weights of an explanation; then 422")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  option("timeout", server.timeout_seconds, "seconds until an answer; then 504")
      ->check(CLI::Range(0.001, 86400.0));
  option("read-timeout", server.transport.protocol.read_seconds,
         "seconds in which a request must arrive; then 408")
      ->check(CLI::Range(0.001, 86400.0));
  option("keep-alive", server.transport.protocol.keep_alive_seconds,
         "seconds that a connection may be idle")
      ->check(CLI::Range(0.0, 86400.0));
  option("threads", flags->pipeline.threads, "threads of LibTorch for each model")
      ->check(CLI::Range(1, 1024));
  option("connections", server.transport.connections, "connections at once; then 503")
      ->check(CLI::Range(1, 65536));
  option("api-key", server.api_key,
         "ask for this key; better as FOVEA_API_KEY, which other users do not see");
  option("allowed-hosts", server.allowed_hosts,
         "NAME,…: names by which clients may call the server, besides localhost and --host; *: any")
      ->delimiter(',')
      ->allow_extra_args(false);
  option("cors", server.cors, "origin whose pages may use the server, or *");
  option("log", server.log, "access log as JSON lines: a file, - for standard error, or none");
  option("drain-seconds", flags->drain_seconds, "time to finish after SIGTERM")
      ->check(CLI::Range(0.0, 86400.0));
  option("device", flags->pipeline.device, "cpu or cuda");
  option("set", flags->pipeline.assignments, "how outputs are searched for: decoding.method=beam")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->footer(
      "Examples:\n"
      "  fovea serve runs/first\n"
      "  fovea serve runs/first runs/tag --port 8081\n"
      "  fovea serve --model tags=runs/tag --port 8082\n"
      "Then open http://127.0.0.1:8080 in a browser. Every flag is also an environment variable: "
      "--max-batch is FOVEA_MAX_BATCH.");
  command->callback([flags] {
    flags->server.batching.max_wait =
        std::chrono::microseconds(int64_t(flags->max_wait_milliseconds * 1000));
    run_serve(*flags);
  });
}

}  // namespace fovea::cli

#include "fovea/serving/server.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "fovea/explain/draw/report.h"
#include "fovea/explain/record/json.h"
#include "fovea/serving/codec.h"
#include "fovea/serving/sha256.h"
#include "fovea/serving/web_pages.h"

namespace fovea::serving {

namespace {

HttpResponse json_response(const Json& value, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.body = text_of(value);
  return response;
}

HttpResponse error_response(const HttpError& error) {
  HttpResponse response = json_response(error.to_json(), error.status());
  if (error.status() == 429 || error.status() == 503)
    response.headers.emplace_back("Retry-After", "1");
  if (error.status() == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

void check_method(const HttpRequest& request, const Route& route) {
  const std::string allowed = route.method;
  if (request.method == allowed || (request.method == "HEAD" && allowed == "GET")) return;
  throw HttpError(405, "method_not_allowed",
                  concat(route.path, " takes ", allowed, ", not ", request.method));
}

/// Pages of other sites can send texts and forms without asking first, JSON they cannot.
std::string read_json(HttpRequest& request) {
  const std::string_view type = request.header("content-type");
  if (is_json_type(type)) return request.read_body();
  throw HttpError(
      415, "unsupported_media_type",
      concat(type.empty() ? "the body has no Content-Type"
                          : concat("the body's Content-Type is '", shorten_bytes(type, 64), "'"),
             "; send Content-Type: application/json"));
}

/// The names that lead to this server, in lower case.
std::vector<std::string> names_of_server(const ServerOptions& options) {
  std::vector<std::string> names{"localhost", "127.0.0.1", "[::1]"};
  const std::string& host = options.transport.host;
  names.push_back(lower_case(host.find(':') == std::string::npos ? host : "[" + host + "]"));
  for (const std::string& name : options.allowed_hosts) names.push_back(lower_case(name));
  return names;
}

/// A name for the downloaded report, of characters that no system minds.
std::string file_name(std::string name) {
  for (char& character : name)
    if (!std::isalnum(static_cast<unsigned char>(character))) character = '-';
  return name + ".html";
}

/// What an input's axes do not allow is a mistake in that field of the body.
template <class Check>
void check_field(const char* field, const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    refuse_field(field, error.what());
  }
}

constexpr double kMostSecondsOfStream = 600;

/// Who reads a text while it is written. The worker that writes it may outlive the request.
class StreamReader {
 public:
  StreamReader(HttpRequest& http, HttpResponse head) : http_(&http), head_(std::move(head)) {}

  /// Stopped, where nobody reads any more.
  void tell(const Json& event) {
    const std::lock_guard lock(mutex_);
    if (!is_gone_ && http_ && !begun_) is_gone_ = !http_->begin_stream(head_);
    begun_ = true;
    if (!is_gone_ && http_) is_gone_ = !http_->send_piece(concat("data: ", text_of(event), "\n\n"));
    if (is_gone_ || !http_) throw Stopped();
  }
  bool is_gone() const { return is_gone_; }
  /// The request is over. Whether anything was sent; then `last` is, too.
  bool end(const Json& last) {
    const std::lock_guard lock(mutex_);
    if (begun_ && !is_gone_ && !last.is_null())
      http_->send_piece(concat("data: ", text_of(last), "\n\n"));
    http_ = nullptr;
    return begun_;
  }

 private:
  std::mutex mutex_;
  HttpRequest* http_;
  HttpResponse head_;
  bool begun_ = false;
  std::atomic<bool> is_gone_{false};
};

}  // namespace

Server::Server(const ServerOptions& options, std::vector<ModelSource> sources)
    : options_(options),
      names_(names_of_server(options)),
      log_(options.log),
      host_(std::move(sources), options.batching, metrics_, options.board != nullptr),
      transport_(options.transport, *this) {}

HttpResponse Server::handle(HttpRequest& request) {
  const auto begin = Clock::now();
  AccessRecord record;
  record.id = request_id(request.header("x-request-id"));
  record.method = request.method;
  record.path = shorten_bytes(request.path, 256);
  record.remote = request.remote;
  ++in_flight_;
  HttpResponse response;
  try {
    response = answer(request, record);
  } catch (...) {
    std::string detail;
    const HttpError error = error_of(std::current_exception(), detail);
    record.error = detail.empty() ? error.what() : detail;
    response = error_response(error);
  }
  add_headers(request, response);
  response.headers.emplace_back("X-Request-Id", record.id);
  --in_flight_;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const Route* route = find_route(request.path);
  metrics_.request_done(route ? route->path : "other", response.status, seconds);
  record.status = response.status;
  record.bytes = response.body.size();
  record.milliseconds = seconds * 1000;
  log_.write(record);
  return response;
}

HttpResponse Server::refuse(const HttpError& error, const std::string& remote) {
  AccessRecord record;
  record.id = request_id("");
  record.remote = remote;
  record.error = error.what();
  record.status = error.status();
  HttpResponse response = error_response(error);
  add_headers({}, response);
  response.headers.emplace_back("X-Request-Id", record.id);
  record.bytes = response.body.size();
  metrics_.request_done("other", error.status(), 0);
  log_.write(record);
  return response;
}

/// A page whose name was made to lead here (DNS rebinding) is of one origin with the server for its
/// browser, but it still calls the server by that name. Browsers always send one.
void Server::check_host(const HttpRequest& request) const {
  const auto host = std::find_if(request.headers.begin(), request.headers.end(),
                                 [](const auto& header) { return header.first == "host"; });
  if (host == request.headers.end()) return;  // HTTP/1.0
  const std::string name = host_name(host->second);
  const auto known = [&](const std::string& allowed) { return allowed == "*" || allowed == name; };
  if (std::none_of(names_.begin(), names_.end(), known))
    throw HttpError(421, "unknown_host",
                    concat("this server is not called '", shorten_bytes(host->second, 64),
                           "'; whoever runs it can allow the name with --allowed-hosts"));
}

HttpResponse Server::answer(HttpRequest& request, AccessRecord& record) {
  check_host(request);
  const Route* route = find_route(request.path);
  if (!route)
    throw HttpError(404, "not_found",
                    concat("there is no address ", shorten_bytes(request.path, 200),
                           "; /openapi.json lists them"));
  if (request.method == "OPTIONS" && !options_.cors.empty() &&
      !request.header("access-control-request-method").empty()) {
    HttpResponse preflight;
    preflight.status = 204;
    preflight.headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                         {"Access-Control-Allow-Headers", "Content-Type, Authorization, X-API-Key"},
                         {"Access-Control-Max-Age", "600"}};
    return preflight;
  }
  check_method(request, *route);
  if (route->needs_key) check_key(request);
  return act(route->action, request, record);
}

HttpResponse Server::act(Action action, HttpRequest& request, AccessRecord& record) {
  switch (action) {
    case Action::Page:
      return web_file(options_.board ? "board.html" : "page.html", request);
    case Action::WebFile:
      return web_file(std::string_view(request.path).substr(std::string_view("/web/").size()),
                      request);
    case Action::Health:
      return health();
    case Action::Metrics:
      return metrics();
    case Action::Models:
      return models();
    case Action::Runs:
      return runs(request);
    case Action::OpenApi: {
      HttpResponse response = json_response(openapi(!options_.api_key.empty()));
      response.compress = true;
      return response;
    }
    case Action::Names:
      return names(request, record);
    case Action::Predict:
      return predict(request, record);
    case Action::Explain:
      return explain(request, record);
    case Action::Flip:
      return flip(request, record);
    case Action::QueryKey:
      return query_key(request, record);
    case Action::Embeddings:
      return embeddings(request, record);
    case Action::Generate:
      return generate(request, record);
  }
  fail(ErrorKind::Internal, "an action without an answer");
}

void Server::check_key(const HttpRequest& request) const {
  if (options_.api_key.empty()) return;
  std::string_view given = request.header("x-api-key");
  const std::string_view authorization = request.header("authorization");
  if (given.empty() && lower_case(authorization.substr(0, 7)) == "bearer ")
    given = trim(authorization.substr(7));
  if (!same_secret(given, options_.api_key))
    throw HttpError(401, "unauthorized",
                    given.empty() ? "this server wants an API key: Authorization: Bearer KEY"
                                  : "this is not the API key");
}

/// Headers that every answer has, unless it has its own.
void Server::add_headers(const HttpRequest& request, HttpResponse& response) const {
  const auto add = [&](const char* name, const std::string& value) {
    const auto same = [&](const auto& header) { return header.first == name; };
    if (std::none_of(response.headers.begin(), response.headers.end(), same))
      response.headers.emplace_back(name, value);
  };
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "no-referrer");
  add("Cache-Control", "no-store");
  add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  if (response.status == 405)
    if (const Route* route = find_route(request.path)) add("Allow", route->method);
  if (options_.cors.empty()) return;
  if (options_.cors != "*") add("Vary", "Origin");
  if (options_.cors != "*" && request.header("origin") != options_.cors) return;
  add("Access-Control-Allow-Origin", options_.cors);
  add("Access-Control-Expose-Headers", "Retry-After, X-Request-Id");
}

HttpResponse Server::health() const {
  Json states = Json::object(), notes = Json::object();
  for (const auto& model : host_.models()) {
    states[model->name()] = name_of(model->status());
    if (model->status() == ModelStatus::Ready && !model->model().card().note.empty())
      notes[model->name()] = model->model().card().note;
  }
  const char* status = transport_.is_draining()             ? "draining"
                       : host_.any_is(ModelStatus::Failed)  ? "failed"
                       : host_.any_is(ModelStatus::Loading) ? "loading"
                                                            : "ready";
  const bool ready = std::string_view(status) == "ready";
  Json health{{"status", status}, {"models", states}};
  if (!notes.empty()) health["notes"] = notes;
  return json_response(health, ready ? 200 : 503);
}

HttpResponse Server::metrics() const {
  std::vector<Gauge> gauges;
  for (const auto& model : host_.models())
    gauges.push_back({"fovea_queue_inputs", "Inputs that wait.", label("model", model->name()),
                      static_cast<double>(model->waiting())});
  for (const auto& model : host_.models())
    gauges.push_back({"fovea_model_ready", "1 once the model answers.",
                      label("model", model->name()),
                      model->status() == ModelStatus::Ready ? 1.0 : 0.0});
  gauges.push_back({"fovea_requests_in_flight", "Requests without an answer yet.", "",
                    static_cast<double>(in_flight_)});
  gauges.push_back({"fovea_connections", "Open connections.", "",
                    static_cast<double>(transport_.connections())});
  gauges.push_back({"fovea_connections_refused_total", "Connections beyond the limit.", "",
                    static_cast<double>(transport_.refused()), "counter"});
  gauges.push_back({"fovea_connections_displaced_total", "Idle connections that made room.", "",
                    static_cast<double>(transport_.displaced()), "counter"});
  gauges.push_back({"fovea_log_lines_lost_total", "Lines that the access log could not take.", "",
                    static_cast<double>(log_.lost()), "counter"});
  gauges.push_back(
      {"process_resident_memory_bytes", "Memory that the process holds.", "", resident_bytes()});
  HttpResponse response;
  response.type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics_.text(gauges);
  return response;
}

HttpResponse Server::models() const {
  Json list = Json::array();
  for (const auto& model : host_.models()) list.push_back(model->to_json());
  HttpResponse response = json_response({{"models", std::move(list)}});
  response.compress = true;
  return response;
}

HttpResponse Server::runs(const HttpRequest& request) const {
  if (options_.board) return options_.board->answer(request);
  throw HttpError(404, "not_found", "this server shows no trainings; `fovea board RUN` does");
}

Caller Server::caller_of(const HttpRequest& request) const {
  return {seconds_from_now(options_.timeout_seconds), request.is_gone};
}

Example Server::parse(const ServedModel& model, const std::string& line,
                      const std::string& field) const {
  Example example;
  try {
    example = model.parse(line);
  } catch (const Error& error) {
    throw error_of_input(error, field);
  }
  for (const Axis& axis : example.axes)
    if (static_cast<int64_t>(axis.labels.size()) > options_.max_length)
      throw HttpError(422, "too_long",
                      concat(field, ": has ", axis.labels.size(), " units on the axis '", axis.name,
                             "', this server takes at most ", options_.max_length),
                      field);
  return example;
}

HttpResponse Server::names(HttpRequest& http, AccessRecord& record) {
  const NamesBody body = parse_names(read_json(http));
  HostedModel& hosted = host_.find(body.model);
  record.model = hosted.name();
  try {
    return json_response({{"names", hosted.model().names(body.property, body.text)}});
  } catch (const Error& error) {
    throw error_of_input(error, "property");
  }
}

HttpResponse Server::predict(HttpRequest& http, AccessRecord& record) {
  const std::string json = read_json(http);
  const Caller caller = caller_of(http);
  const PredictBody body = parse_predict(json);
  HostedModel& hosted = host_.find(body.model);
  record.model = hosted.name();
  std::vector<Example> examples;
  int64_t units = 0;
  for (const GivenInput& input : body.inputs) {
    examples.push_back(parse(hosted.model(), input.line, input.field));
    units += hosted.model().units(examples.back());
    check_units(units, options_.max_units, body.inputs.size() > 1 ? "inputs" : input.field);
  }
  const BatchAnswer answers = hosted.batcher().predict(examples, caller);
  record.batch = answers.batch;
  Json predictions = Json::array();
  for (size_t i = 0; i < examples.size(); ++i)
    predictions.push_back(hosted.model().answer(examples[i], answers.predictions[i]));
  return json_response({{"model", hosted.name()}, {"predictions", std::move(predictions)}});
}

HttpResponse Server::explain(HttpRequest& http, AccessRecord& record) {
  const std::string json = read_json(http);
  const Caller caller = caller_of(http);
  const ExplainBody body = parse_explain(json);
  HostedModel& hosted = host_.find(body.model);
  record.model = hosted.name();
  ExplainRequest request;
  request.heads = body.selection.mean_of_heads ? Heads::Mean : Heads::All;
  request.heads.layers = body.selection.layers;
  request.heads.heads = body.selection.heads;
  request.faithfulness = body.faithfulness;
  request.truth = body.truth;
  request.without = body.without;
  request.most_weights = options_.max_weights / (request.faithfulness ? kFaithfulnessShare : 1);
  Example example = parse(hosted.model(), body.input.line, body.input.field);
  check_units(hosted.model().units(example), options_.max_units, body.input.field);
  check_field("without", [&] { check_away(example, body.without); });
  check_weights(hosted.model().weights(example, request), request.most_weights);
  HttpResponse response;
  response.compress = true;
  if (body.html) {
    response.type = "text/html; charset=utf-8";
    response.headers.emplace_back(
        "Content-Disposition", concat("attachment; filename=\"", file_name(hosted.name()), "\""));
  }
  response.body = hosted.batcher().explain_with(
      [example = std::move(example), request, selection = body.selection,
       html = body.html](ServedModel& model) {
        Explanation explanation = model.explain(example, request);
        select_parts(explanation, selection);
        return html ? report_html({&explanation, 1}) : text_of(explanation_to_json(explanation));
      },
      caller);
  return response;
}

HttpResponse Server::query_key(HttpRequest& http, AccessRecord& record) {
  const std::string json = read_json(http);
  const Caller caller = caller_of(http);
  const QueryKeyBody body = parse_query_key(json);
  HostedModel& hosted = host_.find(body.model);
  record.model = hosted.name();
  Example example = parse(hosted.model(), body.input.line, body.input.field);
  check_units(hosted.model().units(example), options_.max_units, body.input.field);
  check_field("without", [&] { check_away(example, body.without); });
  HttpResponse response = json_response(hosted.batcher().explain_with(
      [example = std::move(example), place = body.place,
       without = body.without](ServedModel& model) {
        return query_key_to_json(model.query_key(example, place, without));
      },
      caller));
  response.compress = true;
  return response;
}

HttpResponse Server::embeddings(HttpRequest& http, AccessRecord& record) {
  const std::string json = read_json(http);
  const EmbeddingsBody body = parse_embeddings(json);
  HostedModel& hosted = host_.find(body.model);
  record.model = hosted.name();
  HttpResponse response = json_response(hosted.batcher().explain_with(
      [of = body.of](ServedModel& model) { return model.embeddings(of); }, caller_of(http)));
  response.compress = true;
  return response;
}

HttpResponse Server::tell_events(HttpRequest& http, AccessRecord& record, HostedModel& hosted,
                                 const EventWork& work) {
  HttpResponse head;
  head.type = "text/event-stream";
  add_headers(http, head);
  head.headers.emplace_back("X-Request-Id", record.id);
  const auto reader = std::make_shared<StreamReader>(http, head);
  HttpResponse response;
  response.is_streamed = true;
  try {
    hosted.batcher().explain_with(
        [work, reader](ServedModel& model) {
          work(model, [&](const Json& event) { reader->tell(event); });
          return true;
        },
        Caller(seconds_from_now(kMostSecondsOfStream), [reader] { return reader->is_gone(); }));
  } catch (...) {
    std::string detail;
    const HttpError error = error_of(std::current_exception(), detail);
    if (!reader->end(error.to_json())) throw;
    record.error = detail.empty() ? error.what() : detail;
    return response;
  }
  reader->end(nullptr);
  return response;
}

HttpResponse Server::tell_last(const HttpRequest& http, HostedModel& hosted,
                               const EventWork& work) {
  Json whole = hosted.batcher().explain_with(
      [work](ServedModel& model) {
        Json last;
        work(model, [&](const Json& event) { last = event; });
        last.erase("done");
        return last;
      },
      caller_of(http));
  whole["model"] = hosted.name();
  return json_response(whole);
}

/// An event a token, the last with the whole text; or, with "stream": false, the whole alone.
HttpResponse Server::generate(HttpRequest& http, AccessRecord& record) {
  const GenerateBody body = parse_generate(read_json(http));
  HostedModel& hosted = host_.find(body.model);
  record.model = hosted.name();
  if (!hosted.model().generates())
    throw HttpError(422, "unsupported",
                    concat(hosted.name(), " writes no text; POST /v1/predict answers"), "model");
  if (body.request.tokens > options_.max_length)
    throw HttpError(422, "too_long",
                    concat("tokens: ", body.request.tokens, ", this server writes at most ",
                           options_.max_length),
                    "tokens");
  const Example example = parse(hosted.model(), body.input.line, body.input.field);
  check_units(hosted.model().units(example), options_.max_units, body.input.field);
  const auto work = [example, request = body.request](ServedModel& model, const Tell& tell) {
    model.generate(example, request, tell);
  };
  return body.stream ? tell_events(http, record, hosted, work) : tell_last(http, hosted, work);
}

/// An event now and then with how far the search is, the last with what was found; or that alone.
HttpResponse Server::flip(HttpRequest& http, AccessRecord& record) {
  const FlipBody body = parse_flip(read_json(http));
  HostedModel& hosted = host_.find(body.model);
  record.model = hosted.name();
  const Example example = parse(hosted.model(), body.input.line, body.input.field);
  check_units(hosted.model().units(example), options_.max_units, body.input.field);
  check_weights(hosted.model().weights(example, {}), options_.max_weights);
  if (!body.axis.empty()) check_field("axis", [&] { check_axis(example, body.axis); });
  const auto work = [example, body](ServedModel& model, const Tell& tell) {
    model.find_flip(example, {body.axis, body.most}, tell);
  };
  return body.stream ? tell_events(http, record, hosted, work) : tell_last(http, hosted, work);
}

}  // namespace fovea::serving

#include "fovea/serving/web_pages.h"

#include <map>

#include "fovea/base/base64.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/web_files.h"
#include "fovea/serving/sha256.h"

namespace fovea::serving {

namespace {

/// What goes with a file, made once.
struct Prepared {
  std::string tag;
  std::string policy;  // documents only
};

const std::map<std::string_view, Prepared>& prepared() {
  static const auto made = [] {
    std::map<std::string_view, Prepared> all;
    for (const WebFile& file : web_files()) {
      ContentHash hash;
      hash.add(file.content);
      Prepared& entry = all[file.path];
      entry.tag = concat("\"", hash.text().substr(hash.text().find(':') + 1), "\"");
      if (file.path.ends_with(".html")) entry.policy = page_policy(file.content);
    }
    return all;
  }();
  return made;
}

}  // namespace

std::string page_policy(std::string_view html) {
  std::string hashes;
  for (size_t at = html.find("<script"); at != std::string_view::npos;
       at = html.find("<script", at + 1)) {
    const size_t begin = html.find('>', at), end = html.find("</script>", at);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) break;
    if (html.substr(at, begin - at).find(" src=") != std::string_view::npos) continue;
    const Digest digest = sha256(html.substr(begin + 1, end - begin - 1));
    hashes +=
        concat(" 'sha256-",
               base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()}), "'");
  }
  return concat("default-src 'none'; script-src 'self'", hashes,
                "; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src blob: "
                "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
                "'none'");
}

HttpResponse web_file(std::string_view path, const HttpRequest& request) {
  const WebFile* file = find_web_file(path);
  if (!file)
    throw HttpError(404, "not_found", concat("there is no file ", shorten_bytes(path, 200)));
  HttpResponse response;
  const Prepared& known = prepared().at(file->path);
  response.headers = {{"ETag", known.tag}, {"Cache-Control", "no-cache"}};
  if (!known.policy.empty()) response.headers.emplace_back("Content-Security-Policy", known.policy);
  if (request.header("if-none-match") == known.tag) {
    response.status = 304;
    return response;
  }
  response.type = file->type;
  response.body = file->content;
  response.compress = true;
  return response;
}

}  // namespace fovea::serving

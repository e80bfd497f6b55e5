// The page and its files as answers: types, entity tags, and a content security policy that lets
// the page load what came with the server and nothing else.
#pragma once

#include <string_view>

#include "fovea/serving/http_message.h"

namespace fovea::serving {

/// The file of web/ under that path, or 304 when the client has it already. HttpError 404.
HttpResponse web_file(std::string_view path, const HttpRequest& request);

/// The page's policy: scripts of the server, and the inline ones that `html` has, by their hash.
std::string page_policy(std::string_view html);

}  // namespace fovea::serving

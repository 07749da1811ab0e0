#pragma once
// The interface of services that answer requests: S3 over a directory, a proxy, the control URL. Connections parse,
// pace and send.
#include <functional>
#include <memory>
#include <string_view>

#include "tests/object_server/http.hpp"

namespace ouzel::object_server {

/// One request, from its head to its answer.
class Exchange {
public:
   using Responder = std::function<void(HttpResponse)>;
   virtual ~Exchange() = default;
   /// Takes the next bytes of the body, without HTTP's framing.
   virtual void consume(std::string_view bytes) = 0;
   /// Called when the body is complete: runs the request and calls `respond`, now or later.
   virtual void finish(Responder respond) = 0;
   /// The name for counters and log, e.g. "PutObject".
   virtual const char* kind() const = 0;
};

class Service {
public:
   virtual ~Service() = default;
   virtual std::unique_ptr<Exchange> begin(const HttpRequest& request) = 0;
};

} // namespace ouzel::object_server

#pragma once
// The proxy: forwards requests to another server with unchanged headers, so that signatures stay valid. Receives each
// answer as a whole, and then sends it at the model's pace and with its faults.
#include <memory>
#include <netinet/in.h>
#include <string>
#include <vector>

#include "tests/object_server/event_loop.hpp"
#include "tests/object_server/service.hpp"

namespace ouzel::object_server {

class UpstreamConnection;

class UpstreamService final : public Service {
public:
   /// `address`: HOST:PORT with a numeric address. Throws std::invalid_argument.
   UpstreamService(EventLoop& loop, const std::string& address);
   std::unique_ptr<Exchange> begin(const HttpRequest& request) override;

   /// Sends `message`, an encoded request. `isHead`: its answer has no body.
   void send(std::string message, bool isHead, Exchange::Responder respond, bool onFresh = false);

private:
   friend class UpstreamConnection;
   EventLoop& loop_;
   sockaddr_in address_{};
   std::vector<uint64_t> idle_;
};

} // namespace ouzel::object_server

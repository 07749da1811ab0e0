#pragma once
// One client's connection: parses requests, passes them to the service, and sends the answers at the network model's
// pace and with the faults drawn for them.
//
//    Head --> Body --> Answering --> Delayed --> Sending --> Head ...
//      a request's head   its service    latency,     head and body
//      is complete        responds       stalls       are sent
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "tests/object_server/chunk_decoder.hpp"
#include "tests/object_server/counters.hpp"
#include "tests/object_server/event_loop.hpp"
#include "tests/object_server/faults.hpp"
#include "tests/object_server/network_model.hpp"
#include "tests/object_server/service.hpp"
#include "tests/object_server/settings.hpp"
#include "tests/object_server/transport.hpp"

namespace ouzel::object_server {

/// Objects that all connections share. Outlives them.
struct Site {
   EventLoop& loop;
   Settings& settings;
   Counters& counters;
   FaultPlan& faults;
   Service& service; ///< its requests get the network model and faults
   Service& control; ///< its requests get neither
   SharedLane& inward;
   SharedLane& outward;
   FILE* log = nullptr; ///< null: none
   bool (*isControl)(const HttpRequest& request) = nullptr;
};

class Connection final : public Endpoint {
public:
   Connection(Site& site, Descriptor socket, SSL_CTX* tls);
   ~Connection() override;
   void onReady(uint32_t events) override;
   bool isDone() const override { return state_ == State::Closed; }
   /// Takes the service's answer to request number `number` of this connection.
   void respond(uint64_t number, HttpResponse response);

private:
   enum class State : uint8_t { Head, Body, Answering, Delayed, Sending, Closed };
   /// Result of a step. Blocked: an event or a timer will continue the connection.
   enum class Step : uint8_t { Progress, Blocked };

   void run();
   Step takeHead();
   void beginRequest();
   Step takeBody();
   Step receiveBody();
   bool acceptBody(char* bytes, size_t size);
   void finishBody();
   Step waitForDelay();
   Step sendSome();
   ptrdiff_t sendRange(uint64_t position, size_t size);
   ptrdiff_t sendFlipped();
   /// Does the drawn fault. False: the connection is closed or must wait.
   bool doFault();
   void finishRequest();
   void endRequest();
   void close();
   void reset();
   void count(FaultKind kind) { ++site_.counters.faults[static_cast<size_t>(kind)]; }
   void wakeAt(TimePoint time);

   Site& site_;
   Transport transport_;
   State state_ = State::Head;
   bool isReadable_ = true, isWritable_ = true;
   std::string input_; ///< received bytes that are not used yet

   // The request being served.
   uint64_t number_ = 0;
   bool isServing_ = false, isControl_ = false, isFinishing_ = false;
   HttpRequest request_;
   std::unique_ptr<Exchange> exchange_; ///< null: the answer is an error, and the body is ignored
   std::optional<ChunkDecoder> decoder_;
   uint64_t received_ = 0; ///< received bytes of the body, with framing
   Fault fault_;
   std::optional<uint64_t> faultAt_; ///< place of the fault in the request's body, later in the answer
   Pace pace_;
   TimePoint begunAt_{}, resumeAt_{}, armedFor_{};

   // The answer.
   HttpResponse response_;
   std::string text_; ///< head, and a body in memory
   uint64_t headSize_ = 0, size_ = 0, sent_ = 0;
};

} // namespace ouzel::object_server

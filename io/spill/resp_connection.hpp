#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/net/stream.hpp"
#include "io/spill/memory_address.hpp"

namespace ouzel::io {

/// A connection to a Valkey or Redis server: commands and replies of its protocol, RESP2. Commands are pipelined: any
/// number may be sent before the first reply, and replies come in the order of the commands. Used by one thread.
class RespConnection {
public:
   /// Connects and authenticates. Null: `error` and `reason` tell why. `tls` must outlive the connection, and is null
   /// for a plain one.
   static std::unique_ptr<RespConnection> open(const MemoryAddress& address, const TlsClientContext* tls, int& error,
                                               std::string& reason);

   struct Reply {
      std::string error; ///< text of an error reply; empty: none
      uint64_t size = 0; ///< of a bulk reply; what fits into the target was stored there
   };

   /// Queues a command. `last`: one more argument, which must stay valid until the reply has come.
   /// `target`: where a bulk reply goes.
   void send(std::span<const std::string_view> arguments, std::span<const std::byte> last = {},
             std::span<std::byte> target = {});
   /// Sends and receives what can be without waiting. False: the connection is broken.
   bool progress();
   /// The next reply that has come. False: none.
   bool take(Reply& reply);
   /// Replies that have not been taken.
   size_t expected() const { return commands_.size() + replies_.size(); }
   /// Waits for all replies. False: the connection is broken, or makes no progress, or the time `until`, steadyNanos(),
   /// is over (0: none).
   bool finish(int64_t until = 0);

   int handle() const { return stream_->handle(); }
   int16_t events() const { return events_; }
   /// steadyNanos() when bytes were last moved.
   int64_t lastMove() const { return lastMove_; }
   /// Whether the idle connection is of no use any more: the server has closed it, or sends what nobody asked for.
   /// REQUIRES: no reply is expected.
   bool isClosed();
   int error() const { return error_; }
   std::string reason() const;

   /// Time without progress after which a server counts as gone.
   static constexpr int64_t patienceNanos = 10'000'000'000;
   /// Most time to connect to an address of the server and to authenticate.
   static constexpr int64_t connectNanosMax = 3'000'000'000;

private:
   explicit RespConnection(std::unique_ptr<Stream> stream);
   bool authenticate(const MemoryAddress& address, int64_t until);
   bool waitForStream(StreamStatus status, int64_t until);
   bool sendSome();
   bool receiveSome();
   /// Takes replies out of the input. False: the server does not keep to the protocol.
   bool parse();
   bool parseLine(std::string_view line);
   void fail(int error, std::string reason);

   /// Bytes to be sent: those of `text`, or those that an argument refers to.
   struct Piece {
      std::string text;
      std::span<const std::byte> bytes;
      size_t done = 0;
   };

   struct Command {
      std::span<std::byte> target;
      uint64_t end; ///< queuedBytes_ behind it
   };

   std::unique_ptr<Stream> stream_;
   std::deque<Piece> output_;
   std::deque<Command> commands_; ///< whose replies have not come
   uint64_t queuedBytes_ = 0, sentBytes_ = 0;
   std::deque<Reply> replies_;
   std::vector<char> input_;
   size_t inputBegin_ = 0, inputEnd_ = 0;
   bool isInBulk_ = false;
   uint64_t bulkSize_ = 0, bulkDone_ = 0; ///< of the bulk reply that is coming, without the line end
   int16_t events_ = 0;
   int64_t lastMove_ = 0;
   int error_ = 0;
   std::string reason_;
};

} // namespace ouzel::io

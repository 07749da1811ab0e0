#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/value/batch.hpp"
#include "common/value/sql_type.hpp"

// The receivers of a statement's output. Implemented by server/ over the wire protocol and by tests. All calls come
// from the session thread that runs the statement, and may block on the client.

namespace ouzel::engine {

/// One column of a result: its description for clients and how its values lie in a Batch.
struct ResultColumn {
   std::string name;
   SqlType type;
   Representation representation;
   Oid tableOid = invalidOid; ///< a plain reference to a table's column, or 0
   int16_t attribute = 0;
};

/// The bytes of COPY FROM STDIN, in pieces that may end anywhere.
class CopySource {
public:
   virtual ~CopySource() = default;
   /// The next piece, valid until the next call; nullopt at the end. Throws 57014 when the client gave up.
   virtual std::optional<std::string_view> read() = 0;
};

class ResultSink {
public:
   virtual ~ResultSink() = default;
   /// Once per result, before its first rows, also when there are none. `columns` outlives the statement's execution.
   virtual void begin(const std::vector<ResultColumn>& columns) = 0;
   /// The live rows of `batch`, in order. The views are not used after the call.
   virtual void rows(const Batch& batch) = 0;
   virtual CopySource& beginCopyIn(bool binary, uint16_t columns) = 0;
   virtual void beginCopyOut(bool binary, uint16_t columns) = 0;
   /// Row i of COPY TO STDOUT is bytes[ends[i-1], ends[i]).
   virtual void copyRows(std::string_view bytes, std::span<const uint32_t> ends) = 0;
};

struct Notice {
   enum class Severity : uint8_t { Debug, Log, Info, Notice, Warning };
   Severity severity = Severity::Notice;
   SqlState state = sqlstate::successfulCompletion;
   std::string message, detail, hint;
};

class NoticeSink {
public:
   virtual ~NoticeSink() = default;
   virtual void notice(const Notice& notice) = 0;
};

} // namespace ouzel::engine

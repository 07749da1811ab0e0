#pragma once
#include <cstdint>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/value/batch.hpp"
#include "common/value/sql_type.hpp"

// What a client hears from its session: rows, COPY data and notices. The wire protocol implements the receivers, and so
// do commands that send a query's rows elsewhere. All calls come from the session's thread, within a call of Backend or
// Script, and may block on the client.

namespace ouzel {

/// The form of a value on the wire; the numbers are PostgreSQL's format codes.
enum class ValueFormat : int16_t { Text = 0, Binary = 1 };

/// The format of a column, by the formats that Bind asked for: none (all text), one (for all), or one per column.
inline ValueFormat formatOf(std::span<const ValueFormat> requested, size_t column) {
   if (requested.empty()) return ValueFormat::Text;
   return requested[requested.size() == 1 ? 0 : column];
}
/// Throws 08P01 when the number of formats does not fit the number of columns.
void checkFormats(std::span<const ValueFormat> requested, size_t columns);

/// One column of a result: its description for clients, and how its values lie in a Batch.
struct ResultColumn {
   std::string name;
   SqlType type;
   Representation representation;
   Oid tableOid = invalidOid; ///< the column is a plain reference to a table's column, or 0
   int16_t attribute = 0;     ///< of that table, or 0
};

/// COPY FROM STDIN: the client's bytes, in the pieces it sent (a piece may end anywhere inside a row).
class CopySource {
public:
   virtual ~CopySource() = default;
   /// The next piece, valid until the next call; nullopt after CopyDone. Blocks on the client. Throws 57014 "COPY from
   /// stdin failed: ..." after CopyFail, 08P01 for anything else, 57014 when the statement was cancelled.
   virtual std::optional<std::string_view> read() = 0;
};

/// The receiver of a running statement's output. A receiver that is no client needs only begin() and rows().
class ResultSink {
public:
   virtual ~ResultSink() = default;
   /// The formats that the client asked for, see formatOf(). Called before begin(), for portals only; otherwise values
   /// are sent as text.
   virtual void useFormats(std::span<const ValueFormat>) {}
   /// Once per result, before its first rows and also when there are none. `columns` outlives the last rows(). Throws
   /// 08P01 when the formats do not fit the columns.
   virtual void begin(const std::vector<ResultColumn>& columns) = 0;
   /// The live rows of `batch`, in order. The views are not used after the call.
   virtual void rows(const Batch& batch) = 0;
   /// Start COPY FROM STDIN of so many columns; csv is text. The source lives as long as the sink.
   virtual CopySource& beginCopyIn(ValueFormat, uint16_t /*columns*/) { throwInternal("COPY without a client"); }
   /// Start COPY TO STDOUT.
   virtual void beginCopyOut(ValueFormat, uint16_t /*columns*/) { throwInternal("COPY without a client"); }
   /// Rows of COPY TO STDOUT: row i is bytes[ends[i-1], ends[i]).
   virtual void copyRows(std::string_view /*bytes*/, std::span<const uint32_t> /*ends*/) {}
};

/// Encodes a session's values in their text or binary form. Used by the session's thread while a result is sent.
class ValueEncoder {
public:
   virtual ~ValueEncoder() = default;
   /// Whether texts are sent as they lie in memory.
   virtual bool keepsText() const { return true; }
   /// Append the values of the selected rows to `bytes`, one after the other, and the size of `bytes` after the i-th
   /// one to ends[i]. NULL rows append nothing.
   virtual void append(const Vector& values, const Selection& selection, const ResultColumn& column, ValueFormat format,
                       std::string& bytes, uint32_t* ends) const = 0;
};

/// A NOTICE, WARNING, ... for the client; does not end the statement.
struct Notice {
   enum class Severity : uint8_t { Debug, Log, Info, Notice, Warning };
   Severity severity = Severity::Notice;
   SqlState state = sqlstate::successfulCompletion;
   std::string message, detail, hint;
   std::string context = {}; ///< as of an SqlError, as are the names
   std::string schemaName = {}, tableName = {}, columnName = {}, dataTypeName = {}, constraintName = {};
   const char* routine = ""; ///< as of an SqlError
   std::source_location where = std::source_location::current();
};

/// Takes notices at any time while the session handles a request, also outside results.
class NoticeSink {
public:
   virtual ~NoticeSink() = default;
   virtual void notice(const Notice& notice) = 0;
};

} // namespace ouzel

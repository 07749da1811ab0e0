#include "engine/copy/copy_from.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "engine/copy/binary_rows.hpp"
#include "engine/copy/copy_input.hpp"
#include "engine/core/privileges.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "io/format/csv/pending_charge.hpp"
#include "io/format/json/json_splitter.hpp"

// COPY FROM is an INSERT whose rows come from the client or a file. The session's thread reads the input and cuts it
// into chunks of whole rows; workers parse them, as the source of the INSERT's plan.

namespace ouzel::engine {

namespace {

using io::ChunkReader;
using io::CopyChunk;

ChunkReader::Shape shapeOf(SessionCore& core, const CopyTarget& target) {
   const auto isNamed = [](const std::vector<std::string>& list, const std::string& name) {
      return std::find(list.begin(), list.end(), name) != list.end();
   };
   ChunkReader::Shape shape;
   shape.rows = target.options;
   if (target.options.format == CopyFormat::Json) {
      const Oid first = target.columns.empty() ? invalidOid : target.relation->column(target.columns[0])->type.oid;
      shape.rows.isDocument = target.columns.size() == 1 && (first == oid::json || first == oid::jsonb);
      shape.rows.refusesOthers = true;
   }
   shape.format = core.format();
   for (const int16_t attribute : target.columns) {
      const std::string& name = target.relation->column(attribute)->name;
      shape.names.push_back(name);
      shape.forceNotNull.push_back(isNamed(target.options.forceNotNull, name));
      shape.forceNull.push_back(isNamed(target.options.forceNull, name));
   }
   return shape;
}

/// With HEADER MATCH the header line must name the columns.
void checkHeader(const CopyInputTable& table, const CopyChunk& chunk, size_t length) {
   CopyChunk line;
   line.memory.assign(chunk.memory.begin(), chunk.memory.begin() + static_cast<ptrdiff_t>(length));
   line.memory.resize(length + 64);
   line.size = length;
   line.windowsLines = chunk.windowsLines;
   const ChunkReader::Shape& shape = table.shape();
   io::FieldSplitter splitter(shape.rows, table.subject(), shape.names, shape.forceNotNull, shape.forceNull);
   splitter.open(line);
   io::FieldTable fields(static_cast<uint32_t>(shape.names.size()));
   splitter.next(fields);
   for (uint32_t i = 0; i < shape.names.size(); ++i)
      if (fields.column(i)[0] != shape.names[i])
         throw SqlError(sqlstate::badCopyFileFormat,
                        "column name mismatch in header line field " + std::to_string(i + 1) + ": got \"" +
                            std::string(fields.column(i)[0]) + "\", expected \"" + shape.names[i] + "\"")
             .context(table.subject() + ", line 1");
}

/// Cuts the header line off the first chunk.
void takeHeader(const CopyInputTable& table, const CopyTarget& target, CopyChunk& chunk) {
   const std::string_view bytes = chunk.bytes();
   const size_t end = bytes.find('\n');
   const size_t length = end == std::string_view::npos ? bytes.size() : end + 1;
   if (target.options.headerMatch) checkHeader(table, chunk, length);
   chunk.memory.erase(chunk.memory.begin(), chunk.memory.begin() + static_cast<ptrdiff_t>(length));
   chunk.size -= length;
   ++chunk.firstLine;
}

/// Cuts all of the input. An error of the input counts as one after all rows that were cut: a bad row among them is
/// reported instead. What follows a bad row is read and thrown away, as the protocol wants.
template <typename Splitter>
void feed(SessionCore& core, const CopyTarget& target, const CopyInput& input, CopyInputTable& table,
          Splitter& splitter) {
   bool isFirst = true;
   io::PendingCharge pending(core.database.governor->ledger());
   const auto emit = [&](CopyChunk&& chunk) {
      if (std::exchange(isFirst, false) && target.options.header) takeHeader(table, target, chunk);
      if (chunk.size > 0) table.add(std::move(chunk));
   };
   const auto cut = [&](const auto& step) {
      try {
         if (!table.hasEnded()) step();
      } catch (const SqlError& error) {
         table.refuseRest(error);
      }
   };
   while (const auto piece = input()) {
      core.checkInterrupts();
      target.progress->bytes += piece->size();
      cut([&] {
         splitter.feed(*piece, emit);
         pending.hold(splitter.pendingBytes());
      });
   }
   cut([&] { splitter.finish(emit); });
   table.finish();
}

void feed(SessionCore& core, const CopyTarget& target, const CopyInput& input, CopyInputTable& table) {
   if (target.options.format == CopyFormat::Binary) {
      BinarySplitter splitter(target.relation->name, target.columns.size());
      feed(core, target, input, table, splitter);
   } else if (target.options.format == CopyFormat::Json) {
      io::JsonSplitter splitter(io::JsonLayout::Lines);
      feed(core, target, input, table, splitter);
   } else {
      io::RowSplitter splitter(table.shape().rows);
      feed(core, target, input, table, splitter);
   }
}

} // namespace

std::unique_ptr<QueryExecution> planCopy(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target,
                                         io::ExternalTablePtr input) {
   sql::CopyRows rows;
   rows.table = target.relation;
   for (const int16_t attribute : target.columns) {
      const std::string& name = target.relation->column(attribute)->name;
      const auto field = std::find_if(input->columns().begin(), input->columns().end(),
                                      [&](const io::ExternalColumn& column) { return column.name == name; });
      DCHECK(field != input->columns().end());
      rows.columns.push_back({attribute, static_cast<int16_t>(field - input->columns().begin() + 1)});
   }
   rows.input = std::move(input);
   rows.where = target.where;
   sql::BoundQuery query = sql::bindCopy(rows, bind);
   requireAccess(core, query.access);
   auto execution = std::make_unique<QueryExecution>(core, std::move(query));
   execution->countWritten(target.progress->tuples);
   return execution;
}

uint64_t copyFrom(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target, const CopyInput& input) {
   std::vector<SqlType> types;
   for (const int16_t attribute : target.columns)
      types.push_back(withoutDomain(target.relation->column(attribute)->type)); // its checks follow
   const auto table = std::make_shared<CopyInputTable>(target.relation->name, shapeOf(core, target), types,
                                                       2 * core.database.scheduler->workerCount(), *target.progress);
   const auto execution = planCopy(core, bind, target, table);
   execution->runBeside([&] { feed(core, target, input, *table); }, [&] { table->abandon(); });
   execution->run(0, nullptr);
   table->throwRefused();
   finishQuery(core, *execution);
   return execution->rowCount();
}

} // namespace ouzel::engine

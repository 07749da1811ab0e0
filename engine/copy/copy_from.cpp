#include "engine/copy/copy_from.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "engine/copy/binary_rows.hpp"
#include "engine/copy/copy_input.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/session_services.hpp"
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
   std::string_view text = line.bytes();
   while (text.ends_with('\n') || text.ends_with('\r'))
      text.remove_suffix(1);
   const auto refuse = [&](const std::string& message) {
      throw SqlError(sqlstate::badCopyFileFormat, message)
          .context(table.subject() + ", line 1: \"" + io::shownInput(text) + "\"");
   };
   const size_t expected = shape.names.size(), given = io::fieldCount(shape.rows, text);
   if (given != expected)
      refuse("wrong number of fields in header line: got " + std::to_string(given) + ", expected " +
             std::to_string(expected));
   io::FieldSplitter splitter(shape.rows, table.subject(), shape.names, shape.forceNotNull, shape.forceNull);
   splitter.open(line);
   io::FieldTable fields(static_cast<uint32_t>(expected));
   splitter.next(fields);
   for (uint32_t i = 0; i < expected; ++i)
      if (fields.column(i)[0] != shape.names[i])
         refuse("column name mismatch in header line field " + std::to_string(i + 1) + ": got \"" +
                std::string(fields.column(i)[0]) + "\", expected \"" + shape.names[i] + "\"");
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

/// Cuts the input piece by piece. An error of the input counts as one after all rows that were cut: a bad row among
/// them is reported instead. What follows a bad row is read and thrown away, as the protocol wants.
template <typename Splitter>
class Feeder {
public:
   Feeder(SessionCore& core, const CopyTarget& target, const CopyInput& input, CopyInputTable& table, Splitter splitter)
      : core_(core), target_(target), input_(input), table_(table), splitter_(std::move(splitter)),
        pending_(core.database.governor->ledger()) {}

   /// Reads the next piece. False: there is none.
   bool step() {
      const auto emit = [&](CopyChunk&& chunk) {
         if (std::exchange(isFirst_, false) && target_.options.header) takeHeader(table_, target_, chunk);
         if (chunk.size > 0) table_.add(std::move(chunk));
      };
      const auto cut = [&](const auto& body) {
         try {
            if (!table_.hasEnded()) body();
         } catch (const SqlError& error) {
            table_.refuseRest(error);
         }
      };
      const auto piece = input_();
      if (!piece) {
         cut([&] { finish(emit); });
         table_.finish();
         return false;
      }
      core_.checkInterrupts();
      target_.progress->bytes += piece->size();
      cut([&] {
         splitter_.feed(*piece, emit);
         pending_.hold(splitter_.pendingBytes());
      });
      return true;
   }

private:
   template <typename Emit>
   void finish(const Emit& emit) {
      try {
         splitter_.finish(emit);
      } catch (SqlError& error) {
         if constexpr (requires { splitter_.openRow(); })
            if (error.contextText().empty())
               error.setContext(table_.subject() + ", line " + std::to_string(splitter_.openLine()) + ": \"" +
                                io::shownInput(splitter_.openRow()) + "\"");
         throw;
      }
   }

   SessionCore& core_;
   const CopyTarget& target_;
   const CopyInput& input_;
   CopyInputTable& table_;
   Splitter splitter_;
   io::PendingCharge pending_;
   bool isFirst_ = true;
};

/// Calls `body` with what reads the next piece of the input.
template <typename Body>
void withFeeder(SessionCore& core, const CopyTarget& target, const CopyInput& input, CopyInputTable& table,
                const Body& body) {
   const auto run = [&](auto splitter) {
      Feeder feeder(core, target, input, table, std::move(splitter));
      body([&feeder] { return feeder.step(); });
   };
   if (target.options.format == CopyFormat::Binary)
      run(BinarySplitter(target.relation->name, target.columns.size()));
   else if (target.options.format == CopyFormat::Json)
      run(io::JsonSplitter(io::JsonLayout::Lines));
   else
      run(io::RowSplitter(table.shape().rows));
}

/// The session's thread has to run the plan, and reads the input when the plan asks for it.
void runAlone(QueryExecution& execution, CopyInputTable& table, const std::function<bool()>& step) {
   bool hasMore = true;
   table.pullFrom([&] { return hasMore = step(); });
   const auto skipRest = [&] {
      table.abandon();
      while (hasMore)
         hasMore = step();
   };
   try {
      execution.run(0, nullptr);
   } catch (...) {
      skipRest();
      throw;
   }
   skipRest();
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
   if (!execution->triggered().empty()) core.services.fireBefore(*execution);
   return execution;
}

uint64_t copyFrom(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target, const CopyInput& input) {
   std::vector<SqlType> types;
   for (const int16_t attribute : target.columns)
      types.push_back(withoutDomain(target.relation->column(attribute)->type)); // its checks follow
   const auto table = std::make_shared<CopyInputTable>(target.relation->name, shapeOf(core, target), types,
                                                       2 * core.database.scheduler->workerCount(), *target.progress);
   const auto execution = planCopy(core, bind, target, table);
   withFeeder(core, target, input, *table, [&](const std::function<bool()>& step) {
      if (execution->plan().runsRoutines) return runAlone(*execution, *table, step);
      execution->runBeside(
          [&] {
             while (step()) {
             }
          },
          [&] { table->abandon(); });
      execution->run(0, nullptr);
   });
   table->throwRefused();
   finishQuery(core, *execution);
   return execution->rowCount();
}

} // namespace ouzel::engine

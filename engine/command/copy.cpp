#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/row_security.hpp"
#include "engine/command/command.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/copy/copy_from.hpp"
#include "engine/copy/copy_to.hpp"
#include "engine/copy/encoded_text.hpp"
#include "engine/copy/json_copy.hpp"
#include "engine/copy/parquet_copy.hpp"
#include "engine/query/external_files.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "io/format/sequential_input.hpp"
#include "sql/parse/node_access.hpp"

// COPY: between tables or queries and the client or a file of the server.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

/// A file of the server's machine, closed with the object.
class ServerFile {
public:
   ServerFile(const std::string& path, int flags, const char* action) {
      fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
      if (fd_ < 0) {
         const int error = errno;
         throw SqlError(error == ENOENT   ? sqlstate::undefinedFile
                        : error == EACCES ? sqlstate::insufficientPrivilege
                                          : sqlstate::ioError,
                        "could not open file \"" + path + "\" for " + action + ": " + std::strerror(error));
      }
      struct stat status;
      if (::fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode)) {
         ::close(fd_);
         throw SqlError(sqlstate::wrongObjectType, "\"" + path + "\" is a directory");
      }
   }
   ~ServerFile() { ::close(fd_); }
   ServerFile(const ServerFile&) = delete;
   ServerFile& operator=(const ServerFile&) = delete;

   /// Bytes of a regular file, else 0.
   uint64_t size() const {
      struct stat status;
      return ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
   }
   size_t read(char* buffer, size_t size) {
      const ssize_t got = ::read(fd_, buffer, size);
      if (got < 0)
         throw SqlError(sqlstate::ioError, std::string("could not read from COPY file: ") + std::strerror(errno));
      return static_cast<size_t>(got);
   }
   void write(std::string_view bytes) {
      while (!bytes.empty()) {
         const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
         if (put < 0) {
            if (errno == EINTR) continue;
            throw SqlError(errno == ENOSPC ? sqlstate::diskFull : sqlstate::ioError,
                           std::string("could not write to COPY file: ") + std::strerror(errno));
         }
         bytes.remove_prefix(static_cast<size_t>(put));
      }
   }

private:
   int fd_;
};

/// Attributes named in the column list, or all live ones.
std::vector<int16_t> columnsOf(const catalog::Relation& relation, const ::List* names) {
   std::vector<int16_t> columns;
   if (!names) {
      for (const catalog::Column& column : relation.columns)
         if (!column.isDropped && !column.generated) columns.push_back(column.attribute);
      return columns;
   }
   for (const ::Node* name : ListOf<>(names)) {
      const catalog::Column& column = catalog::requireColumn(relation, stringOf(name));
      if (std::find(columns.begin(), columns.end(), column.attribute) != columns.end())
         throw SqlError(sqlstate::duplicateColumn, "column \"" + column.name + "\" specified more than once");
      if (column.generated)
         throw SqlError(sqlstate::invalidColumnReference, "column \"" + column.name + "\" is a generated column")
             .detail("Generated columns cannot be used in COPY.");
      columns.push_back(column.attribute);
   }
   return columns;
}

/// The encoding of COPY's texts. Throws 0A000 where the binary format would have to be read in another one.
CharacterEncoding encodingOf(const SessionCore& core, const CopyOptions& options, bool isFrom) {
   const CharacterEncoding encoding = options.encoding.value_or(core.settings.clientEncoding());
   if (isFrom && options.format == CopyFormat::Binary && ClientText(encoding).converts())
      throwNotSupported("COPY FROM with FORMAT binary in the encoding " + std::string(encodingName(encoding)));
   return encoding;
}

ValueFormat wireFormat(const CopyOptions& options) {
   return options.format == CopyFormat::Binary ? ValueFormat::Binary : ValueFormat::Text;
}

/// Columns of the wire's COPY messages: a JSON document is one.
uint16_t wireColumns(const CopyOptions& options, size_t columns) {
   return options.format == CopyFormat::Json ? uint16_t{1} : static_cast<uint16_t>(columns);
}

constexpr const char* clientHint =
    "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.";

std::string copyIn(CommandContext& context, const ::CopyStmt& statement) {
   SessionCore& core = context.core;
   io::ObjectAccessPtr access;
   if (statement.filename)
      access = requireFileAccess(core, FileAccess::Read, statement.filename, "COPY from a file", clientHint);
   const catalog::SearchPath path = core.searchPath();
   const sql::BindContext bind = core.bindContext(path, &context.source());
   CopyTarget target;
   target.relation = requireTarget(context, path, *statement.relation);
   if (target.relation->persistence != catalog::Persistence::Temporary) requireWritable(core, "COPY FROM");
   if (target.relation->relationKind != catalog::RelationKind::Table) {
      SqlError error(sqlstate::wrongObjectType, "cannot copy to " +
                                                    std::string(catalog::relationKindName(*target.relation)) + " \"" +
                                                    target.relation->name + "\"");
      if (target.relation->relationKind == catalog::RelationKind::View)
         throw std::move(error).hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.");
      throw error;
   }
   if (catalog::isRestricted(core.transaction.catalog(), core.role(), *target.relation))
      throw SqlError(sqlstate::featureNotSupported, "COPY FROM not supported with row-level security")
          .hint("Use INSERT statements instead.");
   if (target.relation->foreign)
      catalog::throwNoAccess(core.transaction.catalog(), *target.relation->foreign, "COPY FROM to foreign tables");
   target.columns = columnsOf(*target.relation, statement.attlist);
   target.options = parseCopyOptions(statement.options, true, context.source());
   const CharacterEncoding encoding = encodingOf(core, target.options, true);
   target.where = statement.whereClause;
   const bool isUnique = hasUniqueKeys(core.transaction.catalog(), target.relation->oid);
   core.transaction.lock(target.relation->oid, isUnique ? LockMode::ShareRowExclusive : LockMode::RowExclusive);
   if (target.relation->partitionKey)
      for (const Oid partition : core.transaction.catalog().allHeirOids(target.relation->oid))
         core.transaction.lock(partition, isUnique ? LockMode::ShareRowExclusive : LockMode::RowExclusive);
   core.transaction.startStatement();
   uint64_t rows = 0;
   std::optional<ServerFile> file;
   const bool isLocal = statement.filename && !io::isObjectUrl(statement.filename);
   if (isLocal && target.options.format != CopyFormat::Parquet) file.emplace(statement.filename, O_RDONLY, "reading");
   CopyProgressList::Entry entry(core.database.copies, {.processId = core.options.processId,
                                                        .relation = target.relation->oid,
                                                        .isFrom = true,
                                                        .isFile = statement.filename != nullptr,
                                                        .hasCondition = target.where != nullptr,
                                                        .bytesTotal = file ? file->size() : 0});
   target.progress = &entry.progress;
   if (target.options.format == CopyFormat::Parquet) {
      if (!statement.filename) throwNotSupported("COPY FROM STDIN with FORMAT parquet");
      rows = copyFromParquet(core, bind, target, statement.filename, statement.attlist != nullptr);
      return "COPY " + std::to_string(rows);
   }
   const auto decoded = [&](CopyInput input) -> CopyInput {
      if (!ClientText(encoding).converts()) return input;
      return [text = std::make_shared<DecodedInput>(encoding, std::move(input))] { return text->next(); };
   };
   if (statement.filename && !isLocal) {
      io::SequentialInput input(statement.filename, access);
      rows = copyFrom(core, bind, target, decoded([&] { return input.next(); }));
   } else if (file) {
      std::vector<char> buffer(1 << 20);
      rows = copyFrom(core, bind, target, decoded([&]() -> std::optional<std::string_view> {
                         const size_t got = file->read(buffer.data(), buffer.size());
                         return got ? std::optional(std::string_view(buffer.data(), got)) : std::nullopt;
                      }));
   } else {
      CopySource& source =
          context.sink.beginCopyIn(wireFormat(target.options), wireColumns(target.options, target.columns.size()));
      rows = copyFrom(core, bind, target, decoded([&] { return source.read(); }));
   }
   return "COPY " + std::to_string(rows);
}

/// `source` gets the table that is copied; it stays invalidOid for a query.
std::unique_ptr<QueryExecution> sourceQuery(CommandContext& context, const ::CopyStmt& statement, Oid& source) {
   SessionCore& core = context.core;
   if (statement.query) {
      if (intoOf(*statement.query)) throwNotSupported("COPY (SELECT INTO)");
      return startQuery(core, context.script, *statement.query, context.parameters);
   }
   const catalog::SearchPath path = core.searchPath();
   const auto relation = requireTarget(context, path, *statement.relation);
   if (relation->relationKind == catalog::RelationKind::View ||
       relation->relationKind == catalog::RelationKind::MaterializedView || relation->foreign)
      throw SqlError(sqlstate::wrongObjectType, "cannot copy from " +
                                                    std::string(catalog::relationKindName(*relation)) + " \"" +
                                                    relation->name + "\"")
          .hint("Try the COPY (SELECT ...) TO variant.");
   if (relation->partitionKey)
      throw SqlError(sqlstate::wrongObjectType, "cannot copy from partitioned table \"" + relation->name + "\"")
          .hint("Try the COPY (SELECT ...) TO variant.");
   source = relation->oid;
   std::string columns;
   for (const int16_t attribute : columnsOf(*relation, statement.attlist))
      columns += (columns.empty() ? "" : ", ") + catalog::quoteIdentifier(relation->column(attribute)->name);
   const std::string text = "SELECT " + columns + " FROM ONLY " +
                            catalog::quoteIdentifier(core.transaction.catalog().schema(relation->schema)->name) + "." +
                            catalog::quoteIdentifier(relation->name);
   const auto script = sql::ParsedScript::parse(text);
   return startQuery(core, script, *script.statements()[0].node, {});
}

std::string copyOut(CommandContext& context, const ::CopyStmt& statement) {
   io::ObjectAccessPtr access;
   if (statement.filename)
      access = requireFileAccess(context.core, FileAccess::Write, statement.filename, "COPY to a file", clientHint);
   CopyOptions options = parseCopyOptions(statement.options, false, context.source());
   options.encoding = encodingOf(context.core, options, false);
   Oid relation = invalidOid;
   const auto execution = sourceQuery(context, statement, relation);
   if (!execution->returnsRows())
      throw SqlError(sqlstate::featureNotSupported, "COPY query must have a RETURNING clause");
   if (statement.filename && statement.filename[0] != '/' && !io::isObjectUrl(statement.filename))
      throw SqlError(sqlstate::invalidName, "relative path not allowed for COPY to file");
   CopyProgressList::Entry entry(
       context.core.database.copies,
       {.processId = context.core.options.processId, .relation = relation, .isFile = statement.filename != nullptr});
   if (options.format == CopyFormat::Parquet) {
      if (!statement.filename) throwNotSupported("COPY TO STDOUT with FORMAT parquet");
      ParquetSink sink(context.core, statement.filename, access, options.parquet, entry.progress);
      sink.begin(execution->columns());
      execution->run(0, &sink);
      sink.finish();
      finishQuery(context.core, *execution);
      return "COPY " + std::to_string(execution->givenRows());
   }
   std::optional<ServerFile> file;
   Reservation memory(context.core.database.governor->ledger());
   std::unique_ptr<io::OutputFile> object;
   if (statement.filename && io::isObjectUrl(statement.filename)) {
      object = io::openOutput(statement.filename, access, memory);
   } else if (statement.filename) {
      file.emplace(statement.filename, O_WRONLY | O_CREAT | O_TRUNC, "writing");
   } else {
      context.sink.beginCopyOut(wireFormat(options), wireColumns(options, execution->columns().size()));
   }
   EncodedOutput::Write write = [&](std::string_view bytes, std::span<const uint32_t> ends) {
      if (object)
         object->write(bytes);
      else
         file ? file->write(bytes) : context.sink.copyRows(bytes, ends);
   };
   if (options.format != CopyFormat::Binary && ClientText(*options.encoding).converts())
      write = EncodedOutput(*options.encoding, std::move(write));
   const auto runInto = [&](auto&& writer) {
      execution->run(0, &writer);
      writer.finish();
   };
   if (options.format == CopyFormat::Json)
      runInto(JsonCopyWriter(options, context.core, entry.progress, write));
   else
      runInto(CopyWriter(options, context.core, entry.progress, write));
   if (object) object->finish();
   finishQuery(context.core, *execution);
   return "COPY " + std::to_string(execution->givenRows());
}

} // namespace

std::string copy(CommandContext& context, const ::CopyStmt& statement) {
   if (statement.is_program) throwNotSupported("COPY PROGRAM");
   return statement.is_from ? copyIn(context, statement) : copyOut(context, statement);
}

} // namespace ouzel::engine

#include "engine/copy/copy_from.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/check.hpp"
#include "common/sync/mutex.hpp"
#include "common/text/utf8.hpp"
#include "common/type/binary_codec.hpp"
#include "common/type/text_codec.hpp"
#include "executor/expression/program.hpp"
#include "executor/kernel/select.hpp"
#include "io/format/csv/field_splitter.hpp"
#include "storage/table/table.hpp"

namespace ouzel::engine {

namespace {

using io::CopyChunk;
using io::FieldSplitter;
using io::FieldTable;
using io::RowSplitter;

/// What a worker needs to know of one column of the table.
struct TargetColumn {
   std::string name;
   SqlType type;
   Representation representation;
   int inputField = -1; ///< position in the input; -1: the default
   FieldParser parser = nullptr;
   bool notNull = false;
   bool isDropped = false;
};

/// Everything that workers share; read-only while rows are loaded.
struct CopyPlan {
   std::string tableName, schemaName;
   CopyOptions options;
   std::vector<TargetColumn> columns;   ///< by storage column
   std::vector<uint32_t> fieldToColumn; ///< storage column of input field i
   std::vector<std::string> fieldNames;
   std::vector<uint8_t> forceNotNull, forceNull;
   SessionFormat format;
   executor::FunctionContext* functions = nullptr;
   storage::Table* table = nullptr;
   storage::Transaction* transaction = nullptr;

   // Expressions over the stored columns: ColumnId i is storage column i.
   sql::ColumnTable columnTable;
   std::vector<std::pair<uint32_t, std::shared_ptr<const executor::ExpressionProgram>>> defaults;
   /// Columns computed from the others of their row.
   std::vector<std::pair<uint32_t, std::shared_ptr<const executor::ExpressionProgram>>> generated;
   struct Check {
      std::string name;
      std::shared_ptr<const executor::ExpressionProgram> program;
   };
   std::vector<Check> checks;
   std::shared_ptr<const executor::ExpressionProgram> where;
};

std::shared_ptr<const executor::ExpressionProgram> compileOverColumns(CopyPlan& plan, sql::BoundExpression bound) {
   // The binder numbers the columns it meets from 0; here column i is attribute i + 1.
   sql::rewriteExpr(bound.expr, [&](sql::ExprPtr& expr) {
      if (expr->kind != sql::ExprKind::Column) return;
      for (const sql::GetColumn& input : bound.inputs)
         if (input.column == expr->column) {
            expr->column = static_cast<sql::ColumnId>(input.attribute - 1);
            return;
         }
   });
   std::vector<sql::ColumnId> layout;
   for (uint32_t i = 0; i < plan.columns.size(); ++i)
      layout.push_back(static_cast<sql::ColumnId>(i));
   return executor::ExpressionProgram::compile(*bound.expr, executor::ColumnSlots(std::span(layout)), plan.columnTable);
}

CopyPlan makePlan(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target,
                  executor::FunctionContext& functions) {
   CopyPlan plan;
   const catalog::Relation& relation = *target.relation;
   plan.tableName = relation.name;
   plan.schemaName = core.transaction.catalog().schema(relation.schema)->name;
   plan.options = target.options;
   plan.format = core.format();
   plan.functions = &functions;
   plan.table = core.database.storage->find(relation.storage).get();
   plan.transaction = &core.transaction.storage();
   for (const catalog::Column& column : relation.columns) {
      TargetColumn out;
      out.name = column.name;
      out.type = column.type;
      out.representation = storedRepresentation(column.type);
      out.parser = fieldParser(column.type);
      out.notNull = column.notNull;
      out.isDropped = column.isDropped;
      plan.columns.push_back(std::move(out));
      sql::ColumnInfo info;
      info.name = column.name;
      info.type = column.type;
      info.repr = storedRepresentation(column.type);
      plan.columnTable.add(std::move(info));
   }
   const auto named = [](const std::vector<std::string>& list, const std::string& name) {
      return std::find(list.begin(), list.end(), name) != list.end();
   };
   for (const int16_t attribute : target.columns) {
      const uint32_t index = static_cast<uint32_t>(attribute - 1);
      DCHECK(index < plan.columns.size());
      DCHECK(plan.columns[index].inputField < 0); // each column once
      plan.columns[index].inputField = static_cast<int>(plan.fieldToColumn.size());
      plan.fieldToColumn.push_back(index);
      plan.fieldNames.push_back(plan.columns[index].name);
      plan.forceNotNull.push_back(named(target.options.forceNotNull, plan.columns[index].name));
      plan.forceNull.push_back(named(target.options.forceNull, plan.columns[index].name));
   }
   for (const catalog::Column& column : relation.columns) {
      const uint32_t index = static_cast<uint32_t>(column.attribute - 1);
      if (column.isDropped || plan.columns[index].inputField >= 0 || !column.hasDefault()) continue;
      if (column.generated) {
         const auto script = sql::ParsedScript::parseExpression(column.defaultExpr);
         sql::BindContext quiet = bind;
         quiet.source = nullptr;
         plan.generated.emplace_back(
             index,
             compileOverColumns(plan, sql::bindExpression(*script.expression(), sql::ExpressionUse::GeneratedColumn,
                                                          &relation, column.type, column.name, quiet)));
         continue;
      }
      const sql::ExprPtr expr = sql::bindColumnDefault(relation, column, bind);
      plan.defaults.emplace_back(
          index, executor::ExpressionProgram::compile(*expr, executor::ColumnSlots(), plan.columnTable));
   }
   for (const catalog::Constraint& constraint : relation.constraints) {
      if (constraint.kind != catalog::ConstraintKind::Check) continue;
      const auto script = sql::ParsedScript::parseExpression(constraint.expression);
      sql::BindContext quiet = bind;
      quiet.source = nullptr;
      plan.checks.push_back(
          {constraint.name,
           compileOverColumns(plan, sql::bindExpression(*script.expression(), sql::ExpressionUse::CheckConstraint,
                                                        &relation, std::nullopt, {}, quiet))});
   }
   if (target.where)
      plan.where = compileOverColumns(
          plan, sql::bindExpression(*target.where, sql::ExpressionUse::CopyWhere, &relation, std::nullopt, {}, bind));
   return plan;
}

/// Turns chunks into rows of the table. One per worker that is loading at a time.
class ChunkLoader {
public:
   explicit ChunkLoader(const CopyPlan& plan)
      : plan_(plan),
        splitter_(plan.options, "COPY " + plan.tableName, plan.fieldNames, plan.forceNotNull, plan.forceNull),
        fields_(static_cast<uint32_t>(plan.fieldNames.size())), rows_(batchRowsMax),
        appender_(plan.table->appender(*plan.transaction, storage::AppendMode::Bulk)) {
      for (const TargetColumn& column : plan.columns) {
         data_.emplace_back(new std::byte[size_t{physicalSize(column.representation.physical)} * batchRowsMax + 16]);
         validity_.emplace_back(validityWords(batchRowsMax));
      }
      for (const auto& [index, program] : plan.defaults)
         defaults_.emplace_back(program, *plan.functions);
      for (const auto& [index, program] : plan.generated)
         generated_.emplace_back(program, *plan.functions);
      for (const CopyPlan::Check& check : plan.checks)
         checks_.emplace_back(check.program, *plan.functions);
      if (plan.where) where_.emplace(plan.where, *plan.functions);
   }

   void load(const CopyChunk& chunk) {
      splitter_.open(chunk);
      while (splitter_.next(fields_))
         storeRows();
   }
   /// Rows that came as values (binary format): column c of row r at value(c, r).
   void beginRows() {
      arena_.reset();
      fields_.rows = 0;
   }
   void* valueSlot(uint32_t column, uint32_t row) {
      DCHECK(column < data_.size());
      DCHECK(row < batchRowsMax);
      return alignedData(column) + size_t{physicalSize(plan_.columns[column].representation.physical)} * row;
   }
   void setValid(uint32_t column, uint32_t row, bool valid) { setValidBit(validity_[column].data(), row, valid); }
   Arena& arena() { return arena_; }
   void endRows(uint32_t count, uint64_t firstLine) {
      DCHECK(count <= batchRowsMax);
      fields_.rows = count;
      for (uint32_t i = 0; i < count; ++i)
         fields_.lines[i] = firstLine + i;
      appendRows();
   }
   void finish() { appender_->finish(); }
   uint64_t rowCount() const { return loaded_; }

private:
   std::byte* alignedData(uint32_t column) {
      return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(data_[column].get()) + 15) & ~uintptr_t{15});
   }
   void storeRows() {
      arena_.reset();
      for (uint32_t field = 0; field < plan_.fieldToColumn.size(); ++field)
         parseColumn(plan_.fieldToColumn[field], fields_.column(field));
      appendRows();
   }
   void parseColumn(uint32_t index, const std::string_view* texts);
   [[noreturn]] void badField(const SqlError& error, uint32_t index, uint32_t row, std::string_view text) const;
   void appendRows();
   void checkRows(const Batch& batch, Selection rows);
   std::string failingRow(const Batch& batch, uint32_t row) const;

   const CopyPlan& plan_;
   FieldSplitter splitter_;
   FieldTable fields_;
   Arena arena_;
   std::vector<std::unique_ptr<std::byte[]>> data_;
   std::vector<std::vector<ValidityWord>> validity_;
   std::vector<RowIndex> rows_;
   std::vector<executor::ExpressionState> defaults_, generated_, checks_;
   std::optional<executor::ExpressionState> where_;
   std::unique_ptr<storage::Appender> appender_;
   uint64_t loaded_ = 0;
};

void ChunkLoader::parseColumn(uint32_t index, const std::string_view* texts) {
   const TargetColumn& column = plan_.columns[index];
   const uint32_t size = physicalSize(column.representation.physical), count = fields_.rows;
   std::byte* out = alignedData(index);
   ValidityWord* validity = validity_[index].data();
   std::memset(validity, 0xff, validityWords(count) * sizeof(ValidityWord));
   const bool isText = column.representation.physical == PhysicalType::String;
   for (uint32_t row = 0; row < count; ++row, out += size) {
      const std::string_view text = texts[row];
      if (text.data() == nullptr) {
         setValidBit(validity, row, false);
         std::memset(out, 0, size);
         continue;
      }
      if (isText && findInvalidUtf8(text) != text.size()) {
         try {
            checkUtf8(text);
         } catch (const SqlError& error) {
            badField(error, index, row, text);
         }
      }
      if (column.parser && column.parser(out, text, column.type.typmod, arena_)) continue;
      try {
         parseTextInto(out, column.type, text, plan_.format, arena_);
      } catch (const SqlError& error) {
         badField(error, index, row, text);
      }
   }
}

void ChunkLoader::badField(const SqlError& error, uint32_t index, uint32_t row, std::string_view text) const {
   SqlError withContext = error;
   std::string shown(text.substr(0, 100));
   if (text.size() > 100) shown += "...";
   withContext.setContext("COPY " + plan_.tableName + ", line " + std::to_string(fields_.lines[row]) + ", column " +
                          plan_.columns[index].name + ": \"" + shown + "\"");
   throw withContext;
}

void ChunkLoader::appendRows() {
   static constexpr ValidityWord absent = 0;
   alignas(16) static constexpr std::byte zeros[16] = {};
   Batch batch;
   for (uint32_t i = 0; i < plan_.columns.size(); ++i) {
      const TargetColumn& column = plan_.columns[i];
      const PhysicalType type = column.representation.physical;
      batch.columns.push_back(column.inputField >= 0 ? Vector::flat(type, alignedData(i), validity_[i].data())
                                                     : Vector::constant(type, zeros, &absent));
   }
   batch.setDense(fields_.rows);
   DCHECK(defaults_.size() == plan_.defaults.size());
   DCHECK(generated_.size() == plan_.generated.size());
   for (size_t i = 0; i < plan_.defaults.size(); ++i)
      batch.columns[plan_.defaults[i].first] = plan_.defaults[i].second->evaluate(defaults_[i], batch, batch.selection);
   if (where_) {
      batch.selection = plan_.where->filter(*where_, batch, batch.selection, rows_.data());
      if (batch.selection.count() == 0) return;
   }
   for (size_t i = 0; i < plan_.generated.size(); ++i)
      batch.columns[plan_.generated[i].first] =
          plan_.generated[i].second->evaluate(generated_[i], batch, batch.selection);
   checkRows(batch, batch.selection);
   appender_->append(batch);
   loaded_ += batch.selection.count();
}

void ChunkLoader::checkRows(const Batch& batch, Selection rows) {
   RowIndex failing[batchRowsMax];
   const auto context = [&](uint32_t row) {
      return "COPY " + plan_.tableName + ", line " + std::to_string(fields_.lines[row]);
   };
   for (uint32_t i = 0; i < plan_.columns.size(); ++i) {
      const TargetColumn& column = plan_.columns[i];
      if (!column.notNull || column.isDropped) continue;
      if (executor::selectNull(batch.columns[i], rows, failing) == 0) continue;
      throw SqlError(sqlstate::notNullViolation, "null value in column \"" + column.name + "\" of relation \"" +
                                                     plan_.tableName + "\" violates not-null constraint")
          .detail("Failing row contains (" + failingRow(batch, failing[0]) + ").")
          .context(context(failing[0]))
          .table(plan_.schemaName, plan_.tableName)
          .column(column.name);
   }
   for (size_t i = 0; i < checks_.size(); ++i) {
      const Vector holds = plan_.checks[i].program->evaluate(checks_[i], batch, rows);
      if (executor::selectFalse(holds, rows, failing) == 0) continue;
      throw SqlError(sqlstate::checkViolation, "new row for relation \"" + plan_.tableName +
                                                   "\" violates check constraint \"" + plan_.checks[i].name + "\"")
          .detail("Failing row contains (" + failingRow(batch, failing[0]) + ").")
          .context(context(failing[0]))
          .table(plan_.schemaName, plan_.tableName)
          .constraint(plan_.checks[i].name);
   }
}

std::string ChunkLoader::failingRow(const Batch& batch, uint32_t row) const {
   std::string out;
   for (uint32_t i = 0; i < plan_.columns.size(); ++i) {
      if (plan_.columns[i].isDropped) continue;
      if (!out.empty()) out += ", ";
      const Value value = Value::fromVector(batch.columns[i], row);
      std::string text = value.isNull ? "null" : textOf(plan_.columns[i].type, value, plan_.format);
      out += text.size() > 64 ? text.substr(0, 64) + "..." : text;
   }
   return out;
}

/// Chunks on their way to workers, a bounded number at a time; loaders are lent to whoever works.
class ParallelLoad {
public:
   ParallelLoad(const CopyPlan& plan, TaskRunner& tasks)
      : plan_(plan), tasks_(tasks), chunksMax_(2 * tasks.concurrency()) {}
   ~ParallelLoad() { wait(); }

   void add(CopyChunk chunk) {
      {
         UniqueLock lock(mutex_);
         changed_.wait(lock, [&]() REQUIRES(mutex_) { return running_ < chunksMax_ || error_; });
         if (error_) return;
         ++running_;
      }
      auto shared = std::make_shared<CopyChunk>(std::move(chunk));
      tasks_.submit([this, shared] { run(*shared); });
   }
   bool hasFailed() {
      const MutexLock lock(mutex_);
      return error_ != nullptr;
   }
   uint64_t finish() {
      wait();
      const MutexLock lock(mutex_);
      if (error_) std::rethrow_exception(error_);
      DCHECK(running_ == 0);
      uint64_t rows = 0;
      for (const auto& loader : idle_) {
         loader->finish();
         rows += loader->rowCount();
      }
      return rows;
   }

private:
   void wait() {
      UniqueLock lock(mutex_);
      changed_.wait(lock, [&]() REQUIRES(mutex_) { return running_ == 0; });
   }
   void run(const CopyChunk& chunk) {
      std::unique_ptr<ChunkLoader> loader;
      std::exception_ptr error;
      try {
         {
            const MutexLock lock(mutex_);
            if (!error_ && !idle_.empty()) {
               loader = std::move(idle_.back());
               idle_.pop_back();
            }
         }
         if (!hasFailed()) {
            if (!loader) loader = std::make_unique<ChunkLoader>(plan_);
            loader->load(chunk);
         }
      } catch (...) {
         error = std::current_exception();
      }
      const MutexLock lock(mutex_);
      if (loader) idle_.push_back(std::move(loader));
      // Of several bad rows the first in the input is reported, as a serial load would.
      if (error && (!error_ || chunk.firstLine < errorLine_)) {
         error_ = error;
         errorLine_ = chunk.firstLine;
      }
      DCHECK(running_ > 0);
      --running_;
      changed_.notify_all();
   }

   const CopyPlan& plan_;
   TaskRunner& tasks_;
   const uint32_t chunksMax_;
   Mutex mutex_;
   CondVar changed_;
   std::vector<std::unique_ptr<ChunkLoader>> idle_ GUARDED_BY(mutex_);
   uint32_t running_ GUARDED_BY(mutex_) = 0;
   std::exception_ptr error_ GUARDED_BY(mutex_);
   uint64_t errorLine_ GUARDED_BY(mutex_) = 0;
};

/// The header line says nothing but, with HEADER MATCH, must name the columns.
void takeHeader(const CopyPlan& plan, CopyChunk& chunk) {
   const std::string_view bytes = chunk.bytes();
   const size_t end = bytes.find('\n');
   const size_t length = end == std::string_view::npos ? bytes.size() : end + 1;
   if (plan.options.headerMatch) {
      CopyChunk line;
      line.memory.assign(chunk.memory.begin(), chunk.memory.begin() + static_cast<ptrdiff_t>(length));
      line.memory.resize(length + 64);
      line.size = length;
      line.windowsLines = chunk.windowsLines;
      FieldSplitter splitter(plan.options, "COPY " + plan.tableName, plan.fieldNames, plan.forceNotNull,
                             plan.forceNull);
      splitter.open(line);
      FieldTable fields(static_cast<uint32_t>(plan.fieldNames.size()));
      splitter.next(fields);
      for (uint32_t i = 0; i < plan.fieldNames.size(); ++i)
         if (fields.column(i)[0] != plan.fieldNames[i])
            throw SqlError(sqlstate::badCopyFileFormat,
                           "column name mismatch in header line field " + std::to_string(i + 1) + ": got \"" +
                               std::string(fields.column(i)[0]) + "\", expected \"" + plan.fieldNames[i] + "\"")
                .context("COPY " + plan.tableName + ", line 1");
   }
   chunk.memory.erase(chunk.memory.begin(), chunk.memory.begin() + static_cast<ptrdiff_t>(length));
   chunk.size -= length;
   ++chunk.firstLine;
}

uint64_t loadText(SessionCore& core, const CopyPlan& plan, const CopyInput& input) {
   RowSplitter splitter(plan.options);
   ParallelLoad load(plan, *core.database.scheduler);
   bool isFirst = true;
   const auto emit = [&](CopyChunk&& chunk) {
      if (isFirst && plan.options.header) takeHeader(plan, chunk);
      isFirst = false;
      if (chunk.size > 0) load.add(std::move(chunk));
   };
   while (const auto piece = input()) {
      core.checkInterrupts();
      if (load.hasFailed()) continue; // the rest is read and thrown away, as the protocol wants
      splitter.feed(*piece, emit);
   }
   if (!load.hasFailed()) splitter.finish(emit);
   return load.finish();
}

/// PostgreSQL's binary format: a signature, then per row a field count and length-prefixed fields; -1 ends.
uint64_t loadBinary(SessionCore& core, const CopyPlan& plan, const CopyInput& input) {
   std::string data;
   while (const auto piece = input()) {
      core.checkInterrupts();
      data.append(*piece);
   }
   size_t at = 0;
   uint64_t line = 0;
   const auto bad = [&](const std::string& message) {
      SqlError error(sqlstate::badCopyFileFormat, message);
      if (line > 0) error.setContext("COPY " + plan.tableName + ", line " + std::to_string(line));
      throw error;
   };
   const auto readInt = [&](int bytes) {
      if (data.size() - at < static_cast<size_t>(bytes)) bad("unexpected EOF in COPY data");
      int64_t value = static_cast<int8_t>(data[at]);
      for (int i = 1; i < bytes; ++i)
         value = value * 256 + static_cast<uint8_t>(data[at + static_cast<size_t>(i)]);
      at += static_cast<size_t>(bytes);
      return value;
   };
   constexpr std::string_view signature("PGCOPY\n\377\r\n\0", 11);
   if (data.compare(0, signature.size(), signature) != 0) bad("COPY file signature not recognized");
   at = signature.size();
   if (readInt(4) & ~int64_t{0x1ffff}) bad("unrecognized critical flags in COPY file header");
   at += static_cast<size_t>(readInt(4));
   ChunkLoader loader(plan);
   uint32_t rows = 0;
   loader.beginRows();
   while (true) {
      ++line;
      const int64_t count = readInt(2);
      if (count == -1) break;
      if (count != static_cast<int64_t>(plan.fieldToColumn.size()))
         bad("row field count is " + std::to_string(count) + ", expected " + std::to_string(plan.fieldToColumn.size()));
      for (const uint32_t column : plan.fieldToColumn) {
         const int64_t length = readInt(4);
         void* slot = loader.valueSlot(column, rows);
         loader.setValid(column, rows, length >= 0);
         std::memset(slot, 0, physicalSize(plan.columns[column].representation.physical));
         if (length < 0) continue;
         if (data.size() - at < static_cast<size_t>(length)) bad("unexpected EOF in COPY data");
         parseBinaryInto(slot, plan.columns[column].type,
                         std::string_view(data).substr(at, static_cast<size_t>(length)), loader.arena());
         at += static_cast<size_t>(length);
      }
      if (++rows == batchRowsMax) {
         loader.endRows(rows, line - rows + 1);
         loader.beginRows();
         rows = 0;
      }
   }
   if (rows > 0) loader.endRows(rows, line - rows);
   loader.finish();
   return loader.rowCount();
}

} // namespace

uint64_t copyFrom(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target, const CopyInput& input) {
   executor::FunctionContext functions = core.functionContext();
   const CopyPlan plan = makePlan(core, bind, target, functions);
   return target.options.format == CopyFormat::Binary ? loadBinary(core, plan, input) : loadText(core, plan, input);
}

} // namespace ouzel::engine

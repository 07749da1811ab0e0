#include "sql/parse/parser.hpp"

#include <exception>
#include <optional>
#include <pg_query.h>

#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"
#include "common/thread/interruption.hpp"
#include "sql/parse/node_access.hpp"

// The raw parser, which gives nodes instead of protobuf. libpg_query's public headers do not declare its functions.
extern "C" {
#include <nodes/memnodes.h>
typedef struct {
   List* tree;
   char* stderr_buffer;
   PgQueryError* error;
} PgQueryInternalParsetreeAndError;
PgQueryInternalParsetreeAndError pg_query_raw_parse(const char* input);
MemoryContext pg_query_enter_memory_context(void);
void pg_query_exit_memory_context(MemoryContext ctx);
void pg_query_free_error(PgQueryError* error);
void MemoryContextSetParent(MemoryContext context, MemoryContext newParent);
}

namespace ouzel::sql {

namespace {

uint32_t countCharacters(std::string_view text) {
   uint32_t count = 0;
   for (const char c : text)
      count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
   return count;
}

bool startsWith(std::string_view text, std::string_view prefix) {
   return text.substr(0, prefix.size()) == prefix;
}

bool contains(std::string_view text, std::string_view part) {
   return text.find(part) != std::string_view::npos;
}

/// The SQLSTATE of a parser's error, from its message: the library drops SQLSTATEs, and nearly all errors of the
/// grammar are syntax errors.
SqlState stateOf(std::string_view message) {
   if (startsWith(message, "frame s") || startsWith(message, "frame e")) return sqlstate::windowingError;
   if (contains(message, "not yet implemented") || contains(message, "is not supported") ||
       contains(message, "is only supported for") || contains(message, "no longer supported") ||
       contains(message, "not implemented") || startsWith(message, "CREATE SCHEMA IF NOT EXISTS cannot include"))
      return sqlstate::featureNotSupported;
   if ((startsWith(message, "role name ") && contains(message, "is reserved")) ||
       contains(message, "cannot be used as a role name here"))
      return sqlstate::reservedName;
   if (startsWith(message, "precision for type float")) return sqlstate::invalidParameterValue;
   if (contains(message, "stack depth limit exceeded")) return sqlstate::statementTooComplex;
   if (contains(message, "invalid byte sequence")) return sqlstate::characterNotInRepertoire;
   if (contains(message, "out of memory")) return sqlstate::outOfMemory;
   if (startsWith(message, "conflicting or redundant options") || startsWith(message, "improper use of \"*\""))
      return sqlstate::syntaxError;
   return sqlstate::syntaxError;
}

/// The hints of PostgreSQL's grammar, which the library drops.
std::string hintOf(const std::string& message) {
   if (message == "subquery in FROM must have an alias") return "For example, FROM (SELECT ...) [AS] foo.";
   if (message == "VALUES in FROM must have an alias") return "For example, FROM (VALUES ...) [AS] foo.";
   return {};
}

[[noreturn]] void throwParseError(PgQueryError* error, std::string_view sql) {
   const std::string message = error->message ? error->message : "syntax error";
   const auto position = error->cursorpos > 0 ? static_cast<uint32_t>(error->cursorpos) : 0;
   pg_query_free_error(error);
   if (message == "invalid Unicode escape") { // of E'\u...', or of U&'\...'
      const size_t escape = sql.find('\\', position > 0 ? position - 1 : 0);
      const char letter = escape + 1 < sql.size() ? sql[escape + 1] : '\0';
      if (letter == 'u' || letter == 'U')
         throw SqlError(sqlstate::invalidEscapeSequence, message)
             .at(position)
             .hint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.");
      throw SqlError(sqlstate::syntaxError, message).at(position).hint("Unicode escapes must be \\XXXX or \\+XXXXXX.");
   }
   throw SqlError(stateOf(message), message).at(position).hint(hintOf(message)).routine("scanner_yyerror");
}

std::string_view trim(std::string_view text) {
   const auto begin = text.find_first_not_of(" \t\r\n\f\v");
   if (begin == std::string_view::npos) return text.substr(0, 0);
   return text.substr(begin, text.find_last_not_of(" \t\r\n\f\v") - begin + 1);
}

/// Watches a parse from the allocations of its MemoryContext: the grammar cannot be interrupted elsewhere. While it
/// lives, the statement's check is called for each part of the tree. What the check throws waits here, since it must
/// not pass through C; the library gets an error of its own.
class ParseWatch {
public:
   explicit ParseWatch(MemoryContext context) : context_(context), own_(context->methods), watched_(*own_) {
      watched_.alloc = &ParseWatch::allocate;
      context->methods = &watched_;
      current_ = this;
   }
   ~ParseWatch() {
      context_->methods = own_;
      current_ = nullptr;
   }
   ParseWatch(const ParseWatch&) = delete;
   ParseWatch& operator=(const ParseWatch&) = delete;

   const std::exception_ptr& thrown() const { return thrown_; }

private:
   /// Between two checks the tree grows by so many bytes, which takes a millisecond or two.
   static constexpr size_t bytesBetweenChecks = size_t{1} << 20;

   static void* allocate(MemoryContext context, Size size) {
      ParseWatch& watch = *current_;
      if (context->mem_allocated + size >= watch.checkedAt_ + bytesBetweenChecks && !watch.check(*context))
         palloc(SIZE_MAX); // raises an error, which ends the parse
      return watch.own_->alloc(context, size);
   }
   bool check(const MemoryContextData& context) {
      checkedAt_ = context.mem_allocated;
      if (thrown_) return true; // the library allocates its error
      try {
         checkInterrupted();
      } catch (...) {
         thrown_ = std::current_exception();
      }
      return !thrown_;
   }

   static inline constinit thread_local ParseWatch* current_ = nullptr;
   const MemoryContext context_;
   const MemoryContextMethods* const own_;
   MemoryContextMethods watched_;
   size_t checkedAt_ = 0;
   std::exception_ptr thrown_;
};

} // namespace

SourceText::SourceText(std::string_view text) : text_(text), isAscii_(countCharacters(text) == text.size()) {}

uint32_t SourceText::position(int32_t location) const {
   if (location < 0) return 0;
   const auto offset = std::min<size_t>(static_cast<size_t>(location), text_.size());
   if (isAscii_) return static_cast<uint32_t>(offset + 1);
   return countCharacters(std::string_view(text_).substr(0, offset)) + 1;
}

ParsedScript ParsedScript::parse(std::string_view sql) {
   checkUtf8(sql);
   ParsedScript script;
   script.source_ = std::make_unique<SourceText>(sql);
   const MemoryContext context = pg_query_enter_memory_context();
   // The library frees the contexts below the thread's own when the thread ends.
   MemoryContextSetParent(context, nullptr);
   script.context_ = context;
   PgQueryInternalParsetreeAndError result;
   {
      std::optional<ParseWatch> watch;
      constexpr size_t longBytes = 64 << 10; // shorter texts are parsed at once
      if (sql.size() > longBytes) watch.emplace(context);
      result = pg_query_raw_parse(script.source_->text().c_str());
      std::free(result.stderr_buffer);
      if (watch && watch->thrown()) {
         if (result.error) pg_query_free_error(result.error);
         std::rethrow_exception(watch->thrown());
      }
   }
   if (result.error) throwParseError(result.error, script.source_->text());
   for (const auto* raw : ListOf<RawStmt>(result.tree)) {
      const auto begin = static_cast<uint32_t>(std::max(raw->stmt_location, 0));
      const std::string_view rest = std::string_view(script.source_->text()).substr(begin);
      const auto body = raw->stmt_len > 0 ? rest.substr(0, static_cast<size_t>(raw->stmt_len)) : rest;
      const auto statement = trim(body);
      script.statements_.push_back(
          {raw->stmt, statement, static_cast<uint32_t>(statement.data() - script.source_->text().data())});
   }
   return script;
}

ParsedScript ParsedScript::parseExpression(std::string_view expression) {
   return parse("SELECT " + std::string(expression));
}

const ::Node* ParsedScript::expression() const {
   const auto* select = as<SelectStmt>(statements_.at(0).node);
   return ListOf<ResTarget>(select->targetList).front()->val;
}

ParsedScript::ParsedScript(ParsedScript&& other) noexcept
   : context_(std::exchange(other.context_, nullptr)), source_(std::move(other.source_)),
     statements_(std::move(other.statements_)) {}

ParsedScript::~ParsedScript() {
   if (context_) pg_query_exit_memory_context(static_cast<MemoryContext>(context_));
}

} // namespace ouzel::sql

#include "protocol/session.hpp"

#include <new>

#include "common/audit/audit.hpp"
#include "common/client/notice_level.hpp"
#include "common/error/check.hpp"
#include "common/log/log.hpp"
#include "protocol/error_response.hpp"
#include "protocol/message_reader.hpp"
#include "protocol/message_writer.hpp"

namespace ouzel::protocol {

namespace {

bool isExtendedMessage(char type) {
   return type == 'P' || type == 'B' || type == 'D' || type == 'E' || type == 'C' || type == 'H';
}

/// The connection's line in the log while a message is handled. Afterwards there is no statement: its text may go.
class LoggedMessage {
public:
   explicit LoggedMessage(LogSession* log) : log_(log) {}
   ~LoggedMessage() {
      if (!log_) return;
      log_->statement = {};
      log_->owner.reset();
   }
   LoggedMessage(const LoggedMessage&) = delete;
   LoggedMessage& operator=(const LoggedMessage&) = delete;

private:
   LogSession* const log_;
};

const char* idleName(TransactionStatus status) {
   if (status == TransactionStatus::Failed) return "idle in transaction (aborted)";
   return status == TransactionStatus::InBlock ? "idle in transaction" : "idle";
}

/// Run `body` and turn every other exception into an SqlError, so that handlers see a single type.
template <typename Body>
void withSqlErrors(Body&& body) {
   try {
      body();
   } catch (const SqlError&) {
      throw;
   } catch (const std::bad_alloc&) {
      throw SqlError(sqlstate::outOfMemory, "out of memory");
   } catch (const std::exception& error) {
      throw SqlError(sqlstate::internalError, error.what());
   }
}

} // namespace

Session::Session(Transport& transport, Doorkeeper& doorkeeper, Options options)
   : transport_(transport), doorkeeper_(doorkeeper), options_(std::move(options)), results_(out_, transport) {}

Session::~Session() = default;

Session::Next Session::handle(const Frame& frame) {
   try {
      if (phase_ == Phase::Ready) {
         handleReady(frame);
      } else if (phase_ != Phase::Closed) {
         Next next = Next::Continue;
         withSqlErrors([&] {
            if (phase_ == Phase::Startup)
               next = handleFirstPacket(frame.payload);
            else
               handlePassword(frame.payload);
         });
         if (refusal_) return Next::Refuse;
         if (next != Next::Continue) return next;
      }
   } catch (const ConnectionLost&) {
      phase_ = Phase::Closed;
   } catch (const SqlError& error) {
      return end(error);
   }
   return phase_ == Phase::Closed ? Next::Close : Next::Continue;
}

void Session::logError(const SqlError& error, ErrorSeverity severity, std::string_view logDetail) const {
   const LogLevel level = severity == ErrorSeverity::Fatal ? LogLevel::Fatal : LogLevel::Error;
   if (!options_.log || !isLogged(level)) return;
   if (logDetail.empty()) logDetail = error.logDetailText();
   if (logDetail.empty()) logDetail = error.detailText();
   logRecord({.level = level,
              .message = error.what(),
              .state = error.state().text(),
              .detail = logDetail,
              .hint = error.hintText(),
              .context = error.contextText(),
              .position = error.position(),
              .where = error.where(),
              .internalQuery = error.internalQuery(),
              .internalPosition = error.internalPosition()});
}

void Session::auditRefusal(const SqlError& error) const {
   if (!options_.log || options_.log->user.empty()) return; // what has come is no client's startup packet
   audit({.reason = "refused",
          .className = "connection",
          .command = "LOGIN",
          .session = options_.log,
          .state = error.state().text(),
          .message = error.what(),
          .detail = logDetail_.empty() ? std::string_view(error.detailText()) : logDetail_});
}

Session::Next Session::end(const SqlError& fatal) {
   logError(fatal, ErrorSeverity::Fatal, logDetail_);
   if (!backend_ && isAuditOn()) auditRefusal(fatal);
   phase_ = Phase::Closed;
   try {
      appendErrorResponse(out_, fatal, ErrorSeverity::Fatal, clientText());
      flush();
   } catch (const SqlError&) {
      // The client is gone; the session ends without the message.
   }
   return Next::Close;
}

void Session::notice(const Notice& notice) {
   if (options_.log)
      logRecord({.level = levelOf(notice.severity),
                 .message = notice.message,
                 .state = notice.state.text(),
                 .detail = notice.detail,
                 .hint = notice.hint,
                 .hidesPlace = true});
   appendNoticeResponse(out_, notice, clientText());
   // Sent at once, so that the client sees it while a long statement runs.
   if (phase_ == Phase::Ready) flush();
}

void Session::releaseIdleMemory() {
   if (out_.empty()) std::string().swap(out_);
   std::string().swap(query_);
   results_.releaseIdleMemory();
}

void Session::flush() {
   results_.flush();
}

void Session::handleReady(const Frame& frame) {
   DCHECK(phase_ == Phase::Ready);
   DCHECK(backend_ != nullptr);
   const char type = frame.type;
   const LoggedMessage logged(options_.log);
   isIdle_ = false;
   if (type == 'X') {
      phase_ = Phase::Closed;
      return;
   }
   if (type == 'S') drainToSync_ = false;
   if (drainToSync_) return;
   try {
      withSqlErrors([&] {
         const MessageReader reader(frame.payload);
         switch (type) {
         case 'Q': handleQuery(frame.payload); break;
         case 'P': handleParse(reader); break;
         case 'B': handleBind(reader); break;
         case 'D': handleDescribe(reader); break;
         case 'E': handleExecute(reader); break;
         case 'C': handleClose(reader); break;
         case 'H':
            reader.end();
            flush();
            break;
         case 'S': handleSync(reader); break;
         case 'F': handleFunctionCall(reader); break;
         case 'd':
         case 'c':
         case 'f': break; // rule 4
         default:
            throw SqlError(sqlstate::protocolViolation,
                           "invalid frontend message type " + std::to_string(static_cast<unsigned char>(type)));
         }
      });
   } catch (const ConnectionLost& lost) {
      logError(lost, ErrorSeverity::Fatal);
      throw;
   } catch (const SqlError& error) {
      reportError(error, isExtendedMessage(type));
   }
}

void Session::reportError(const SqlError& error, bool isExtended) {
   DCHECK(backend_ != nullptr); // authentication has made it
   const bool isFatal = endsConnection(error.state());
   if (!isFatal) logError(error, ErrorSeverity::Error); // in the transaction that fails
   backend_->fail(); // before flush(), which may wait for the client: locks must not be held that long
   if (isFatal) {
      end(error);
      return;
   }
   appendErrorResponse(out_, error, ErrorSeverity::Error, clientText());
   if (isExtended) {
      drainToSync_ = true;
      flush();
   } else {
      readyForQuery();
   }
}

void Session::writeNotifications() {
   const ClientText client = clientText();
   for (const Notification& message : backend_->notifications())
      MessageWriter(out_, 'A')
          .int32(static_cast<uint32_t>(message.processId))
          .cstring(client.toClientAnyway(message.channel))
          .cstring(client.toClientAnyway(message.payload))
          .finish();
}

void Session::deliver() {
   if (!isIdle_ || !backend_) return;
   writeNotifications();
   if (!out_.empty()) flush();
}

void Session::readyForQuery() {
   writeNotifications();
   for (const auto& [name, value] : backend_->changedParameters())
      MessageWriter(out_, 'S').cstring(name).cstring(clientText().toClientAnyway(value)).finish();
   const TransactionStatus status = backend_->transactionStatus();
   if (options_.log) options_.log->command = idleName(status);
   MessageWriter(out_, 'Z').int8(static_cast<uint8_t>(status)).finish();
   flush();
   DCHECK(!drainToSync_);
   isIdle_ = true;
}

void Session::handleQuery(std::string_view payload) {
   MessageReader reader(payload);
   std::string storage;
   query_ = clientText().fromClient(reader.cstring(), storage); // a copy: COPY reads further messages into the frame's
   reader.end();                                                // memory
   {
      const auto script = backend_->parseScript(query_);
      bool isEmpty = true;
      while (script->next()) {
         isEmpty = false;
         results_.startStatement(*backend_, true);
         const ExecuteResult result = script->run(results_);
         results_.finishStatement();
         if (result.kind == ExecuteResult::Kind::Empty)
            appendEmptyMessage(out_, 'I');
         else
            MessageWriter(out_, 'C').cstring(result.tag).finish();
      }
      if (isEmpty) appendEmptyMessage(out_, 'I');
   }
   readyForQuery();
}

} // namespace ouzel::protocol

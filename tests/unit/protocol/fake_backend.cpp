#include "tests/unit/protocol/fake_backend.hpp"

#include <fmt/format.h>

#include "protocol/message_reader.hpp"
#include "protocol/message_writer.hpp"

namespace ouzel::protocol::test {

namespace {

class FakeEncoder : public ValueEncoder {
public:
   void append(const Vector& values, const Selection& selection, const ResultColumn& column, ValueFormat format,
               std::string& bytes, uint32_t* ends) const override {
      for (uint32_t i = 0; i < selection.count(); ++i) {
         const uint32_t row = selection.row(i);
         if (!values.isNull(row)) {
            CHECK(column.type.oid == oid::int4);
            const int32_t value = values.value<int32_t>(row);
            if (format == ValueFormat::Text)
               bytes += std::to_string(value);
            else
               bytes += int32(value);
         }
         ends[i] = static_cast<uint32_t>(bytes.size());
      }
   }
};

ResultColumn intColumn(const std::string& name) {
   return {name, SqlType{oid::int4, -1, 0}, {PhysicalType::I32, 0}, 0, 0};
}

} // namespace

class FakeScript : public Script {
public:
   FakeScript(FakeBackend& backend, std::string_view sql) : backend_(backend), rest_(sql) {}

   bool next() override {
      while (!rest_.empty()) {
         const size_t end = rest_.find(';');
         text_ = rest_.substr(0, end);
         rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
         while (text_.starts_with(' '))
            text_.remove_prefix(1);
         if (!text_.empty()) return true;
      }
      return false;
   }
   ExecuteResult run(ResultSink& sink) override {
      auto statement = FakeBackend::describe(text_);
      FakeBackend::Portal portal{std::string(text_), statement.description, {}, "", 1};
      return backend_.run(portal, 0, sink);
   }

private:
   FakeBackend& backend_;
   std::string_view rest_, text_;
};

std::vector<std::pair<std::string, std::string>> FakeBackend::reportedParameters() {
   return {{"server_version", "15.0"}, {"client_encoding", "UTF8"}};
}

std::vector<std::pair<std::string, std::string>> FakeBackend::changedParameters() {
   if (!std::exchange(settingChanged_, false)) return {};
   return {{"DateStyle", "German"}};
}

const ValueEncoder& FakeBackend::valueEncoder() {
   static const FakeEncoder encoder;
   return encoder;
}

std::unique_ptr<Script> FakeBackend::parseScript(std::string_view sql) {
   if (sql.find("syntax") != std::string_view::npos)
      throw SqlError(sqlstate::syntaxError, "syntax error at or near \"syntax\"").at(3);
   return std::make_unique<FakeScript>(*this, sql);
}

FakeBackend::Statement FakeBackend::describe(std::string_view text) {
   Statement statement;
   statement.text = text;
   if (text.starts_with("rows ")) {
      statement.description = {{}, {}, true, {intColumn("n")}};
   } else if (text == "echo") {
      statement.description = {
          {oid::text}, {oid::text}, true, {{"echo", SqlType{oid::text, -1, 100}, {PhysicalType::String, 0}, 16400, 2}}};
   }
   return statement;
}

void FakeBackend::prepare(std::string_view name, std::string_view sql, std::span<const Oid>) {
   if (sql == "syntax") throw SqlError(sqlstate::syntaxError, "syntax error at or near \"syntax\"").at(1);
   statements_[std::string(name)] = describe(sql);
}

const StatementDescription& FakeBackend::describeStatement(std::string_view name) {
   const auto found = statements_.find(std::string(name));
   if (found == statements_.end())
      throw SqlError(sqlstate::invalidSqlStatementName, fmt::format("prepared statement \"{}\" does not exist", name));
   return found->second.description;
}

void FakeBackend::bind(std::string_view portal, std::string_view statement, std::span<const RawParameter> parameters,
                       std::span<const ValueFormat> resultFormats) {
   const StatementDescription& description = describeStatement(statement);
   if (parameters.size() != description.parameterTypes.size())
      throw SqlError(sqlstate::protocolViolation,
                     fmt::format("bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
                                 parameters.size(), statement, description.parameterTypes.size()));
   checkFormats(resultFormats, description.columns.size());
   Portal made{statements_.at(std::string(statement)).text, description, {}, "", 1};
   made.formats.assign(resultFormats.begin(), resultFormats.end());
   if (!parameters.empty()) made.parameter = parameters[0].bytes;
   portals_[std::string(portal)] = std::move(made);
}

FakeBackend::Portal& FakeBackend::requirePortal(std::string_view name) {
   const auto found = portals_.find(std::string(name));
   if (found == portals_.end())
      throw SqlError(sqlstate::invalidCursorName, fmt::format("portal \"{}\" does not exist", name));
   return found->second;
}

PortalDescription FakeBackend::describePortal(std::string_view name) {
   const Portal& portal = requirePortal(name);
   return {portal.description.returnsRows, portal.description.columns, portal.formats};
}

ExecuteResult FakeBackend::execute(std::string_view portal, uint64_t maxRows, ResultSink& sink) {
   Portal& found = requirePortal(portal);
   sink.useFormats(found.formats);
   return run(found, maxRows, sink);
}

ExecuteResult FakeBackend::run(Portal& portal, uint64_t maxRows, ResultSink& sink) {
   using Kind = ExecuteResult::Kind;
   const std::string& text = portal.text;
   if (portal.description.returnsRows) sink.begin(portal.description.columns);
   if (text.empty()) return {Kind::Empty, ""};
   if (status_ == TransactionStatus::Failed && text != "commit")
      throw SqlError(sqlstate::inFailedSqlTransaction,
                     "current transaction is aborted, commands ignored until end of transaction block");
   if (text.starts_with("rows ")) {
      const int count = std::atoi(text.substr(5, 5).c_str());
      int given = 0;
      for (; portal.next <= count && (maxRows == 0 || given < static_cast<int>(maxRows)); ++portal.next, ++given) {
         const int32_t value = portal.next;
         Batch batch;
         batch.columns.push_back(Vector::constant(PhysicalType::I32, &value, nullptr));
         batch.setDense(1);
         sink.rows(batch);
      }
      if (maxRows != 0 && given == static_cast<int>(maxRows)) return {Kind::Suspended, ""};
      return {Kind::Complete, fmt::format("SELECT {}", given)};
   }
   if (text == "echo") {
      const StringView value(portal.parameter);
      Batch batch;
      batch.columns.push_back(Vector::flat(PhysicalType::String, &value, nullptr));
      batch.setDense(1);
      sink.rows(batch);
      return {Kind::Complete, "SELECT 1"};
   }
   if (text == "copyin") {
      CopySource& source = sink.beginCopyIn(ValueFormat::Text, 2);
      size_t bytes = 0, pieces = 0;
      while (const auto piece = source.read()) {
         bytes += piece->size();
         ++pieces;
      }
      return {Kind::Complete, fmt::format("COPY {}/{}", bytes, pieces)};
   }
   if (text == "copyout") {
      sink.beginCopyOut(ValueFormat::Text, 1);
      const uint32_t ends[] = {2, 5};
      sink.copyRows("a\nbc\n", ends);
      return {Kind::Complete, "COPY 2"};
   }
   if (text == "begin")
      status_ = TransactionStatus::InBlock;
   else if (text == "commit")
      status_ = TransactionStatus::Idle;
   else if (text == "set")
      settingChanged_ = true;
   else if (text == "notice")
      notices_.notice({Notice::Severity::Warning, sqlstate::warning, "careful", "", ""});
   else if (text == "sleep") {
      std::unique_lock lock(mutex_);
      cancelled_.wait(lock, [&] { return cancelReason_.has_value(); });
      if (cancelReason_ == CancelReason::Shutdown)
         throw SqlError(sqlstate::adminShutdown, "terminating connection due to administrator command");
      if (cancelReason_ == CancelReason::Request) cancelReason_.reset();
      throw SqlError(sqlstate::queryCanceled, "canceling statement due to user request");
   } else if (text == "crash")
      throw std::runtime_error("no SqlError");
   else if (text == "shutdown")
      throw SqlError(sqlstate::adminShutdown, "terminating connection due to administrator command");
   else
      throw SqlError(sqlstate::divisionByZero, "division by zero").detail("none").hint("Do not.");
   return {Kind::Complete, text};
}

void FakeBackend::cancel(CancelReason reason) noexcept {
   std::lock_guard lock(mutex_);
   cancelReason_ = reason;
   cancelled_.notify_all();
}

void FakeBackend::sync() {
   if (status_ == TransactionStatus::Idle) portals_.clear();
}

void FakeBackend::fail() noexcept {
   if (status_ != TransactionStatus::Idle) status_ = TransactionStatus::Failed;
   portals_.clear();
}

std::unique_ptr<Backend> FakeDoorkeeper::open(const StartupRequest& request, NoticeSink& notices) {
   if (openBackend) return openBackend(request, notices);
   if (request.database.starts_with("nowhere"))
      throw SqlError(sqlstate::invalidCatalogName, "database \"" + request.database + "\" does not exist");
   return std::make_unique<FakeBackend>(notices);
}

void Conversation::send(std::string_view bytes) {
   if (clientGone) throw ConnectionLost();
   received_ += bytes;
}

Frame Conversation::receive(Phase phase) {
   const auto frame = reader_.next(phase);
   if (!frame) throw ConnectionLost();
   return *frame;
}

std::string Conversation::sayRaw(const std::string& bytes) {
   reader_.append(bytes);
   try {
      while (last == Session::Next::Continue) {
         const auto frame = reader_.next(session.phase());
         if (!frame) break;
         last = session.handle(*frame);
         if (last == Session::Next::Refuse) last = session.end(session.refusal());
      }
   } catch (const SqlError& error) {
      last = session.end(error);
   }
   return std::exchange(received_, {});
}

std::string Conversation::say(const std::string& bytes) {
   return readable(sayRaw(bytes));
}

std::string Conversation::connect() {
   return say(startupPacket({{"user", "postgres"}}));
}

std::string int16(int value) {
   char bytes[2];
   storeInt16(bytes, static_cast<uint16_t>(value));
   return {bytes, 2};
}
std::string int32(int64_t value) {
   char bytes[4];
   storeInt32(bytes, static_cast<uint32_t>(value));
   return {bytes, 4};
}
std::string cstring(const std::string& text) {
   return text + '\0';
}
std::string message(char type, const std::string& payload) {
   return type + int32(static_cast<int64_t>(payload.size()) + 4) + payload;
}
std::string startupPacket(const std::vector<std::pair<std::string, std::string>>& parameters, uint32_t version) {
   std::string payload = int32(version);
   for (const auto& [name, value] : parameters)
      payload += cstring(name) + cstring(value);
   payload += '\0';
   return int32(static_cast<int64_t>(payload.size()) + 4) + payload;
}
std::string query(const std::string& sql) {
   return message('Q', cstring(sql));
}
std::string parse(const std::string& name, const std::string& sql) {
   return message('P', cstring(name) + cstring(sql) + int16(0));
}
std::string bind(const std::string& portal, const std::string& statement, const std::vector<std::string>& parameters,
                 const std::vector<int>& resultFormats) {
   std::string payload = cstring(portal) + cstring(statement) + int16(0) + int16(static_cast<int>(parameters.size()));
   for (const auto& parameter : parameters)
      payload += int32(static_cast<int64_t>(parameter.size())) + parameter;
   payload += int16(static_cast<int>(resultFormats.size()));
   for (const int format : resultFormats)
      payload += int16(format);
   return message('B', payload);
}
std::string describe(char kind, const std::string& name) {
   return message('D', kind + cstring(name));
}
std::string execute(const std::string& portal, int maxRows) {
   return message('E', cstring(portal) + int32(maxRows));
}
std::string syncMessage() {
   return message('S', "");
}

namespace {

std::string readableError(MessageReader& reader) {
   std::string text;
   while (const char field = static_cast<char>(reader.int8())) {
      const auto value = reader.cstring();
      if (field == 'V' || field == 'F' || field == 'L' || field == 'R') continue; // the last three differ by version
      if (field != 'S' && field != 'C' && field != 'M')
         text += fmt::format(" {}:", field);
      else if (field != 'S')
         text += ' ';
      text += value;
   }
   return text;
}

std::string readableRow(MessageReader& reader) {
   std::string text;
   const int count = reader.int16();
   for (int i = 0; i < count; ++i) {
      const int32_t length = reader.int32();
      if (i > 0) text += '|';
      text += length < 0 ? "NULL" : std::string(reader.bytes(static_cast<size_t>(length)));
   }
   return text;
}

std::string readableColumns(MessageReader& reader) {
   std::string text;
   const int count = reader.int16();
   for (int i = 0; i < count; ++i) {
      if (i > 0) text += ',';
      text += reader.cstring();
      const auto table = reader.int32(), attribute = int{reader.int16()}, type = reader.int32();
      const auto length = int{reader.int16()}, typmod = reader.int32();
      text += fmt::format(" {}.{} type {} {} {} format {}", table, attribute, type, length, typmod, reader.int16());
   }
   return text;
}

} // namespace

std::string readable(std::string_view bytes) {
   std::string text;
   while (!bytes.empty()) {
      const char type = bytes[0];
      if (bytes.size() < 5 || loadInt32(bytes.data() + 1) + 1 > bytes.size())
         return text + "rest:" + std::string(bytes);
      MessageReader reader(bytes.substr(5, loadInt32(bytes.data() + 1) - 4));
      bytes.remove_prefix(loadInt32(bytes.data() + 1) + 1);
      text += type;
      switch (type) {
      case 'E':
      case 'N': text += ' ' + readableError(reader); break;
      case 'D': text += ' ' + readableRow(reader); break;
      case 'T': text += ' ' + readableColumns(reader); break;
      case 'C': text += ' ' + std::string(reader.cstring()); break;
      case 'S':
         text += ' ' + std::string(reader.cstring());
         text += '=' + std::string(reader.cstring());
         break;
      case 'Z':
         text += ' ';
         text += static_cast<char>(reader.int8());
         break;
      case 'K': {
         const auto pid = reader.int32();
         text += fmt::format(" {} {}", pid, reader.int32());
         break;
      }
      case 'R':
         text += fmt::format(" {}", reader.int32());
         if (!reader.atEnd()) {
            std::string data(reader.bytes(reader.remaining()));
            while (data.ends_with('\0'))
               data.pop_back();
            text += ' ' + data;
         }
         break;
      case 't': {
         const int count = reader.int16();
         for (int i = 0; i < count; ++i)
            text += fmt::format(" {}", reader.int32());
         break;
      }
      case 'd': text += ' ' + std::string(reader.bytes(reader.remaining())); break;
      case 'V': {
         const int32_t length = reader.int32();
         text += ' ' + (length < 0 ? "NULL" : std::string(reader.bytes(static_cast<size_t>(length))));
         break;
      }
      case 'G':
      case 'H': {
         text += fmt::format(" {}", reader.int8());
         text += fmt::format(" {}", reader.int16());
         reader.bytes(reader.remaining());
         break;
      }
      case 'v': {
         text += fmt::format(" {}", reader.int32());
         const int count = reader.int32();
         for (int i = 0; i < count; ++i)
            text += ' ' + std::string(reader.cstring());
         break;
      }
      default: break;
      }
      reader.end();
      text += '\n';
   }
   return text;
}

} // namespace ouzel::protocol::test

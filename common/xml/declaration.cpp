#include "common/xml/declaration.hpp"

#include "common/error/sql_error.hpp"
#include "common/text/client_text.hpp"
#include "common/text/utf8.hpp"
#include "common/xml/names.hpp"

namespace ouzel::xml {

namespace {

constexpr const char* spaceRequired = "Space required.";
constexpr const char* versionMissing = "Malformed declaration: missing version.";
constexpr const char* encodingMissing = "Missing encoding in text declaration.";
constexpr const char* standaloneValue = "standalone accepts only 'yes' or 'no'.";
constexpr const char* notFinished = "Parsing XML declaration: '?>' expected.";
constexpr const char* invalidCharacter = "Invalid character value.";

/// Takes the parts of a declaration off the front of a text.
class DeclarationReader {
public:
   explicit DeclarationReader(std::string_view text) : rest_(text) {}

   bool skipBlanks() {
      const size_t before = rest_.size();
      while (!rest_.empty() && isBlank(rest_.front()))
         rest_.remove_prefix(1);
      return rest_.size() != before;
   }
   bool take(std::string_view word) {
      if (!rest_.starts_with(word)) return false;
      rest_.remove_prefix(word.size());
      return true;
   }
   bool takeEquals() {
      skipBlanks();
      if (!take("=")) return false;
      skipBlanks();
      return true;
   }
   /// A value in quotes of either kind.
   bool takeQuoted(std::string& out) {
      if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return false;
      const size_t end = rest_.find(rest_.front(), 1);
      if (end == std::string_view::npos) return false;
      out.assign(rest_.substr(1, end - 1));
      rest_.remove_prefix(end + 1);
      return true;
   }
   /// Whether `word` comes next, behind blanks, which are then taken. Without them, `isGlued` becomes true.
   bool takeWord(std::string_view word, bool& isGlued) {
      const std::string_view before = rest_;
      isGlued = !skipBlanks();
      if (take(word)) return true;
      rest_ = before;
      return false;
   }
   std::string_view rest() const { return rest_; }

private:
   std::string_view rest_;
};

DeclarationError readParts(DeclarationReader& reader, Declaration& out) {
   if (!reader.skipBlanks()) return {spaceRequired};
   std::string version;
   if (!reader.take("version") || !reader.takeEquals() || !reader.takeQuoted(version)) return {versionMissing};
   out.version = std::move(version);
   bool isGlued = false;
   if (reader.takeWord("encoding", isGlued)) {
      if (isGlued) return {spaceRequired};
      if (!reader.takeEquals() || !reader.takeQuoted(out.encoding)) return {encodingMissing};
   }
   if (reader.takeWord("standalone", isGlued)) {
      if (isGlued) return {spaceRequired};
      if (!reader.takeEquals()) return {standaloneValue};
      if (reader.take("'yes'") || reader.take("\"yes\""))
         out.standalone = Standalone::Yes;
      else if (reader.take("'no'") || reader.take("\"no\""))
         out.standalone = Standalone::No;
      else
         return {standaloneValue};
   }
   reader.skipBlanks();
   if (!reader.take("?>")) return {notFinished};
   return {};
}

} // namespace

DeclarationError readDeclaration(std::string_view text, Declaration& out) {
   out = {};
   constexpr std::string_view start = "<?xml";
   if (!text.starts_with(start) || beginsWithNameCharacter(text.substr(start.size()))) return {}; // <?xml-stylesheet
   DeclarationReader reader(text.substr(start.size()));
   if (const DeclarationError error = readParts(reader, out); error.detail) return error;
   out.size = text.size() - reader.rest().size();
   for (const char c : text.substr(0, out.size))
      if (static_cast<unsigned char>(c) > 127) return {invalidCharacter};
   return {};
}

bool appendDeclaration(std::string& out, const std::optional<std::string>& version, std::string_view encoding,
                       Standalone standalone) {
   constexpr std::string_view usual = "1.0";
   if (version.value_or(std::string(usual)) == usual && encoding.empty() && standalone == Standalone::Unsaid)
      return false;
   out += "<?xml version=\"" + version.value_or(std::string(usual)) + '"';
   if (!encoding.empty()) out.append(" encoding=\"").append(encoding).append("\"");
   if (standalone != Standalone::Unsaid)
      out += standalone == Standalone::Yes ? " standalone=\"yes\"" : " standalone=\"no\"";
   out += "?>";
   return true;
}

void appendForClient(std::string& out, std::string_view value, std::string_view encoding) {
   if (!value.starts_with("<?xml") && encoding.empty() && !value.starts_with('\n')) {
      out.append(value);
      return;
   }
   Declaration declaration;
   if (readDeclaration(value, declaration).detail) {
      out.append(value);
      return;
   }
   size_t start = declaration.size;
   // The line that the declaration had for itself goes with it.
   if (!appendDeclaration(out, declaration.version, encoding, declaration.standalone) && start < value.size() &&
       value[start] == '\n')
      ++start;
   out.append(value.substr(start));
}

std::string received(std::string_view bytes) {
   Declaration declaration;
   readDeclaration(bytes, declaration);
   const std::string& name = declaration.encoding;
   const auto encoding = name.empty() ? CharacterEncoding::Utf8 : encodingNamed(name);
   if (!encoding) throw SqlError(sqlstate::invalidParameterValue, "invalid encoding name \"" + name + "\"");
   std::string converted;
   const std::string_view text = ClientText(*encoding).fromClient(bytes, converted);
   checkUtf8(text);
   return std::string(text);
}

} // namespace ouzel::xml

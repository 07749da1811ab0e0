#include "catalog/pg_catalog/acl_items.hpp"

#include <algorithm>
#include <charconv>

#include "catalog/object/acl.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "common/type/array_text.hpp"

namespace ouzel::catalog {

namespace {

constexpr std::string_view letters = "arwdDxtXUCTcsA"; ///< in the order of the bits

bool isLetter(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// What PostgreSQL leaves unquoted in an item.
bool isNameCharacter(char c) {
   return isLetter(c) || (c >= '0' && c <= '9') || c == '_';
}
bool isBlank(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}

SqlError badItem(const std::string& message) {
   return SqlError(sqlstate::invalidTextRepresentation, message);
}

/// Reads the text of an item as PostgreSQL's aclparse().
class ItemReader {
public:
   /// `takesNumbers`: OIDs stand for roles that are gone.
   ItemReader(const Snapshot& snapshot, std::string_view text, bool takesNumbers)
      : snapshot_(snapshot), text_(text), takesNumbers_(takesNumbers) {}

   AclItem read() {
      AclItem item;
      const std::string grantee = readGrantee();
      readPrivileges(item);
      if (!grantee.empty()) item.grantee = roleOf(grantee);
      item.grantor = bootstrapRole;
      if (take('/')) {
         const std::string grantor = readName();
         if (grantor.empty()) throw badItem("a name must follow the \"/\" sign");
         item.grantor = roleOf(grantor);
      }
      skipBlanks();
      if (at_ < text_.size()) throw badItem("extra garbage at the end of the ACL specification");
      return item;
   }

private:
   char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
   bool take(char c) {
      if (next() != c) return false;
      ++at_;
      return true;
   }
   void skipBlanks() {
      while (isBlank(next()))
         ++at_;
   }

   std::string readName() {
      std::string name;
      bool isQuoted = false;
      skipBlanks();
      for (; at_ < text_.size() && (isQuoted || isNameCharacter(next()) || next() == '"'); ++at_) {
         if (next() == '"') {
            if (!text_.substr(at_ + 1).starts_with('"')) {
               isQuoted = !isQuoted;
               continue;
            }
            ++at_;
         }
         constexpr size_t nameSizeMax = 63;
         if (name.size() == nameSizeMax)
            throw SqlError(sqlstate::nameTooLong, "identifier too long")
                .detail("Identifier must be less than 64 characters.");
         name.push_back(next());
      }
      skipBlanks();
      return name;
   }

   std::string readGrantee() {
      std::string name = readName();
      if (next() != '=') {
         if (name != "group" && name != "user")
            throw badItem("unrecognized key word: \"" + name + "\"")
                .hint("ACL key word must be \"group\" or \"user\".");
         name = readName();
         if (name.empty()) throw badItem("missing name").hint("A name must follow the \"group\" or \"user\" key word.");
      }
      if (!take('=')) throw badItem("missing \"=\" sign");
      return name;
   }

   void readPrivileges(AclItem& item) {
      uint32_t last = 0;
      for (; isLetter(next()) || next() == '*'; ++at_) {
         if (next() == '*') {
            item.grantOptions |= last;
            continue;
         }
         const size_t bit = letters.find(next());
         if (bit == std::string_view::npos)
            throw badItem("invalid mode character: must be one of \"" + std::string(letters) + "\"");
         last = 1u << bit;
         item.privileges |= last;
      }
   }

   Oid roleOf(const std::string& name) const {
      if (const RolePtr role = snapshot_.findRole(name)) return role->oid;
      Oid number = invalidOid;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (takesNumbers_ && error == std::errc() && end == name.data() + name.size()) return number;
      throw SqlError(sqlstate::undefinedObject, "role \"" + name + "\" does not exist");
   }

   const Snapshot& snapshot_;
   const std::string_view text_;
   const bool takesNumbers_;
   size_t at_ = 0;
};

std::string roleText(const Snapshot& snapshot, Oid oid) {
   const RolePtr role = snapshot.role(oid);
   if (!role) return std::to_string(oid);
   if (std::all_of(role->name.begin(), role->name.end(), isNameCharacter)) return role->name;
   std::string quoted = "\"";
   for (const char c : role->name)
      quoted.append(c == '"' ? 2 : 1, c);
   return quoted + '"';
}

} // namespace

std::string formatAclItem(const Snapshot& snapshot, const AclItem& item) {
   std::string result = item.grantee == invalidOid ? std::string() : roleText(snapshot, item.grantee);
   result.push_back('=');
   for (size_t bit = 0; bit < letters.size(); ++bit) {
      if ((item.privileges >> bit & 1) == 0) continue;
      result.push_back(letters[bit]);
      if ((item.grantOptions >> bit & 1) != 0) result.push_back('*');
   }
   return result + "/" + roleText(snapshot, item.grantor);
}

AclItem readAclItem(const Snapshot& snapshot, std::string_view value) {
   return ItemReader(snapshot, value, true).read();
}

std::vector<AclItem> readAcl(const Snapshot& snapshot, std::string_view array) {
   const ArrayView view(array);
   // An array without elements keeps no dimensions here: '{}' is a list that grants nothing, an error in PostgreSQL.
   if (view.dimensionCount() > 1) throw SqlError(sqlstate::invalidParameterValue, "ACL arrays must be one-dimensional");
   std::vector<AclItem> items;
   for (ArrayView::Cursor element(view); element.next();) {
      if (element.isNull()) throw SqlError(sqlstate::nullValueNotAllowed, "ACL arrays must not contain null values");
      items.push_back(readAclItem(snapshot, element.as<StringView>().view()));
   }
   return items;
}

std::string makeAcl(const Snapshot& snapshot, const std::vector<AclItem>& items) {
   std::vector<Value> elements;
   for (const AclItem& item : items)
      elements.push_back(Value::string(formatAclItem(snapshot, item)));
   return makeArray(oid::aclitem, elements);
}

std::string parseAclText(const Snapshot& snapshot, const SqlType& type, std::string_view text,
                         const SessionFormat& format) {
   const auto canonical = [&](std::string_view item) {
      return formatAclItem(snapshot, ItemReader(snapshot, item, false).read());
   };
   if (type.oid == oid::aclitem) return canonical(text);
   ArrayValue array = readArray(parseArrayText(text, {oid::aclitem, -1, invalidOid}, format));
   for (Value& element : array.elements)
      if (!element.isNull) element = Value::string(canonical(element.bytes));
   return makeArray(array);
}

std::optional<std::vector<AclItem>> defaultItems(char objectKind, Oid owner) {
   namespace p = privilege;
   const auto of = [&](AclKind kind) { return itemsOf({}, kind, owner); };
   const auto ownersOnly = [&](uint32_t privileges) { return std::vector<AclItem>{{owner, owner, privileges, 0}}; };
   switch (objectKind) {
   case 'c': return of(AclKind::Column);
   case 'r': return of(AclKind::Table);
   case 's': return of(AclKind::Sequence);
   case 'd': return of(AclKind::Database);
   case 'f': return of(AclKind::Function);
   case 'l': return of(AclKind::Language);
   case 'L': return of(AclKind::LargeObject);
   case 'n': return of(AclKind::Schema);
   case 'p': return ownersOnly(p::set | p::alterSystem); // parameters
   case 't': return of(AclKind::Tablespace);
   case 'F': return of(AclKind::ForeignWrapper);
   case 'S': return of(AclKind::Server);
   case 'T': return of(AclKind::Type);
   default: return std::nullopt;
   }
}

uint32_t requirePrivilege(std::string_view name) {
   std::string upper(name);
   for (char& c : upper)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
   if (upper == "RULE") return 0;
   if (upper == "TEMP") return privilege::createTemp;
   for (size_t bit = 0; bit < letters.size(); ++bit)
      if (privilegeName(1u << bit) == upper) return 1u << bit;
   throw SqlError(sqlstate::invalidParameterValue, "unrecognized privilege type: \"" + std::string(name) + "\"");
}

} // namespace ouzel::catalog

#include "engine/constraint/constraint_text.hpp"

#include "catalog/pg_catalog/functions.hpp"
#include "executor/function/value_text.hpp"

namespace ouzel::engine {

std::string joinTexts(const std::vector<std::string>& parts, const char* separator) {
   std::string out;
   for (size_t i = 0; i < parts.size(); ++i)
      out += (i == 0 ? "" : separator) + parts[i];
   return out;
}

std::string tableName(SessionCore& core, const catalog::Relation& relation) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   // Constraints of a table say nothing of the rows of its heirs.
   const bool hasHeirs = !relation.partitionKey && !snapshot.heirOids(relation.oid).empty();
   return (hasHeirs ? "ONLY " : "") + catalog::quoteIdentifier(snapshot.schema(relation.schema)->name) + "." +
          catalog::quoteIdentifier(relation.name);
}

std::vector<std::string> keyTexts(SessionCore& core, const catalog::Relation& relation,
                                  const std::vector<int16_t>& attributes, const std::vector<Value>& key) {
   std::vector<SqlType> types;
   for (const int16_t attribute : attributes)
      types.push_back(relation.column(attribute)->type);
   return keyTexts(core, types, key);
}

std::vector<std::string> keyTexts(SessionCore& core, const std::vector<SqlType>& types, const std::vector<Value>& key) {
   const executor::FunctionContext functions = core.functionContext();
   std::vector<std::string> texts;
   for (size_t i = 0; i < key.size(); ++i) {
      std::string& text = texts.emplace_back("null");
      if (key[i].isNull) continue;
      text.clear();
      const SqlType& type = types[i];
      alignas(16) std::byte place[16];
      key[i].store(place);
      executor::appendRowText(text, functions, type, storedRepresentation(type),
                              Vector::constant(key[i].type, place, nullptr), 0);
   }
   return texts;
}

std::vector<std::string> keyLiterals(SessionCore& core, const catalog::Relation& relation,
                                     const std::vector<int16_t>& attributes, const std::vector<Value>& key) {
   std::vector<SqlType> types;
   for (const int16_t attribute : attributes)
      types.push_back(relation.column(attribute)->type);
   return valueLiterals(core, types, key);
}

std::vector<std::string> valueLiterals(SessionCore& core, const std::vector<SqlType>& types,
                                       const std::vector<Value>& key) {
   std::vector<std::string> literals = keyTexts(core, types, key);
   for (size_t i = 0; i < key.size(); ++i) {
      std::string quoted = "NULL";
      if (!key[i].isNull) {
         quoted = "E'";
         for (const char c : literals[i])
            quoted += c == '\'' ? "''" : c == '\\' ? "\\\\" : std::string(1, c);
         quoted += "'";
      }
      literals[i] = "CAST(" + quoted + " AS " + catalog::sqlTypeName(core.transaction.catalog(), types[i]) + ")";
   }
   return literals;
}

} // namespace ouzel::engine

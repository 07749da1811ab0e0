#include "common/type/row.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/session_functions.hpp"

// table_to_xml() and its kin: the session runs their queries. Plans with these calls run on the session's thread.

namespace ouzel::executor {

namespace {

void map(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      std::vector<RowPart> parts;
      for (size_t i = 0; i < call.args.size(); ++i) {
         const Vector& arg = call.args[i];
         const auto* values = static_cast<const std::byte*>(arg.data);
         parts.push_back(
             {call.argTypes[i].oid, arg.type, values + size_t{arg.positionOf(row)} * physicalSize(arg.type)});
      }
      std::string args;
      appendRow(args, oid::record, parts);
      const auto rows = call.context.requireSession("mapping tables to XML").runRoutine(call.function, args);
      out[row] = result.strings().copyString(rows.front());
   });
}

} // namespace

void registerXmlMapping() {
   for (const char* subject : {"table", "query", "cursor", "schema", "database"})
      for (const char* form : {"xml", "xmlschema", "xml_and_xmlschema"})
         registerKernel(std::string(subject) + "_to_" + form, anyArguments, {map, true, false});
}

} // namespace ouzel::executor

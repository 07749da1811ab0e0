#include "catalog/builtin/text_table.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/object/range_constructors.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_proc and pg_aggregate.

namespace ouzel::catalog {

namespace {

void addRow(const Snapshot& snapshot, const Function& f, RowBuilder& row) {
   std::vector<Oid> all;
   std::vector<std::string> names, defaults;
   std::string modes;
   bool isPlain = true, hasNames = false;
   for (const FunctionParameter& parameter : f.parameters) {
      all.push_back(parameter.type.named());
      names.push_back(parameter.name);
      modes += parameter.mode;
      isPlain = isPlain && parameter.mode == 'i';
      hasNames = hasNames || !parameter.name.empty();
      if (!parameter.defaultExpr.empty()) defaults.push_back(parameter.defaultExpr);
   }
   row.oid(f.oid).text(f.name).oid(f.schema).oid(f.owner).oid(f.shownLanguage()).float4(f.cost).float4(f.rows);
   row.oid(f.info().variadicElement).oid(invalidOid).letter(static_cast<char>(f.functionKind));
   row.boolean(f.isSecurityDefiner).boolean(f.isLeakproof).boolean(f.isStrict).boolean(f.returnsSet);
   row.letter(static_cast<char>(f.volatility)).letter(f.parallel).int2(static_cast<int64_t>(f.inputCount()));
   row.int2(static_cast<int64_t>(defaults.size())).oid(f.returnType.named()).oidVector(f.inputTypes());
   if (isPlain)
      row.nulls(2);
   else
      row.oidArray(all).letterArray(modes);
   if (hasNames)
      row.textArray(names);
   else
      row.null();
   std::string defaultText;
   for (const std::string& one : defaults)
      defaultText += (defaultText.empty() ? "" : ", ") + one;
   row.textOrNull(defaultText).null();
   if (f.language == language_oid::c) {
      const size_t slash = f.source.find('/');
      row.text(f.source.substr(slash + 1)).text("$libdir/" + f.source.substr(0, slash));
   } else {
      row.text(f.bodyForm == 's' ? f.source : std::string()).null();
   }
   row.textOrNull(f.bodyForm == 's' ? std::string() : f.source);
   std::vector<std::string> settings;
   for (const auto& [name, value] : f.settings)
      settings.push_back(name + "=" + value);
   if (settings.empty())
      row.null();
   else
      row.textArray(settings);
   row.acl(snapshot, f.acl).emit();
}

/// A function without names and defaults of its arguments whose code is the server's.
void addInternal(const FunctionInfo& f, RowBuilder& row) {
   row.oid(f.oid).text(f.name).oid(f.schema).oid(bootstrapRole).oid(language_oid::internal).float4(1).float4(f.rows);
   row.oid(f.variadicElement).oid(invalidOid).letter(static_cast<char>(f.kind)).boolean(false).boolean(false);
   row.boolean(f.isStrict).boolean(f.returnsSet).letter(static_cast<char>(f.volatility)).letter('s');
   row.int2(f.argCount()).int2(static_cast<int64_t>(f.defaults.size())).oid(f.returnType).oidVector(f.argTypes);
   if (f.argModes.empty())
      row.nulls(2);
   else
      row.oidArray(std::vector<Oid>(f.allArgTypes.begin(), f.allArgTypes.end())).letterArray(std::string(f.argModes));
   row.nulls(3).text(f.source).nulls(4).emit();
}

/// Rows of built-in objects with the privileges that they have now.
void builtinRows(const SystemContext& context, RowBuilder& row, const TextTable& builtin, Oid classOid,
                 std::string_view acl) {
   const uint32_t oidColumn = builtin.column("oid"), aclColumn = builtin.column(acl);
   for (uint32_t r = 0; r < builtin.rowCount(); ++r) {
      const auto oid = static_cast<Oid>(std::stoul(std::string(*builtin.at(r, oidColumn))));
      for (uint32_t column = 0; column < builtin.columnCount(); ++column)
         if (column == aclColumn)
            row.acl(context.snapshot, systemAcl(context.snapshot, classOid, oid));
         else
            row.parsed(builtin.at(r, column));
      row.emit();
   }
}

void pgLanguage(const SystemContext& context, RowBuilder& row) {
   builtinRows(context, row, *builtins().rows("pg_language"), class_oid::pgLanguage, "lanacl");
   for (const Language& made : context.snapshot.database(context.snapshot.database())->languages) {
      row.oid(made.oid).text(made.name).oid(made.owner).boolean(true).boolean(made.isTrusted).oid(plpgsqlCallHandler);
      row.oid(made.inlineHandler).oid(made.validator).acl(context.snapshot, made.acl).emit();
   }
}

void pgProc(const SystemContext& context, RowBuilder& row) {
   const TextTable& builtin = *builtins().rows("pg_proc");
   builtinRows(context, row, builtin, class_oid::pgProc, "proacl");
   const TextTable& ours = *builtins().rows("ouzel_proc");
   const uint32_t oidColumn = ours.column("oid");
   for (uint32_t r = 0; r < ours.rowCount(); ++r) {
      const FunctionInfo& f = *builtins().function(static_cast<Oid>(std::stoul(std::string(*ours.at(r, oidColumn)))));
      addInternal(f, row);
   }
   for (const RelationPtr& relation : context.snapshot.relations())
      for (const FunctionInfo& constructor : listedRangeConstructors(*relation))
         addInternal(constructor, row);
   for (const FunctionPtr& function : context.snapshot.functions())
      addRow(context.snapshot, *function, row);
}

void pgAggregate(const SystemContext& context, RowBuilder& row) {
   const TextTable& builtin = *builtins().rows("pg_aggregate");
   for (uint32_t r = 0; r < builtin.rowCount(); ++r) {
      for (uint32_t column = 0; column < builtin.columnCount(); ++column)
         row.parsed(builtin.at(r, column));
      row.emit();
   }
   const auto text = [&](const std::optional<std::string>& value) {
      if (value)
         row.text(*value);
      else
         row.null();
   };
   for (const FunctionPtr& function : context.snapshot.functions()) {
      if (!function->aggregate) continue;
      const AggregateDefinition& a = *function->aggregate;
      row.oid(function->oid).letter(static_cast<char>(a.kind)).int2(a.directArgs);
      row.oid(a.transition).oid(a.final).oid(a.combine).oid(a.serialize).oid(a.deserialize);
      row.oid(a.movingTransition).oid(a.movingInverse).oid(a.movingFinal);
      row.boolean(a.finalTakesArgs).boolean(a.movingFinalTakesArgs);
      row.letter(a.finalModify).letter(a.movingFinalModify);
      row.oid(a.sortOperator).oid(a.stateType.named()).int4(a.stateSpace);
      row.oid(a.movingStateType.named()).int4(a.movingStateSpace);
      text(a.initial);
      text(a.movingInitial);
      row.emit();
   }
}

constexpr NamedProducer tables[] = {{"pg_proc", pgProc}, {"pg_language", pgLanguage}, {"pg_aggregate", pgAggregate}};

} // namespace

std::span<const NamedProducer> functionProducers() {
   return tables;
}

} // namespace ouzel::catalog

#include "catalog/builtin/extension_classes.hpp"
#include "catalog/builtin/extension_support.hpp"
#include "catalog/builtin/text_table.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/range_constructors.hpp"
#include "catalog/pg_catalog/operator_classes.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_operator, pg_cast, pg_opclass, pg_opfamily and pg_amproc.

namespace ouzel::catalog {

namespace {

void addBuiltin(const char* catalog, RowBuilder& row) {
   const TextTable& builtin = *builtins().rows(catalog);
   for (uint32_t r = 0; r < builtin.rowCount(); ++r) {
      for (uint32_t column = 0; column < builtin.columnCount(); ++column)
         row.parsed(builtin.at(r, column));
      row.emit();
   }
}

void pgOperator(const SystemContext& context, RowBuilder& row) {
   addBuiltin("pg_operator", row);
   for (const OperatorPtr& op : context.snapshot.operators()) {
      row.oid(op->oid).text(op->name).oid(op->schema).oid(op->owner);
      row.letter(op->left.oid == invalidOid ? 'l' : 'b').boolean(op->canMerge).boolean(op->canHash);
      row.oid(op->left.named()).oid(op->right.named()).oid(op->result.named());
      row.oid(op->commutator).oid(op->negator).oid(op->function);
      row.oid(op->restrictEstimator).oid(op->joinEstimator).emit();
   }
}

void pgCast(const SystemContext& context, RowBuilder& row) {
   addBuiltin("pg_cast", row);
   for (const CastPtr& cast : context.snapshot.casts()) {
      row.oid(cast->oid).oid(cast->source.named()).oid(cast->target.named()).oid(cast->function);
      row.letter(static_cast<char>(cast->context)).letter(static_cast<char>(cast->method)).emit();
   }
   for (const RelationPtr& type : context.snapshot.relations()) {
      if (type->relationKind != RelationKind::Multirange) continue;
      const FunctionInfo& function = listedRangeConstructors(*type)[1];
      row.oid(castToMultirange(*type)).oid(function.argTypes[0]).oid(type->rowType).oid(function.oid);
      row.letter('e').letter('f').emit();
   }
}

void operatorClasses(const SystemContext& context, RowBuilder& row) {
   addBuiltin("pg_opclass", row);
   for (const ExtensionClass& one : extensionClasses()) {
      const ExtensionPtr extension = context.snapshot.findExtension(one.extension);
      if (!extension) continue;
      row.oid(one.oid).oid(accessMethod(one.method)).text(one.name).oid(extension->schema).oid(bootstrapRole);
      row.oid(one.family()).oid(one.input).boolean(one.isDefault).oid(one.keyType).emit();
   }
}

void operatorFamilies(const SystemContext& context, RowBuilder& row) {
   addBuiltin("pg_opfamily", row);
   for (const ExtensionClass& one : extensionClasses())
      if (const ExtensionPtr extension = context.snapshot.findExtension(one.extension))
         row.oid(one.family())
             .oid(accessMethod(one.method))
             .text(one.name)
             .oid(extension->schema)
             .oid(bootstrapRole)
             .emit();
}

void supportRows(const SystemContext& context, RowBuilder& row) {
   addBuiltin("pg_amproc", row);
   constexpr Oid firstRow = 9000;
   const std::span<const SupportFunction> all = supportFunctions();
   for (size_t i = 0; i < all.size(); ++i) {
      const ExtensionClass& used = *extensionClass(all[i].usedBy);
      const ExtensionPtr extension = context.snapshot.findExtension(used.extension);
      if (!extension) continue;
      Oid function = all[i].builtin;
      for (const FunctionPtr& made : context.snapshot.findFunctions(extension->schema, all[i].name))
         if (function == invalidOid && made->language == language_oid::c) function = made->oid;
      if (function == invalidOid) continue; // the extension was made before its script had the function
      row.oid(firstRow + static_cast<Oid>(i)).oid(used.family()).oid(used.input).oid(used.input);
      row.int2(all[i].number).oid(function).emit();
   }
}

constexpr NamedProducer tables[] = {{"pg_operator", pgOperator},
                                    {"pg_cast", pgCast},
                                    {"pg_opclass", operatorClasses},
                                    {"pg_amproc", supportRows},
                                    {"pg_opfamily", operatorFamilies}};

} // namespace

std::span<const NamedProducer> operatorProducers() {
   return tables;
}

} // namespace ouzel::catalog

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/acl.hpp"
#include "catalog/pg_catalog/acl_items.hpp"
#include "executor/function/table/table_function_rows.hpp"

namespace ouzel::executor {

namespace {

/// aclexplode(): a row for each privilege of each item of a list.
class AclRows final : public TableFunction {
public:
   AclRows(std::vector<Representation> columns, FunctionContext& context, Reservation& memory)
      : context_(context), out_(std::move(columns), memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      const RowCall call{args, row};
      items_.clear();
      item_ = bit_ = 0;
      if (call.isNull(0)) return;
      if (!context_.catalog) throwInternal("no catalog to look roles up in");
      items_ = catalog::readAcl(*context_.catalog, call.text(0));
   }

   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      checkInterrupted();
      out_.clear();
      for (; item_ < items_.size() && out_.rowCount() < rowsMax; advance()) {
         const catalog::AclItem& item = items_[item_];
         const uint32_t privilege = 1u << bit_;
         if ((item.privileges & privilege) == 0) continue;
         addOid(item.grantor);
         addOid(item.grantee);
         out_.addText(catalog::privilegeName(privilege));
         out_.add((item.grantOptions & privilege) != 0);
      }
      out_.give(columns);
      return out_.rowCount();
   }

private:
   void advance() {
      if (++bit_ < 32) return;
      bit_ = 0;
      ++item_;
   }
   void addOid(Oid oid) {
      const int64_t value = oid;
      out_.add(PhysicalType::I64, &value);
   }

   FunctionContext& context_;
   RowWriter out_;
   std::vector<catalog::AclItem> items_;
   size_t item_ = 0;
   uint32_t bit_ = 0; ///< of the next privilege
};

} // namespace

std::unique_ptr<TableFunction> makeAclRows(TableFunctionSignature& signature, FunctionContext& context,
                                           Reservation& memory) {
   if (signature.function->source != "aclexplode") return nullptr;
   return std::make_unique<AclRows>(signature.resultReprs, context, memory);
}

} // namespace ouzel::executor

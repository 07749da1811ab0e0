#include "catalog/builtin/builtin.hpp"
#include "catalog/builtin/extensions.hpp"
#include "common/base_type/hstore.hpp"
#include "executor/function/extension/pgcrypto_armor.hpp"
#include "executor/function/table/table_function_rows.hpp"

// Set-returning functions about extensions, and of extensions.

namespace ouzel::executor {

namespace {

/// pg_available_extensions()
class AvailableRows {
public:
   explicit AvailableRows(const RowCall&) {}
   bool next(RowWriter& out) {
      if (next_ == catalog::extensionInfos().size()) return false;
      const catalog::ExtensionInfo& info = catalog::extensionInfos()[next_++];
      for (const std::string_view text : {info.name, info.version, info.comment})
         out.addText(text);
      return true;
   }

private:
   size_t next_ = 0;
};

/// pg_available_extension_versions()
class VersionRows {
public:
   explicit VersionRows(const RowCall&) {}
   bool next(RowWriter& out) {
      if (next_ == catalog::extensionInfos().size()) return false;
      const catalog::ExtensionInfo& info = catalog::extensionInfos()[next_++];
      out.addText(info.name);
      out.addText(info.version);
      out.add(true); // superuser
      out.add(info.isTrusted);
      out.add(info.isRelocatable);
      info.schema.empty() ? out.addNull() : out.addText(info.schema);
      out.addNull(); // requires
      out.addText(info.comment);
      return true;
   }

private:
   size_t next_ = 0;
};

/// pgp_armor_headers(text)
class ArmorHeaderRows {
public:
   explicit ArmorHeaderRows(const RowCall& call) : headers_(readArmorHeaders(call.text(0))) {}
   bool next(RowWriter& out) {
      if (next_ == headers_.size()) return false;
      const auto& [key, value] = headers_[next_++];
      out.addText(key);
      out.addText(value);
      return true;
   }

private:
   const std::vector<std::pair<std::string, std::string>> headers_;
   size_t next_ = 0;
};

/// each(hstore), skeys(hstore) and svals(hstore)
template <bool hasKeys, bool hasValues>
class HstoreRows {
public:
   explicit HstoreRows(const RowCall& call) : map_(call.text(0)) {}
   bool next(RowWriter& out) {
      if (next_ == map_.size()) return false;
      const HstorePair pair = map_.pair(next_++);
      if (hasKeys) out.addText(pair.key);
      if (hasValues) pair.value ? out.addText(*pair.value) : out.addNull();
      return true;
   }

private:
   const HstoreView map_;
   uint32_t next_ = 0;
};

} // namespace

std::unique_ptr<TableFunction> makeExtensionRows(TableFunctionSignature& signature, FunctionContext&,
                                                 Reservation& memory) {
   const std::string_view source = signature.function->source;
   if (source == "pg_available_extensions")
      return std::make_unique<RowFunction<AvailableRows>>(signature.resultReprs, memory);
   if (source == "pg_available_extension_versions")
      return std::make_unique<RowFunction<VersionRows>>(signature.resultReprs, memory);
   if (source == "pgcrypto/pgp_armor_headers")
      return std::make_unique<RowFunction<ArmorHeaderRows>>(signature.resultReprs, memory);
   if (source == "hstore/hstore_each")
      return std::make_unique<RowFunction<HstoreRows<true, true>>>(signature.resultReprs, memory);
   if (source == "hstore/hstore_skeys")
      return std::make_unique<RowFunction<HstoreRows<true, false>>>(signature.resultReprs, memory);
   if (source == "hstore/hstore_svals")
      return std::make_unique<RowFunction<HstoreRows<false, true>>>(signature.resultReprs, memory);
   return nullptr;
}

} // namespace ouzel::executor

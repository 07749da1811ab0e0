#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// postgresql_fdw_validator(), the validator that every database has.

namespace ouzel::executor {

namespace {

bool validate(const StringView& options, int64_t catalog, KernelEnv&) {
   std::vector<std::string> names;
   const ArrayView array(options.view());
   for (ArrayView::Cursor option(array); option.next();) {
      if (option.isNull()) continue;
      const std::string_view text = option.as<StringView>().view();
      names.emplace_back(text.substr(0, text.find('=')));
   }
   catalog::checkConnectionOptions(names, static_cast<Oid>(catalog));
   return true;
}

} // namespace

void registerForeignData() {
   addKernel<validate>("postgresql_fdw_validator");
}

} // namespace ouzel::executor

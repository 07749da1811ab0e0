#include "common/base_type/statistics_lists.hpp"

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

template <Oid type>
[[noreturn]] void refuse(void*, std::string_view, int32_t, Arena&) {
   throw SqlError(sqlstate::featureNotSupported, "cannot accept a value of type " + formatType({type, -1, invalidOid}));
}

void append(std::string& out, const void* value) {
   const auto text = valueAt<StringView>(value);
   out.append(text.view());
}

void appendHex(std::string& out, const void* value) {
   constexpr const char* digits = "0123456789abcdef";
   out += "\\x";
   const auto bytes = valueAt<StringView>(value);
   for (const char c : bytes.view()) {
      const auto byte = static_cast<uint8_t>(c);
      out.push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
   }
}

} // namespace

const TypeForm ndistinctForm{oid::pgNdistinct,        -1, 1, append, refuse<oid::pgNdistinct>, append,
                             refuse<oid::pgNdistinct>};
const TypeForm dependenciesForm{oid::pgDependencies,        -1, 1, append, refuse<oid::pgDependencies>, append,
                                refuse<oid::pgDependencies>};
const TypeForm mcvListForm{oid::pgMcvList, -1, 3, appendHex, refuse<oid::pgMcvList>, append, refuse<oid::pgMcvList>};

std::string mcvListBytes(const std::vector<McvItem>& items) {
   std::string out;
   appendBig(out, static_cast<uint32_t>(items.size()));
   appendBig(out, static_cast<uint32_t>(items.empty() ? 0 : items[0].values.size()));
   for (const McvItem& item : items) {
      for (const auto& value : item.values) {
         out.push_back(value ? '\1' : '\0');
         if (!value) continue;
         appendBig(out, static_cast<uint32_t>(value->size()));
         out += *value;
      }
      appendBig(out, std::bit_cast<uint64_t>(item.frequency));
      appendBig(out, std::bit_cast<uint64_t>(item.baseFrequency));
   }
   return out;
}

std::vector<McvItem> readMcvList(std::string_view bytes) {
   WireReader reader(bytes);
   const auto count = reader.take<uint32_t>(), dimensions = reader.take<uint32_t>();
   std::vector<McvItem> items;
   for (uint32_t i = 0; i < count; ++i) {
      McvItem& item = items.emplace_back();
      for (uint32_t d = 0; d < dimensions; ++d) {
         if (reader.take<uint8_t>() == 0) {
            item.values.emplace_back();
            continue;
         }
         const auto size = reader.take<uint32_t>();
         item.values.emplace_back(std::string(reader.takeBytes(size)));
      }
      item.frequency = std::bit_cast<double>(reader.take<uint64_t>());
      item.baseFrequency = std::bit_cast<double>(reader.take<uint64_t>());
   }
   reader.finish();
   return items;
}

} // namespace ouzel

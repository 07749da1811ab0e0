#include "common/xml/concatenation.hpp"
#include "executor/function/aggregate/aggregate_rows.hpp"

// xmlagg: XMLCONCAT of all values.

namespace ouzel::executor {

namespace {

struct XmlAgg {
   struct State {
      Pieces values; ///< whole, each preceded by its size
   };
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      if (input.args[0].isNull(row)) return;
      const std::string_view value = input.args[0].value<StringView>(row).view();
      const auto size = static_cast<uint32_t>(value.size());
      if (s.values.size() + size > StringView::lengthMax)
         throw SqlError(sqlstate::programLimitExceeded, "out of memory").detail("The XML value exceeds 1 GB.");
      char* target = s.values.extend(sizeof size + size, input.arena);
      std::memcpy(target, &size, sizeof size);
      std::memcpy(target + sizeof size, value.data(), size);
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.values.size() == 0) return result.setNull(row);
      xml::JoinedDeclaration declaration;
      uint64_t count = 0;
      forEach(s, [&](std::string_view value) {
         declaration.add(value);
         ++count;
      });
      std::string head;
      if (count > 1) declaration.append(head); // a single value stays as it is
      char* const bytes = static_cast<char*>(result.strings().allocate(head.size() + s.values.size(), 1));
      std::memcpy(bytes, head.data(), head.size());
      char* end = bytes + head.size();
      forEach(s, [&](std::string_view value) {
         xml::JoinedDeclaration own;
         if (count > 1) value.remove_prefix(own.add(value));
         std::memcpy(end, value.data(), value.size());
         end += value.size();
      });
      result.values<StringView>()[row] = StringView(bytes, static_cast<uint32_t>(end - bytes));
   }
   template <typename Take>
   static void forEach(const State& s, Take&& take) {
      s.values.forEach([&](std::string_view piece) {
         while (!piece.empty()) {
            uint32_t size;
            std::memcpy(&size, piece.data(), sizeof size);
            take(piece.substr(sizeof size, size));
            piece.remove_prefix(sizeof size + size);
         }
      });
   }
};

} // namespace

const AggregateKernel* findXmlAggregate(const AggregateRequest& request) {
   return request.name == "xmlagg" ? orderedKernel<XmlAgg> : nullptr;
}

} // namespace ouzel::executor

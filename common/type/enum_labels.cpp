#include "common/type/enum_labels.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"

namespace ouzel {

EnumLabels::EnumLabels(std::vector<EnumLabel> inOrder) : labels_(std::move(inOrder)) {
   positions_.reserve(labels_.size());
   for (size_t i = 0; i < labels_.size(); ++i)
      positions_.emplace(labels_[i].name, i);
}

const EnumLabel* EnumLabels::find(std::string_view name) const {
   const auto found = positions_.find(name);
   return found == positions_.end() ? nullptr : &labels_[found->second];
}

const EnumLabel* EnumLabels::find(int64_t code) const {
   // Where no label came later, the place follows from the code.
   const auto guess = static_cast<uint64_t>(code / gap);
   if (guess < labels_.size() && labels_[guess].code == code) return &labels_[guess];
   const auto found = std::lower_bound(labels_.begin(), labels_.end(), code,
                                       [](const EnumLabel& label, int64_t wanted) { return label.code < wanted; });
   return found == labels_.end() || found->code != code ? nullptr : &*found;
}

const EnumLabel& EnumLabels::require(int64_t code) const {
   const EnumLabel* found = find(code);
   if (!found) throwInternal("invalid internal value for enum: " + std::to_string(code));
   return *found;
}

int64_t EnumLabels::codeBetween(const EnumLabel* before, const EnumLabel* after) {
   if (!before && !after) return 0;
   constexpr int64_t end = gap * static_cast<int64_t>(2 * countMax - 1);
   const auto full = [] {
      return SqlError(sqlstate::programLimitExceeded, "there is no room for another label at this place of the enum");
   };
   if (!after) {
      if (before->code >= end) throw full();
      return before->code / gap * gap + gap;
   }
   if (!before) {
      if (after->code <= -end) throw full();
      return after->code / gap * gap - gap;
   }
   const int64_t room = after->code - before->code;
   if (room < 2) throw full();
   // Who adds one label after the other adds them at the same side of the one before: most of the room is left there.
   const int64_t step = std::max<int64_t>(room / 4, 1);
   if (before->oid > after->oid) return before->code + step;
   return after->code - step;
}

EnumLabelsPtr labelsOf(Oid type, const UserTypes* types) {
   if (!types) throwInternal("a value of an enum, and no catalog to look its labels up in");
   return types->enumLabels(type);
}

void requireCommitted(const EnumLabel& label, Oid type, const UserTypes* types) {
   if (label.isUncommitted)
      throw SqlError(sqlstate::unsafeNewEnumValueUsage, "unsafe use of new value \"" + label.name + "\" of enum type " +
                                                            types->objectName(oid::regtype, type))
          .hint("New enum values must be committed before they can be used.");
}

int64_t parseEnum(const SqlType& type, std::string_view text, const EnumLabels& labels, const UserTypes* types) {
   const EnumLabel* label = labels.find(text);
   if (!label)
      throw SqlError(sqlstate::invalidTextRepresentation, "invalid input value for enum " +
                                                              types->objectName(oid::regtype, type.oid) + ": \"" +
                                                              std::string(text) + "\"");
   requireCommitted(*label, type.oid, types);
   return label->code;
}

int64_t parseEnum(const SqlType& type, std::string_view text, const UserTypes* types) {
   return parseEnum(type, text, *labelsOf(type.oid, types), types);
}

void putEnum(void* target, const SqlType& type, std::string_view text, const EnumLabels& labels,
             const UserTypes* types) {
   const int64_t code = parseEnum(type, text, labels, types);
   std::memcpy(target, &code, sizeof code);
}

} // namespace ouzel

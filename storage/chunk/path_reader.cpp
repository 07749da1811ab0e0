#include "storage/chunk/path_reader.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "common/error/check.hpp"
#include "common/number/decimal.hpp"

namespace ouzel::storage {

using json::JsonbView;
using json::PathForm;
using json::PathTarget;

namespace {

std::string_view nameOf(NodeKind kind) {
   switch (kind) {
   case NodeKind::Null: return json::nameOfKind(json::Kind::Null);
   case NodeKind::Boolean: return json::nameOfKind(json::Kind::Boolean);
   case NodeKind::Number: return json::nameOfKind(json::Kind::Number);
   case NodeKind::String: return json::nameOfKind(json::Kind::String);
   case NodeKind::EmptyArray:
   case NodeKind::Array: return json::nameOfKind(json::Kind::Array);
   case NodeKind::Object: break;
   }
   return json::nameOfKind(json::Kind::Object);
}

template <typename Describe>
std::string bytesOf(Describe describe) {
   json::JsonbWriter writer;
   describe(writer);
   return writer.finish();
}

} // namespace

PathReader::PathReader(const json::PathAccess& access)
   : access_(access), codes_(vectorRows), out_(size_t{vectorRows} * 16), validity_(validityWords(vectorRows)) {}
PathReader::~PathReader() = default;

void PathReader::open(DocumentShapes& shapes) {
   close();
   shapes_ = &shapes;
}

void PathReader::close() {
   shapes_ = nullptr;
   isLoaded_ = isAllNull_ = isOneLeaf_ = isDirect_ = isPresence_ = areCodes_ = hasOthers_ = false;
   entries_.clear();
   sources_.clear();
   leaves_.clear();
   residues_.reset();
   documents_.reset();
   arena_.reset();
}

/// The sources of rows from `first` on.
void PathReader::findSources(uint32_t first, uint32_t count, uint8_t* sources) const {
   if (const auto shape = shapes_->onlyShapeAt(first)) {
      std::fill_n(sources, count, sources_[static_cast<size_t>(*shape + 1)]);
      return;
   }
   for (uint32_t row = 0; row < count; ++row)
      sources[row] = sources_[static_cast<size_t>(shapes_->shapeOf(first + row) + 1)];
}

/// Notes which of the rows have a value from a leaf, and the values' places.
void PathReader::collect(PathLeaf& leaf, const MemberRows& members, uint32_t count, const Selection& rows) {
   leaf.column.passed = members.before;
   leaf.rows.resize(rows.count());
   leaf.column.wanted.resize(rows.count());
   RowIndex* found = leaf.rows.data();
   RowIndex* wanted = leaf.column.wanted.data();
   uint32_t kept = 0;
   if (rows.isDense() && rows.count() == count) {
      kept = members.members;
      std::copy_n(members.rows, kept, found);
      std::iota(wanted, wanted + kept, RowIndex{0});
   } else {
      forEachRow(rows, [&](uint32_t row) {
         found[kept] = static_cast<RowIndex>(row);
         wanted[kept] = members.rank[row];
         kept += isValidBit(members.validity, row);
      });
   }
   leaf.rows.resize(kept);
   leaf.column.wanted.resize(kept);
}

/// Notes which rows have a value from elsewhere.
void PathReader::collectOthers(uint32_t first, const uint8_t* sources, uint32_t count, const Selection& rows) {
   residueRows_.clear();
   documentRows_.clear();
   nullRows_.clear();
   emptyArrayRows_.clear();
   if (residues_) residues_->begin();
   const MemberRows* members = residues_ ? &shapes_->rowsOf(residueSet_, first, count) : nullptr;
   if (members) residues_->passed = members->before;
   forEachRow(rows, [&](uint32_t at) {
      const auto position = static_cast<RowIndex>(at);
      const uint8_t source = sources[at];
      if (source >= fromKinds && source < fromLeaves) {
         const StringView name(nameOf(static_cast<NodeKind>(source - fromKinds)), StringView::Storage::Permanent);
         std::memcpy(slot(at), &name, sizeof name);
         setValid(at);
         return;
      }
      switch (source) {
      case fromResidueMember:
         setValid(at); // false, unless the residue has it
         [[fallthrough]];
      case fromResidue:
         residues_->wanted.push_back(members->rank[at]);
         residueRows_.push_back(position);
         break;
      case fromDocument: documentRows_.push_back(position); break;
      case fromNull: nullRows_.push_back(position); break;
      case fromEmptyArray: emptyArrayRows_.push_back(position); break;
      case fromWrongType: json::notOfType(access_); break;
      case fromPresence:
      case fromAbsence:
         *static_cast<uint8_t*>(slot(at)) = source == fromPresence ? 1 : 0;
         setValid(at);
         break;
      default: break;
      }
   });
}

bool PathReader::giveOne(const Leaf& leaf, const void* value, void* out) {
   switch (leaf.node.kind) {
   case NodeKind::Boolean: return json::giveBoolean(access_, *static_cast<const uint8_t*>(value) != 0, out);
   case NodeKind::Number: {
      if (leaf.representation.physical == PhysicalType::Decimal)
         return json::giveNumber(access_, *static_cast<const StringView*>(value), out, arena_);
      return json::giveNumber(
          access_, decimal::fromInt64(*static_cast<const int64_t*>(value), leaf.representation.scale), out, arena_);
   }
   case NodeKind::String:
      if (leaf.representation.physical == PhysicalType::I32) return json::giveDate(access_, dateAt(value), out, arena_);
      return json::giveString(access_, *static_cast<const StringView*>(value), out, arena_);
   default: return json::give(access_, JsonbView(static_cast<const StringView*>(value)->view()), out, arena_);
   }
}

void PathReader::giveLeaf(PathLeaf& leaf) {
   leaf.column.fetch();
   const uint32_t size = physicalSize(access_.resultType());
   // An integer of scale 0 is narrowed, or made a double exactly as its text would be.
   const bool isInteger =
       access_.form == PathForm::Value && leaf.leaf.representation == Representation{PhysicalType::I64, 0};
   for (size_t i = 0; i < leaf.rows.size(); ++i) {
      const uint32_t row = leaf.rows[i];
      const char* value = leaf.column.value(i);
      bool isGiven = true;
      if (leaf.isDirect) {
         std::memcpy(slot(row), value, size);
      } else if (isInteger && access_.target == PathTarget::Int4) {
         int64_t wide;
         std::memcpy(&wide, value, sizeof wide);
         const auto narrow = static_cast<int32_t>(wide);
         std::memcpy(slot(row), &narrow, sizeof narrow);
         isGiven = narrow == wide;
      } else {
         isGiven = giveOne(leaf.leaf, value, slot(row));
      }
      if (isGiven) setValid(row);
   }
}

void PathReader::giveResidues() {
   residues_->fetch();
   for (size_t i = 0; i < residueRows_.size(); ++i) {
      StringView residue;
      std::memcpy(&residue, residues_->value(i), sizeof residue);
      if (json::giveOf(access_, JsonbView(residue.view()), slot(residueRows_[i]), arena_)) setValid(residueRows_[i]);
   }
}

void PathReader::giveDocuments(uint32_t first, uint32_t count) {
   if (!documents_) {
      documents_ = std::make_unique<DocumentReader>();
      documents_->open(*shapes_);
   }
   const Selection rows = Selection::list(documentRows_.data(), static_cast<uint32_t>(documentRows_.size()));
   const Vector documents = documents_->read(first, count, rows);
   for (const RowIndex row : documentRows_) {
      if (json::giveOf(access_, JsonbView(documents.value<StringView>(row).view()), slot(row), arena_)) setValid(row);
   }
}

/// `json`: the bytes of a jsonb of one byte or a few.
void PathReader::giveConstant(std::string_view json, const std::vector<RowIndex>& rows) {
   for (const RowIndex row : rows)
      if (json::give(access_, JsonbView(json), slot(row), arena_)) setValid(row);
}

void PathReader::begin(uint32_t count) {
   arena_.reset();
   std::memset(validity_.data(), 0, validityWords(count) * sizeof(ValidityWord));
   std::memset(out_.data(), 0, size_t{count} * physicalSize(access_.resultType()));
}

Vector PathReader::result(uint32_t count) const {
   bool hasNulls = false;
   for (uint32_t row = 0; row < count && !hasNulls; row += 64) {
      const uint32_t rows = std::min(64u, count - row);
      const ValidityWord all = rows == 64 ? ~ValidityWord{0} : (ValidityWord{1} << rows) - 1;
      hasNulls = (validity_[row / 64] & all) != all;
   }
   return Vector::flat(access_.resultType(), out_.data(), hasNulls ? validity_.data() : nullptr);
}

Vector PathReader::allNull() {
   static constexpr ValidityWord nullBit = 0;
   std::memset(out_.data(), 0, 16);
   return Vector::constant(access_.resultType(), out_.data(), &nullBit);
}

ChunkReader* PathReader::direct() {
   if (!isLoaded_) load();
   return isDirect_ ? &leaves_[0].column.reader : nullptr;
}

bool PathReader::mayMatch(uint32_t first, ZoneKey lower, ZoneKey upper) {
   if (!isLoaded_) load();
   if (isAllNull_) return false;
   if (!isDirect_) {
      shapes_->loadShapes();
      const auto only = shapes_->onlyShapeAt(first);
      if (only && sources_[static_cast<size_t>(*only + 1)] == fromNowhere) return false;
   }
   if (hasOthers_ || access_.form != PathForm::Value || access_.resultType() > PhysicalType::I64) return true;
   ZoneRange zone;
   for (const PathLeaf& leaf : leaves_) {
      if (leaf.leaf.representation.physical >= PhysicalType::I128) return true; // decimals or texts
      if (leaf.leaf.representation.scale == access_.scale) zone.merge(leaf.column.reader.zone());
   }
   if (!zone.overlaps(lower, upper)) return false;
   return !isDirect_ || leaves_[0].column.reader.mayMatch(first, lower, upper);
}

/// All values come from one leaf with a dictionary, whose codes stay. The code behind the last is that of NULL.
Vector PathReader::giveCodes(uint32_t count) {
   PathLeaf& leaf = leaves_[0];
   if (leaf.rows.empty()) return allNull();
   denseCodes_.resize(leaf.rows.size());
   Vector vector = leaf.column.fetchCodes(denseCodes_.data());
   const uint32_t entries = vector.dictionarySize;
   if (entries_.empty()) {
      const auto* stored = static_cast<const StringView*>(vector.data);
      entries_.assign(stored, stored + entries);
      entries_.emplace_back();
      entryValidity_.assign(validityWords(entries + 1), ~ValidityWord{0});
      setValidBit(entryValidity_.data(), entries, false);
   }
   std::fill_n(codes_.data(), count, static_cast<uint16_t>(entries));
   for (size_t i = 0; i < leaf.rows.size(); ++i)
      codes_[leaf.rows[i]] = denseCodes_[i];
   vector.data = entries_.data();
   vector.validity = entryValidity_.data();
   vector.codes = codes_.data();
   vector.dictionarySize = entries + 1;
   return vector;
}

namespace {

/// out[row] = values[rank[row]]: rows without a value get a neighbour's, or what lies behind the last.
template <typename T>
void spread(const char* values, const RowIndex* rank, uint32_t count, char* out) {
   const auto* from = reinterpret_cast<const T*>(values);
   auto* to = reinterpret_cast<T*>(out);
   for (uint32_t row = 0; row < count; ++row)
      to[row] = from[rank[row]];
}

void spread(uint32_t size, const char* values, const RowIndex* rank, uint32_t count, char* out) {
   switch (size) {
   case 1: return spread<uint8_t>(values, rank, count, out);
   case 2: return spread<uint16_t>(values, rank, count, out);
   case 4: return spread<uint32_t>(values, rank, count, out);
   case 8: return spread<uint64_t>(values, rank, count, out);
   default: return spread<int128>(values, rank, count, out);
   }
}

constexpr uint32_t sparseDivisor = 8; ///< fewer rows are fetched one by one

} // namespace

/// All values are of one leaf.
Vector PathReader::readLeaf(uint32_t first, uint32_t count, const Selection& rows) {
   PathLeaf& leaf = leaves_[0];
   const MemberCount counted = shapes_->countOf(leaf.set, first, count);
   if (counted.members == 0) return allNull();
   if (counted.before + counted.members > leaf.column.reader.rowCount()) ByteReader::corrupted();
   if (areCodes_) { // results by dictionary are shared by its id, so that all vectors need the code of NULL
      collect(leaf, shapes_->rowsOf(leaf.set, first, count), count, rows);
      return giveCodes(count);
   }
   const bool isAll = counted.members == count;
   if (isAll && counted.before % vectorRows + count <= vectorRows) {
      leaf.column.reader.passPages(counted.before);
      return leaf.column.reader.read(counted.before, count, rows);
   }
   const uint32_t size = physicalSize(access_.resultType());
   const bool areFew = rows.count() * sparseDivisor < count;
   if (isAll && !areFew) {
      leaf.column.fetchRange(counted.before, count);
      return Vector::flat(access_.resultType(), leaf.column.values.data(), nullptr);
   }
   const MemberRows& members = shapes_->rowsOf(leaf.set, first, count);
   if (areFew) {
      collect(leaf, members, count, rows);
      leaf.column.fetch();
      for (size_t i = 0; i < leaf.rows.size(); ++i)
         std::memcpy(slot(leaf.rows[i]), leaf.column.value(i), size);
   } else {
      leaf.column.fetchRange(members.before, members.members);
      spread(size, leaf.column.values.data(), members.rank, count, out_.data());
   }
   return Vector::flat(access_.resultType(), out_.data(), isAll ? nullptr : members.validity);
}

Vector PathReader::readPresence(uint32_t first, uint32_t count) {
   const uint32_t present = shapes_->countOf(presenceSet_, first, count).members;
   if (present == 0) return allNull();
   std::memset(out_.data(), 1, present == count ? 1 : count);
   if (present == count) return Vector::constant(access_.resultType(), out_.data(), nullptr);
   return Vector::flat(access_.resultType(), out_.data(), shapes_->rowsOf(presenceSet_, first, count).validity);
}

Vector PathReader::readMixed(uint32_t first, uint32_t count, const Selection& rows) {
   for (PathLeaf& leaf : leaves_)
      collect(leaf, shapes_->rowsOf(leaf.set, first, count), count, rows);
   begin(count);
   for (PathLeaf& leaf : leaves_)
      if (!leaf.rows.empty()) giveLeaf(leaf);
   if (hasOthers_) {
      uint8_t sources[vectorRows];
      findSources(first, count, sources);
      collectOthers(first, sources, count, rows);
      giveOthers(first, count);
   }
   return result(count);
}

Vector PathReader::read(uint32_t first, uint32_t count, const Selection& rows) {
   DCHECK(isOpen());
   if (!isLoaded_) load();
   if (isAllNull_) return allNull();
   if (isDirect_) {
      leaves_[0].column.reader.passPages(first);
      return leaves_[0].column.reader.read(first, count, rows);
   }
   shapes_->loadShapes();
   if (isPresence_) return readPresence(first, count);
   return isOneLeaf_ ? readLeaf(first, count, rows) : readMixed(first, count, rows);
}

bool PathReader::filtersLeaf() {
   if (!isLoaded_) load();
   return isOneLeaf_ && !areCodes_ && !isDirect_ && access_.resultType() <= PhysicalType::I64;
}

uint32_t PathReader::filterRange(uint32_t first, uint32_t count, const ValueRange& range, const Selection& rows,
                                 RowIndex* out) {
   shapes_->loadShapes();
   PathLeaf& leaf = leaves_[0];
   const MemberCount counted = shapes_->countOf(leaf.set, first, count);
   if (counted.members == 0) return 0;
   if (counted.before + counted.members > leaf.column.reader.rowCount()) ByteReader::corrupted();
   if (counted.members == count && counted.before % vectorRows == 0)
      return leaf.column.reader.filterRange(counted.before, range, rows, out);
   const MemberRows& members = shapes_->rowsOf(leaf.set, first, count);
   collect(leaf, members, count, rows);
   const std::vector<RowIndex>& wanted = leaf.column.wanted;
   // The values may lie in two vectors of the leaf.
   uint32_t kept = 0;
   RowIndex places[vectorRows], found[vectorRows + 8];
   for (size_t i = 0; i < wanted.size();) {
      const uint32_t vector = (members.before + wanted[i]) / vectorRows * vectorRows;
      const auto shift = static_cast<int64_t>(members.before) - vector;
      uint32_t listed = 0;
      for (; i < wanted.size() && wanted[i] + shift < vectorRows; ++i)
         places[listed++] = static_cast<RowIndex>(wanted[i] + shift);
      const uint32_t matches = leaf.column.reader.filterRange(vector, range, Selection::list(places, listed), found);
      for (uint32_t k = 0; k < matches; ++k)
         out[kept++] = members.rows[found[k] - shift];
   }
   return kept;
}

void PathReader::giveOthers(uint32_t first, uint32_t count) {
   static const std::string null = bytesOf([](json::JsonbWriter& writer) { writer.null(); });
   static const std::string emptyArray = bytesOf([](json::JsonbWriter& writer) {
      writer.beginArray();
      writer.endArray();
   });
   if (!residueRows_.empty()) giveResidues();
   if (!documentRows_.empty()) giveDocuments(first, count);
   giveConstant(null, nullRows_);
   giveConstant(emptyArray, emptyArrayRows_);
}

Vector PathReader::give(const Vector& documents, uint32_t count, const Selection& rows) {
   begin(count);
   forEachRow(rows, [&](uint32_t row) {
      if (documents.isNull(row)) return;
      if (json::giveOf(access_, JsonbView(documents.value<StringView>(row).view()), slot(row), arena_)) setValid(row);
   });
   return result(count);
}

} // namespace ouzel::storage

#include <optional>
#include <unordered_map>

#include "catalog/builtin/builtin.hpp"
#include "common/base_type/statistics_lists.hpp"
#include "common/base_type/xid_snapshot.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "common/type/range.hpp"
#include "executor/function/table/table_function_rows.hpp"
#include "executor/function/text/regex_matches.hpp"
#include "executor/function/text/text_search.hpp"
#include "executor/function/text/utf8_text.hpp"

// Set-returning functions that find one row after the other: unnest, regexp_matches, string_to_table, ...

namespace ouzel::executor {

namespace {

class UnnestRows {
public:
   explicit UnnestRows(const RowCall& call) : array_(call.text(0)), element_(array_) {}
   UnnestRows(const UnnestRows&) = delete; // the cursor refers to the array
   bool next(RowWriter& out) {
      if (!element_.next()) return false;
      if (element_.isNull())
         out.addNull();
      else
         out.add(array_.physical(), element_.stored()); // bpchar without a length
      return true;
   }

private:
   const ArrayView array_;
   ArrayView::Cursor element_;
};

/// The ranges of a multirange.
class MultirangeRows {
public:
   explicit MultirangeRows(const RowCall& call) : reader_(call.text(0)), rest_(reader_.nextCount()) {}
   bool next(RowWriter& out) {
      if (rest_ == 0) return false;
      --rest_;
      std::string bytes;
      appendRange(bytes, reader_.kind(), reader_.next());
      const StringView range = out.strings().copyString(bytes);
      out.add(PhysicalType::String, &range);
      return true;
   }

private:
   RangeReader reader_;
   uint32_t rest_;
};

/// The transactions that a pg_snapshot names as open.
class OpenTransactionRows {
public:
   explicit OpenTransactionRows(const RowCall& call) : open_(readXidSnapshot(call.text(0)).value().open) {}
   bool next(RowWriter& out) {
      if (next_ == open_.size()) return false;
      const auto id = static_cast<int64_t>(open_[next_++]);
      out.add(PhysicalType::I64, &id);
      return true;
   }

private:
   std::vector<uint64_t> open_;
   size_t next_ = 0;
};

class SubscriptRows {
public:
   explicit SubscriptRows(const RowCall& call) {
      const ArrayView array(call.text(0));
      const auto dimension = call.value<int32_t>(1);
      if (dimension < 1 || static_cast<uint32_t>(dimension) > array.dimensionCount()) return;
      const ArrayDimension d = array.dimension(static_cast<uint32_t>(dimension - 1));
      const bool isReversed = call.size() == 3 && call.value<uint8_t>(2) != 0;
      rest_ = d.length;
      subscript_ = isReversed ? d.lower + d.length - 1 : d.lower;
      step_ = isReversed ? -1 : 1;
   }
   bool next(RowWriter& out) {
      if (rest_ == 0) return false;
      out.add(subscript_);
      --rest_;
      if (rest_ > 0) subscript_ += step_;
      return true;
   }

private:
   int32_t rest_ = 0, subscript_ = 0, step_ = 1;
};

/// The expression and the text of regexp_matches and regexp_split_to_table. Expressions are cached by thread, so each
/// batch looks the expression up.
class RegexRows {
public:
   explicit RegexRows(const RowCall& call)
      : text_(call.text(0)), pattern_(call.text(1)),
        flags_(call.size() == 3 ? parseRegexFlags(call.text(2), &isGlobal_) : RegexFlags{}) {}
   void resume() {
      regex_ = &Regex::find(pattern_, flags_);
      matches_.emplace(*regex_, text_, matches_ ? matches_->position() : 0);
   }

protected:
   const std::string_view text_, pattern_;
   bool isGlobal_ = false;
   const RegexFlags flags_;
   const Regex* regex_ = nullptr;
   std::optional<RegexMatches> matches_;
   std::vector<RegexSpan> spans_;
};

class RegexpMatchRows : public RegexRows {
public:
   using RegexRows::RegexRows;
   bool next(RowWriter& out) {
      if (isDone_ || !matches_->next(spans_, true)) return false;
      const StringView captures = captureArray(out.strings(), *regex_, text_, spans_);
      out.add(PhysicalType::String, &captures);
      isDone_ = !isGlobal_;
      return true;
   }

private:
   bool isDone_ = false;
};

class RegexpSplitRows : public RegexRows {
public:
   explicit RegexpSplitRows(const RowCall& call) : RegexRows(call) {
      if (isGlobal_)
         throw SqlError(sqlstate::invalidParameterValue,
                        "regexp_split_to_table() does not support the \"global\" option");
   }
   bool next(RowWriter& out) {
      if (isDone_) return false;
      const std::optional<std::string_view> piece = nextPiece(*matches_, text_, begin_, spans_);
      isDone_ = !piece;
      out.addText(piece ? *piece : text_.substr(begin_));
      return true;
   }

private:
   size_t begin_ = 0;
   bool isDone_ = false;
};

class StringToTableRows {
public:
   explicit StringToTableRows(const RowCall& call) : isDone_(call.isNull(0)) {
      if (isDone_) return;
      text_ = call.text(0);
      isDone_ = text_.empty();
      if (!call.isNull(1)) separator_ = call.text(1);
      if (call.size() == 3 && !call.isNull(2)) nullText_ = call.text(2);
   }
   bool next(RowWriter& out) {
      if (isDone_) return false;
      const std::string_view field = take();
      if (nullText_ && field == *nullText_)
         out.addNull();
      else
         out.addText(field);
      return true;
   }

private:
   std::string_view take() {
      size_t size = text_.size(), gap = 0;
      if (!separator_) { // each character is a field
         size = characterBytes(text_[0]);
      } else if (!separator_->empty()) {
         size = std::min(size, findBytes(text_, *separator_));
         gap = separator_->size();
      }
      const std::string_view field = text_.substr(0, size);
      isDone_ = separator_ ? size == text_.size() : size >= text_.size();
      text_.remove_prefix(std::min(text_.size(), size + gap));
      return field;
   }
   std::string_view text_;
   std::optional<std::string_view> separator_, nullText_;
   bool isDone_;
};

class KeywordRows {
public:
   explicit KeywordRows(const RowCall&) {}
   bool next(RowWriter& out) {
      struct Keyword {
         const char* word;
         char category;
         bool isBareLabel;
      };
      static constexpr Keyword all[] = {
#define KEYWORD(word, category, bare) {word, category, bare},
#include "executor/function/system/keywords.def"
#undef KEYWORD
      };
      if (next_ == std::size(all)) return false;
      const Keyword& keyword = all[next_++];
      out.addText(keyword.word);
      out.addText({&keyword.category, 1});
      out.add(keyword.isBareLabel);
      out.addText(keyword.category == 'U'   ? "unreserved"
                  : keyword.category == 'C' ? "unreserved (cannot be function or type name)"
                  : keyword.category == 'T' ? "reserved (can be function or type name)"
                                            : "reserved");
      out.addText(keyword.isBareLabel ? "can be bare label" : "requires AS");
      return true;
   }

private:
   size_t next_ = 0;
};

class OptionRows {
public:
   explicit OptionRows(const RowCall& call) : array_(call.text(0)), option_(array_) {}
   OptionRows(const OptionRows&) = delete;
   bool next(RowWriter& out) {
      do {
         if (!option_.next()) return false;
      } while (option_.isNull());
      const std::string_view option = option_.as<StringView>().view();
      const size_t equals = option.find('=');
      out.addText(option.substr(0, equals));
      if (equals == std::string_view::npos)
         out.addNull();
      else
         out.addText(option.substr(equals + 1));
      return true;
   }

private:
   const ArrayView array_;
   ArrayView::Cursor option_;
};

/// For functions that list objects which this server never has.
class NoRows {
public:
   explicit NoRows(const RowCall&) {}
   bool next(RowWriter&) { return false; }
};

/// pg_mcv_list_items(): index, values, nulls, frequency, base_frequency.
class McvRows {
public:
   explicit McvRows(const RowCall& call) : items_(readMcvList(call.text(0))) {}
   bool next(RowWriter& out) {
      if (next_ >= items_.size()) return false;
      const McvItem& item = items_[next_];
      std::vector<Value> values, nulls;
      for (const auto& value : item.values) {
         values.push_back(value ? Value::string(*value) : Value::null(PhysicalType::String));
         nulls.push_back(Value::boolean(!value));
      }
      out.add(static_cast<int32_t>(next_++));
      for (const std::string& array : {makeArray(oid::text, values), makeArray(oid::boolean, nulls)}) {
         const StringView bytes = out.strings().copyString(array);
         out.add(PhysicalType::String, &bytes);
      }
      out.add(PhysicalType::F64, &item.frequency);
      out.add(PhysicalType::F64, &item.baseFrequency);
      return true;
   }

private:
   const std::vector<McvItem> items_;
   size_t next_ = 0;
};

using MakeRows = std::unique_ptr<TableFunction> (*)(std::vector<Representation> columns, Reservation& memory);
template <typename Rows, bool isStrict = true>
std::unique_ptr<TableFunction> make(std::vector<Representation> columns, Reservation& memory) {
   return std::make_unique<RowFunction<Rows, isStrict>>(std::move(columns), memory);
}

MakeRows findRows(std::string_view source) {
   static const std::unordered_map<std::string_view, MakeRows> all{
       {"array_unnest", make<UnnestRows>},
       {"multirange_unnest", make<MultirangeRows>},
       {"pg_snapshot_xip", make<OpenTransactionRows>},
       {"generate_subscripts", make<SubscriptRows>},
       {"generate_subscripts_nodir", make<SubscriptRows>},
       {"regexp_matches", make<RegexpMatchRows>},
       {"regexp_matches_no_flags", make<RegexpMatchRows>},
       {"regexp_split_to_table", make<RegexpSplitRows>},
       {"regexp_split_to_table_no_flags", make<RegexpSplitRows>},
       {"text_to_table", make<StringToTableRows, false>},
       {"text_to_table_null", make<StringToTableRows, false>},
       {"pg_get_keywords", make<KeywordRows>},
       {"pg_options_to_table", make<OptionRows>},
       {"pg_stats_ext_mcvlist_items", make<McvRows>},
       {"pg_cursor", make<NoRows>},
       {"pg_get_replication_slots", make<NoRows>},
       {"pg_hba_file_rules", make<NoRows>},
       {"pg_ident_file_mappings", make<NoRows>},
       {"pg_prepared_xact", make<NoRows>},
       {"pg_tablespace_databases", make<NoRows>},
       {"show_all_file_settings", make<NoRows>},
   };
   const auto it = all.find(source);
   return it == all.end() ? nullptr : it->second;
}

} // namespace

std::unique_ptr<TableFunction> makeRowFunction(TableFunctionSignature& signature, FunctionContext&,
                                               Reservation& memory) {
   const MakeRows found = findRows(signature.function->source);
   return found ? found(signature.resultReprs, memory) : nullptr;
}

} // namespace ouzel::executor

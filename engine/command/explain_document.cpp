#include "engine/command/explain_document.hpp"

#include <cstdio>

#include "common/thread/stack.hpp"

namespace ouzel::engine {

namespace {

using Kind = ExplainProperty::Kind;

std::string joined(const ExplainProperty& property) {
   std::string text;
   if (property.kind == Kind::Pairs) {
      for (size_t i = 0; i + 1 < property.values.size(); i += 2)
         text += (i ? ", " : "") + property.values[i] + " = '" + property.values[i + 1] + "'";
      return text;
   }
   for (const std::string& value : property.values)
      text += (text.empty() ? "" : property.separator) + value;
   return text;
}

/// As in JSON; YAML reads it as well.
std::string quoted(const std::string& text) {
   std::string result = "\"";
   for (const char c : text) {
      switch (c) {
      case '"': result += "\\\""; break;
      case '\\': result += "\\\\"; break;
      case '\n': result += "\\n"; break;
      case '\r': result += "\\r"; break;
      case '\t': result += "\\t"; break;
      case '\b': result += "\\b"; break;
      case '\f': result += "\\f"; break;
      default:
         if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            result += escape;
         } else {
            result += c;
         }
      }
   }
   return result + '"';
}

// ---- text ----

void writeText(const ExplainNode& node, uint32_t depth, std::vector<std::string>& lines) {
   checkStack();
   const std::string indent(depth * 6 + 2, ' ');
   lines.push_back((depth ? std::string(depth * 6 - 4, ' ') + "->  " : std::string()) + node.title);
   for (size_t i = node.titled; i < node.properties.size(); ++i)
      lines.push_back(indent + node.properties[i].name + ": " + joined(node.properties[i]));
   for (const ExplainNode& plan : node.plans) {
      if (!plan.subplan.empty()) lines.push_back(indent + plan.subplan);
      writeText(plan, depth + 1, lines);
   }
}

// ---- JSON, YAML, XML ----

/// Builds the text of one of the three formats. Groups are opened and closed in pairs.
class TreeText {
public:
   explicit TreeText(ExplainFormat format) : format_(format) {}

   void property(const ExplainProperty& property) {
      if (property.kind == Kind::List) return list(property);
      if (property.kind == Kind::Pairs) return pairs(property);
      const std::string& value = property.values.at(0);
      const std::string shown = property.kind == Kind::Number ? value : quoted(value);
      switch (format_) {
      case ExplainFormat::Json: line(quoted(property.name) + ": " + shown); break;
      case ExplainFormat::Yaml: line(property.name + ": " + shown); break;
      default: line("<" + tag(property.name) + ">" + escaped(value) + "</" + tag(property.name) + ">");
      }
   }
   /// `label`: none for an element of a list. `isList`: of unlabelled elements.
   void open(const std::string& name, const std::string& label, bool isList) {
      switch (format_) {
      case ExplainFormat::Json: line((label.empty() ? "" : quoted(label) + ": ") + (isList ? "[" : "{")); break;
      case ExplainFormat::Yaml:
         if (label.empty())
            dash_ = true;
         else
            line(label + ": ");
         break;
      default: line("<" + tag(name) + ">");
      }
      levels_.push_back({name, isList, true, indent() + 2});
   }
   void close() {
      const Level level = levels_.back();
      levels_.pop_back();
      if (format_ == ExplainFormat::Yaml) return;
      text_ += "\n" + std::string(indent(), ' ');
      text_ += format_ == ExplainFormat::Json ? std::string(level.isList ? "]" : "}") : "</" + tag(level.name) + ">";
   }
   std::string take() { return std::move(text_); }

private:
   struct Level {
      std::string name;
      bool isList, isEmpty;
      size_t indent; ///< of what is inside
   };
   size_t indent() const { return levels_.empty() ? 0 : levels_.back().indent; }

   void pairs(const ExplainProperty& group) {
      open(group.name, group.name, false);
      for (size_t i = 0; i + 1 < group.values.size(); i += 2)
         property({group.values[i], Kind::Text, {group.values[i + 1]}});
      close();
   }
   void list(const ExplainProperty& property) {
      if (format_ == ExplainFormat::Json) {
         std::string values;
         for (const std::string& value : property.values)
            values += (values.empty() ? "" : ", ") + quoted(value);
         return line(quoted(property.name) + ": [" + values + "]");
      }
      open(property.name, property.name, true);
      for (const std::string& value : property.values)
         line(format_ == ExplainFormat::Yaml ? "- " + quoted(value) : "<Item>" + escaped(value) + "</Item>");
      close();
   }
   void line(const std::string& content) {
      const bool isJson = format_ == ExplainFormat::Json;
      if (isJson && !levels_.empty() && !levels_.back().isEmpty) text_ += ",";
      if (!levels_.empty()) levels_.back().isEmpty = false;
      if (!text_.empty()) text_ += "\n";
      // The first line of an element of a list stands behind its dash.
      text_ += std::exchange(dash_, false) ? std::string(indent() - 2, ' ') + "- " : std::string(indent(), ' ');
      text_ += content;
   }
   static std::string tag(const std::string& name) {
      std::string result;
      for (const char c : name) {
         const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                              c == '_' || c == '.';
         result += isPlain ? c : '-';
      }
      return result;
   }
   static std::string escaped(const std::string& text) {
      std::string result;
      for (const char c : text)
         switch (c) {
         case '&': result += "&amp;"; break;
         case '<': result += "&lt;"; break;
         case '>': result += "&gt;"; break;
         case '\r': result += "&#x0d;"; break;
         default: result += c;
         }
      return result;
   }

   const ExplainFormat format_;
   std::vector<Level> levels_;
   bool dash_ = false; ///< the next line begins an element of a list in YAML
   std::string text_;
};

void writeNode(TreeText& text, const ExplainNode& node, const std::string& label) {
   checkStack();
   text.open("Plan", label, false);
   for (const ExplainProperty& property : node.properties)
      text.property(property);
   if (!node.subplan.empty()) text.property({"Subplan Name", Kind::Text, {node.subplan}});
   if (!node.plans.empty()) {
      text.open("Plans", "Plans", true);
      for (const ExplainNode& plan : node.plans)
         writeNode(text, plan, "");
      text.close();
   }
   text.close();
}

} // namespace

std::vector<std::string> writeExplain(const ExplainDocument& document, ExplainFormat format) {
   std::vector<std::string> lines;
   if (format == ExplainFormat::Text) {
      writeText(document.plan, 0, lines);
      for (const ExplainProperty& property : document.properties)
         lines.push_back(property.name + ": " + joined(property));
      return lines;
   }
   TreeText text(format);
   if (format == ExplainFormat::Json) text.open("Queries", "", true);
   text.open("Query", "", false);
   writeNode(text, document.plan, "Plan");
   for (const ExplainProperty& property : document.properties)
      text.property(property);
   text.close();
   if (format == ExplainFormat::Json) text.close();
   std::string all = text.take();
   if (format == ExplainFormat::Xml) {
      std::string indented;
      for (const char c : all)
         indented += c == '\n' ? std::string("\n  ") : std::string(1, c);
      all = "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  " + indented + "\n</explain>";
   }
   return {std::move(all)};
}

} // namespace ouzel::engine

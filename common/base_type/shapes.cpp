#include "common/base_type/shapes.hpp"

#include <cmath>
#include <limits>

#include "common/base_type/geometry_bytes.hpp"
#include "common/base_type/geometry_reader.hpp"
#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

// ---- values ----

/// Throws 54000 for more points than a value may have.
void requireSize(size_t points) {
   if (points > (StringView::lengthMax - sizeof(double)) / sizeof(Point))
      throw SqlError(sqlstate::programLimitExceeded, "too many points requested");
}

std::vector<Point> readPoints(std::string_view bytes) {
   if (bytes.size() % sizeof(Point) != 0) throwInternal("malformed geometric value");
   std::vector<Point> points(bytes.size() / sizeof(Point));
   std::memcpy(points.data(), bytes.data(), bytes.size());
   return points;
}
std::string bytesOf(const std::vector<Point>& points) {
   return {reinterpret_cast<const char*>(points.data()), points.size() * sizeof(Point)};
}

// ---- texts ----

void append(std::string& out, const std::vector<Point>& points, int32_t digits) {
   for (size_t i = 0; i < points.size(); ++i) {
      if (i > 0) out.push_back(',');
      appendPoint(out, points[i], digits);
   }
}
void appendSegment(std::string& out, const void* v, int32_t digits) {
   const Segment segment = readSegment(valueAt<StringView>(v));
   out.push_back('[');
   append(out, {segment.first, segment.second}, digits);
   out.push_back(']');
}
void appendLine(std::string& out, const void* v, int32_t digits) {
   const Line line = readLine(valueAt<StringView>(v));
   out.push_back('{');
   appendDouble(out, line.a, digits);
   out.push_back(',');
   appendDouble(out, line.b, digits);
   out.push_back(',');
   appendDouble(out, line.c, digits);
   out.push_back('}');
}
void appendPath(std::string& out, const void* v, int32_t digits) {
   const Path path = readPath(valueAt<StringView>(v));
   out.push_back(path.isClosed ? '(' : '[');
   append(out, path.points, digits);
   out.push_back(path.isClosed ? ')' : ']');
}
void appendPolygon(std::string& out, const void* v, int32_t digits) {
   out.push_back('(');
   append(out, readPolygon(valueAt<StringView>(v)), digits);
   out.push_back(')');
}
void appendCircle(std::string& out, const void* v, int32_t digits) {
   const Circle circle = readCircle(valueAt<StringView>(v));
   out.push_back('<');
   appendPoint(out, circle.center, digits);
   out.push_back(',');
   appendDouble(out, circle.radius, digits);
   out.push_back('>');
}
/// As the session rounds floats by default.
template <auto append>
void appendShortest(std::string& out, const void* v) {
   append(out, v, 1);
}

Segment segmentFrom(GeometryReader& reader) {
   bool isOpen = false;
   const std::vector<Point> ends = reader.points(2, true, isOpen);
   reader.finish();
   return {ends[0], ends[1]};
}

Line lineFrom(std::string_view text) {
   GeometryReader reader("line", text);
   reader.skipBlanks();
   if (!reader.take('{')) {
      const Segment segment = segmentFrom(reader);
      if (isSameCoordinate(segment.first.x, segment.second.x) && isSameCoordinate(segment.first.y, segment.second.y))
         throw SqlError(sqlstate::invalidTextRepresentation, "invalid line specification: must be two distinct points");
      return Line::through(segment.first, slopeOf(segment.first, segment.second));
   }
   Line line;
   line.a = reader.number();
   if (!reader.take(',')) reader.fail();
   line.b = reader.number();
   if (!reader.take(',')) reader.fail();
   line.c = reader.number();
   if (!reader.take('}')) reader.fail();
   reader.skipBlanks();
   reader.finish();
   if (isSameCoordinate(line.a, 0) && isSameCoordinate(line.b, 0))
      throw SqlError(sqlstate::invalidTextRepresentation, "invalid line specification: A and B cannot both be zero");
   return line;
}

Path pathFrom(std::string_view text) {
   GeometryReader reader("path", text);
   const size_t count = reader.pointCount();
   reader.skipBlanks();
   const bool isEnclosed = reader.peek() == '(' && !reader.hasLaterParenthesis() && reader.take('(');
   bool isOpen = false;
   Path path;
   path.points = reader.points(count, true, isOpen);
   path.isClosed = !isOpen;
   if (isEnclosed) {
      if (!reader.take(')')) reader.fail();
      reader.skipBlanks();
   }
   reader.finish();
   return path;
}

Circle circleFrom(std::string_view text) {
   GeometryReader reader("circle", text);
   reader.skipBlanks();
   const bool hasBrackets = reader.take('<');
   const bool isEnclosed = hasBrackets || (reader.peek() == '(' && reader.peekSecond() == '(' && reader.take('('));
   Circle circle;
   circle.center = reader.pair();
   reader.take(',');
   circle.radius = reader.number();
   if (circle.radius < 0) reader.fail();
   if (isEnclosed) {
      if (!reader.take(')') && !reader.take('>')) reader.fail();
      reader.skipBlanks();
   }
   reader.finish();
   return circle;
}

// ---- the protocol's binary forms ----

void appendWirePoints(std::string& out, const std::vector<Point>& points) {
   for (const Point& point : points) {
      appendWire(out, point.x);
      appendWire(out, point.y);
   }
}
std::vector<Point> takePoints(WireReader& reader, const char* type) {
   const auto count = static_cast<int32_t>(reader.take<uint32_t>());
   if (count <= 0 || static_cast<uint32_t>(count) >= INT32_MAX / sizeof(Point))
      throw SqlError(sqlstate::invalidBinaryRepresentation,
                     std::string("invalid number of points in external \"") + type + "\" value");
   if (reader.size() / sizeof(Point) < static_cast<size_t>(count)) throwTooShort();
   std::vector<Point> points;
   for (int32_t i = 0; i < count; ++i)
      points.push_back(takePoint(reader));
   return points;
}

} // namespace

bool isSameCoordinate(double a, double b) {
   return a == b || std::fabs(a - b) <= 1.0E-06;
}

double slopeOf(const Point& a, const Point& b) {
   if (isSameCoordinate(a.x, b.x)) return std::numeric_limits<double>::infinity();
   return isSameCoordinate(a.y, b.y) ? 0 : (a.y - b.y) / (a.x - b.x);
}

Line Line::through(const Point& point, double slope) {
   if (std::isinf(slope)) return {-1, 0, point.x};
   if (slope == 0) return {0, -1, point.y};
   const double c = point.y - slope * point.x;
   return {slope, -1, c == 0 ? 0 : c}; // no negative zero
}

Segment readSegment(StringView value) {
   return readGeometry<Segment>(value);
}
Line readLine(StringView value) {
   return readGeometry<Line>(value);
}
Circle readCircle(StringView value) {
   return readGeometry<Circle>(value);
}
Path readPath(StringView value) {
   double isClosed = 0;
   if (value.size() < sizeof isClosed) throwInternal("malformed geometric value");
   std::memcpy(&isClosed, value.data(), sizeof isClosed);
   return {isClosed != 0, readPoints(value.view().substr(sizeof isClosed))};
}
std::vector<Point> readPolygon(StringView value) {
   return readPoints(value.view());
}
StringView segmentValue(const Segment& segment, Arena& arena) {
   return geometryValue(segment, arena);
}
StringView lineValue(const Line& line, Arena& arena) {
   return geometryValue(line, arena);
}
StringView circleValue(const Circle& circle, Arena& arena) {
   return geometryValue(circle, arena);
}
StringView pathValue(const Path& path, Arena& arena) {
   requireSize(path.points.size());
   const double isClosed = path.isClosed ? 1 : 0;
   std::string bytes(reinterpret_cast<const char*>(&isClosed), sizeof isClosed);
   return arena.copyString(bytes + bytesOf(path.points));
}
StringView polygonValue(const std::vector<Point>& points, Arena& arena) {
   requireSize(points.size());
   return arena.copyString(bytesOf(points));
}

const TypeForm lsegForm{.oid = oid::lseg,
                        .wireSize = 32,
                        .textGrowth = 4,
                        .appendText = appendShortest<appendSegment>,
                        .parseText =
                            [](void* target, std::string_view text, int32_t, Arena& arena) {
                               GeometryReader reader("lseg", text);
                               putValue(target, segmentValue(segmentFrom(reader), arena));
                            },
                        .appendBinary =
                            [](std::string& out, const void* v) {
                               const Segment segment = readSegment(valueAt<StringView>(v));
                               appendWirePoints(out, {segment.first, segment.second});
                            },
                        .parseBinary =
                            [](void* target, std::string_view bytes, int32_t, Arena& arena) {
                               WireReader reader(bytes);
                               const Point first = takePoint(reader), second = takePoint(reader);
                               reader.finish();
                               putValue(target, segmentValue({first, second}, arena));
                            },
                        .appendRounded = appendSegment,
                        .isOrdered = false};

const TypeForm lineForm{.oid = oid::line,
                        .wireSize = 24,
                        .textGrowth = 4,
                        .appendText = appendShortest<appendLine>,
                        .parseText = [](void* target, std::string_view text, int32_t,
                                        Arena& arena) { putValue(target, lineValue(lineFrom(text), arena)); },
                        .appendBinary =
                            [](std::string& out, const void* v) {
                               const Line line = readLine(valueAt<StringView>(v));
                               for (const double part : {line.a, line.b, line.c})
                                  appendWire(out, part);
                            },
                        .parseBinary =
                            [](void* target, std::string_view bytes, int32_t, Arena& arena) {
                               WireReader reader(bytes);
                               Line line;
                               for (double* part : {&line.a, &line.b, &line.c})
                                  *part = takeDouble(reader);
                               reader.finish();
                               if (isSameCoordinate(line.a, 0) && isSameCoordinate(line.b, 0))
                                  throw SqlError(sqlstate::invalidBinaryRepresentation,
                                                 "invalid line specification: A and B cannot both be zero");
                               putValue(target, lineValue(line, arena));
                            },
                        .appendRounded = appendLine,
                        .isOrdered = false};

const TypeForm pathForm{.oid = oid::path,
                        .wireSize = -1,
                        .textGrowth = 4,
                        .appendText = appendShortest<appendPath>,
                        .parseText = [](void* target, std::string_view text, int32_t,
                                        Arena& arena) { putValue(target, pathValue(pathFrom(text), arena)); },
                        .appendBinary =
                            [](std::string& out, const void* v) {
                               const Path path = readPath(valueAt<StringView>(v));
                               out.push_back(path.isClosed ? 1 : 0);
                               appendBig(out, static_cast<uint32_t>(path.points.size()));
                               appendWirePoints(out, path.points);
                            },
                        .parseBinary =
                            [](void* target, std::string_view bytes, int32_t, Arena& arena) {
                               WireReader reader(bytes);
                               Path path;
                               path.isClosed = reader.take<uint8_t>() != 0;
                               path.points = takePoints(reader, "path");
                               reader.finish();
                               putValue(target, pathValue(path, arena));
                            },
                        .appendRounded = appendPath,
                        .isOrdered = false};

const TypeForm polygonForm{.oid = oid::polygon,
                           .wireSize = -1,
                           .textGrowth = 4,
                           .appendText = appendShortest<appendPolygon>,
                           .parseText =
                               [](void* target, std::string_view text, int32_t, Arena& arena) {
                                  GeometryReader reader("polygon", text);
                                  bool isOpen = false;
                                  const std::vector<Point> points = reader.points(reader.pointCount(), false, isOpen);
                                  reader.finish();
                                  putValue(target, polygonValue(points, arena));
                               },
                           .appendBinary =
                               [](std::string& out, const void* v) {
                                  const std::vector<Point> points = readPolygon(valueAt<StringView>(v));
                                  appendBig(out, static_cast<uint32_t>(points.size()));
                                  appendWirePoints(out, points);
                               },
                           .parseBinary =
                               [](void* target, std::string_view bytes, int32_t, Arena& arena) {
                                  WireReader reader(bytes);
                                  const std::vector<Point> points = takePoints(reader, "polygon");
                                  reader.finish();
                                  putValue(target, polygonValue(points, arena));
                               },
                           .appendRounded = appendPolygon,
                           .isOrdered = false};

const TypeForm circleForm{.oid = oid::circle,
                          .wireSize = 24,
                          .textGrowth = 4,
                          .appendText = appendShortest<appendCircle>,
                          .parseText = [](void* target, std::string_view text, int32_t,
                                          Arena& arena) { putValue(target, circleValue(circleFrom(text), arena)); },
                          .appendBinary =
                              [](std::string& out, const void* v) {
                                 const Circle circle = readCircle(valueAt<StringView>(v));
                                 for (const double part : {circle.center.x, circle.center.y, circle.radius})
                                    appendWire(out, part);
                              },
                          .parseBinary =
                              [](void* target, std::string_view bytes, int32_t, Arena& arena) {
                                 WireReader reader(bytes);
                                 Circle circle;
                                 circle.center = takePoint(reader);
                                 circle.radius = takeDouble(reader);
                                 reader.finish();
                                 if (circle.radius < 0)
                                    throw SqlError(sqlstate::invalidBinaryRepresentation,
                                                   "invalid radius in external \"circle\" value");
                                 putValue(target, circleValue(circle, arena));
                              },
                          .appendRounded = appendCircle,
                          .isOrdered = false};

} // namespace ouzel

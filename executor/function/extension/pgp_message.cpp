#include "executor/function/extension/pgp_message.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <zlib.h>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"

namespace ouzel::executor {

namespace {

[[noreturn]] void fail(const char* message) {
   throw SqlError(sqlstate::externalRoutineInvocationException, message);
}
[[noreturn]] void corrupt() {
   fail("Wrong key or corrupt data");
}

/// Tags of packets.
enum Tag : uint8_t {
   EncryptedKey = 1,
   PasswordKey = 3,
   Compressed = 8,
   Encrypted = 9,
   Marker = 10,
   Literal = 11,
   CheckedEncrypted = 18,
   Checksum = 19
};

// ---- algorithms ----

struct Cipher {
   int number;
   std::string_view name;
   const EVP_CIPHER* (*make)();
   size_t keyBytes, blockBytes;
};
const Cipher ciphers[] = {{7, "aes128", EVP_aes_128_cfb128, 16, 16},
                          {7, "aes", EVP_aes_128_cfb128, 16, 16},
                          {8, "aes192", EVP_aes_192_cfb128, 24, 16},
                          {9, "aes256", EVP_aes_256_cfb128, 32, 16},
                          {2, "3des", EVP_des_ede3_cfb64, 24, 8},
                          {3, "cast5", EVP_cast5_cfb64, 16, 8},
                          {4, "bf", EVP_bf_cfb64, 16, 8},
                          {4, "blowfish", EVP_bf_cfb64, 16, 8}};

const Cipher& cipherOf(int number) {
   for (const Cipher& cipher : ciphers)
      if (cipher.number == number) return cipher;
   fail("Unsupported cipher algorithm");
}

const EVP_MD* digestOf(int number) {
   switch (number) {
   case 1: return EVP_md5();
   case 2: return EVP_sha1();
   case 3: return EVP_ripemd160();
   case 8: return EVP_sha256();
   case 9: return EVP_sha384();
   case 10: return EVP_sha512();
   default: fail("Unsupported digest algorithm");
   }
}

std::string digest(const EVP_MD* algorithm, std::string_view data) {
   unsigned char hash[EVP_MAX_MD_SIZE];
   unsigned int size = 0;
   if (EVP_Digest(data.data(), data.size(), hash, &size, algorithm, nullptr) != 1) fail("Unsupported digest algorithm");
   return {reinterpret_cast<const char*>(hash), size};
}

/// Cipher feedback from this IV.
std::string feedback(const Cipher& cipher, const std::string& key, const std::string& iv, std::string_view data,
                     bool encrypts) {
   const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                 &EVP_CIPHER_CTX_free);
   const auto bytes = [](std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); };
   if (!context ||
       EVP_CipherInit_ex(context.get(), cipher.make(), nullptr, bytes(key), bytes(iv), encrypts ? 1 : 0) != 1)
      fail(encrypts ? "encrypt error: Cipher cannot be initialized" : "decrypt error: Cipher cannot be initialized");
   std::string out(data.size(), '\0');
   int written = 0;
   if (EVP_CipherUpdate(context.get(), reinterpret_cast<unsigned char*>(out.data()), &written, bytes(data),
                        static_cast<int>(data.size())) != 1)
      corrupt();
   return out;
}

std::string randomBytes(size_t count) {
   std::string bytes(count, '\0');
   if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1)
      throw SqlError(sqlstate::internalError, "could not generate a random number");
   return bytes;
}

// ---- keys of passwords ----

/// How a password becomes a key.
struct KeyRecipe {
   int mode = 3, digest = 2;
   std::string salt{};
   uint8_t count = 0; ///< coded

   size_t hashedBytes() const { return size_t{16u + (count & 15u)} << ((count >> 4) + 6); }
};

std::string keyFor(std::string_view password, const KeyRecipe& recipe, size_t keyBytes) {
   const EVP_MD* algorithm = digestOf(recipe.digest);
   const std::string unit = recipe.salt + std::string(password);
   std::string text = unit;
   if (recipe.mode == 3) {
      const size_t wanted = std::max(recipe.hashedBytes(), unit.size());
      while (text.size() < wanted && !unit.empty())
         text.append(unit, 0, wanted - text.size());
   }
   std::string key;
   for (size_t zeros = 0; key.size() < keyBytes; ++zeros)
      key += digest(algorithm, std::string(zeros, '\0') + text);
   key.resize(keyBytes);
   OPENSSL_cleanse(text.data(), text.size());
   return key;
}

uint8_t codedCount(int bytes) {
   if (bytes == 0) return static_cast<uint8_t>(96 + static_cast<unsigned char>(randomBytes(1)[0]) % 32);
   for (unsigned code = 0; code < 256; ++code)
      if (KeyRecipe{.count = static_cast<uint8_t>(code)}.hashedBytes() >= static_cast<size_t>(bytes))
         return static_cast<uint8_t>(code);
   return 255;
}

// ---- packets ----

std::string packet(Tag tag, std::string_view body) {
   std::string bytes(1, static_cast<char>(0xc0 | tag));
   const size_t size = body.size();
   if (size < 192) {
      bytes += static_cast<char>(size);
   } else if (size < 8384) {
      bytes += static_cast<char>(192 + ((size - 192) >> 8));
      bytes += static_cast<char>(size - 192);
   } else {
      bytes += '\xff';
      for (int shift = 24; shift >= 0; shift -= 8)
         bytes += static_cast<char>(size >> shift);
   }
   return bytes + std::string(body);
}

/// Takes packets off the front of a message.
class PacketReader {
public:
   explicit PacketReader(std::string_view rest) : rest_(rest) {}
   bool atEnd() const { return rest_.empty(); }
   struct Packet {
      uint8_t tag;
      std::string body;
   };
   Packet next() {
      const uint8_t head = byte();
      if ((head & 0x80) == 0) corrupt();
      if ((head & 0x40) == 0) return {static_cast<uint8_t>((head >> 2) & 15), old(head & 3)};
      Packet packet{static_cast<uint8_t>(head & 63), {}};
      for (bool isLast = false; !isLast;) {
         const uint8_t first = byte();
         isLast = first < 224 || first == 255;
         const size_t size = first < 192   ? first
                             : first < 224 ? ((size_t{first} - 192) << 8) + byte() + 192
                             : isLast      ? number(4)
                                           : size_t{1} << (first & 31);
         packet.body += take(size);
      }
      return packet;
   }

private:
   std::string old(int kind) { return std::string(take(kind == 3 ? rest_.size() : number(size_t{1} << kind))); }
   uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
   size_t number(size_t bytes) {
      size_t value = 0;
      for (; bytes > 0; --bytes)
         value = value << 8 | byte();
      return value;
   }
   std::string_view take(size_t size) {
      if (size > rest_.size()) corrupt();
      const std::string_view front = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return front;
   }
   std::string_view rest_;
};

// ---- compression ----

std::string deflated(std::string_view data, const PgpOptions& options) {
   z_stream stream{};
   if (deflateInit2(&stream, options.compressionLevel, Z_DEFLATED, options.compression == 1 ? -15 : 15, 8,
                    Z_DEFAULT_STRATEGY) != Z_OK)
      throwInternal("zlib failed");
   std::string out(deflateBound(&stream, data.size()), '\0');
   stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
   stream.avail_in = static_cast<uInt>(data.size());
   stream.next_out = reinterpret_cast<Bytef*>(out.data());
   stream.avail_out = static_cast<uInt>(out.size());
   const bool isDone = deflate(&stream, Z_FINISH) == Z_STREAM_END;
   out.resize(stream.total_out);
   deflateEnd(&stream);
   if (!isDone) throwInternal("zlib failed");
   return out;
}

std::string inflated(std::string_view data, bool isRaw) {
   z_stream stream{};
   if (inflateInit2(&stream, isRaw ? -15 : 15) != Z_OK) throwInternal("zlib failed");
   stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
   stream.avail_in = static_cast<uInt>(data.size());
   std::string out;
   constexpr size_t bytesMax = size_t{1} << 30;
   int status = Z_OK;
   while (status == Z_OK && out.size() < bytesMax) {
      char part[16384];
      stream.next_out = reinterpret_cast<Bytef*>(part);
      stream.avail_out = sizeof part;
      status = inflate(&stream, Z_NO_FLUSH);
      out.append(part, sizeof part - stream.avail_out);
   }
   inflateEnd(&stream);
   if (status != Z_STREAM_END) corrupt();
   return out;
}

// ---- messages ----

std::string literalPacket(std::string_view data, bool isText, const PgpOptions& options) {
   std::string body(1, !isText ? 'b' : options.isUnicode ? 'u' : 't');
   body += '\0'; // no name
   constexpr int64_t secondsFrom1970To2000 = 946684800;
   const int64_t now = wallClockMicros() / 1000000 + secondsFrom1970To2000;
   for (int shift = 24; shift >= 0; shift -= 8)
      body += static_cast<char>(now >> shift);
   for (const char c : data) {
      if (c == '\n' && isText && options.convertsLineEnds) body += '\r';
      body += c;
   }
   return packet(Literal, body);
}

/// The data of the first literal packet.
std::string literalData(std::string_view packets, bool isText, const PgpOptions& options) {
   for (PacketReader reader(packets); !reader.atEnd();) {
      const auto [tag, body] = reader.next();
      if (tag == Marker) continue;
      if (tag == Compressed) {
         if (body.empty()) corrupt();
         const int algorithm = body[0];
         const std::string_view data = std::string_view(body).substr(1);
         if (algorithm == 0) return literalData(data, isText, options);
         if (algorithm != 1 && algorithm != 2) fail("Unsupported compression algorithm");
         return literalData(inflated(data, algorithm == 1), isText, options);
      }
      if (tag != Literal || body.size() < 2 || body.size() < 6u + static_cast<unsigned char>(body[1])) corrupt();
      if (isText && body[0] == 'b') fail("Not text data");
      std::string data = body.substr(6u + static_cast<unsigned char>(body[1]));
      if (isText && options.convertsLineEnds)
         for (size_t at = 0; (at = data.find("\r\n", at)) != std::string::npos; ++at)
            data.erase(at, 1);
      return data;
   }
   corrupt();
}

struct SessionKey {
   int cipher = 0;
   std::string key;
};

/// Reads how the password gives the key of the message.
SessionKey readKey(std::string_view body, std::string_view password) {
   const auto take = [&](size_t size) {
      if (size > body.size()) corrupt();
      const std::string part(body.substr(0, size));
      body.remove_prefix(size);
      return part;
   };
   const auto byte = [&] { return static_cast<uint8_t>(take(1)[0]); };
   if (byte() != 4) corrupt();
   SessionKey session;
   session.cipher = byte();
   KeyRecipe recipe;
   recipe.mode = byte();
   recipe.digest = byte();
   if (recipe.mode != 0 && recipe.mode != 1 && recipe.mode != 3) fail("Bad S2K mode");
   if (recipe.mode != 0) recipe.salt = take(8);
   if (recipe.mode == 3) recipe.count = byte();
   const Cipher& cipher = cipherOf(session.cipher);
   session.key = keyFor(password, recipe, cipher.keyBytes);
   if (body.empty()) return session;
   const std::string inner = feedback(cipher, session.key, std::string(cipher.blockBytes, '\0'), body, false);
   session.cipher = static_cast<unsigned char>(inner[0]);
   session.key = inner.substr(1);
   bool isKnown = false;
   for (const Cipher& known : ciphers)
      isKnown = isKnown || (known.number == session.cipher && known.keyBytes == session.key.size());
   if (!isKnown) corrupt();
   return session;
}

/// The packets inside an encrypted one.
std::string opened(uint8_t tag, std::string_view body, const SessionKey& session) {
   const Cipher& cipher = cipherOf(session.cipher);
   const size_t block = cipher.blockBytes;
   const std::string zeros(block, '\0');
   if (tag == CheckedEncrypted) {
      if (body.empty() || body[0] != 1) corrupt();
      body.remove_prefix(1);
   }
   if (body.size() < block + 2) corrupt();
   std::string plain;
   if (tag == CheckedEncrypted) {
      plain = feedback(cipher, session.key, zeros, body, false);
   } else { // the feedback begins again behind the prefix
      plain = feedback(cipher, session.key, zeros, body.substr(0, block + 2), false);
      plain += feedback(cipher, session.key, std::string(body.substr(2, block)), body.substr(block + 2), false);
   }
   if (plain.compare(block - 2, 2, plain, block, 2) != 0) corrupt();
   if (tag != CheckedEncrypted) return plain.substr(block + 2);
   constexpr size_t checkBytes = 20, tailBytes = checkBytes + 2;
   if (plain.size() < block + 2 + tailBytes) corrupt();
   const size_t tail = plain.size() - tailBytes;
   const bool isChecked = plain[tail] == '\xd3' && plain[tail + 1] == '\x14' &&
                          digest(EVP_sha1(), std::string_view(plain).substr(0, tail + 2)) == plain.substr(tail + 2);
   if (!isChecked) corrupt();
   return plain.substr(block + 2, tail - block - 2);
}

std::string sealed(std::string_view packets, const SessionKey& session, bool hasChecksum) {
   const Cipher& cipher = cipherOf(session.cipher);
   const size_t block = cipher.blockBytes;
   const std::string zeros(block, '\0');
   std::string prefix = randomBytes(block);
   prefix += prefix.substr(block - 2);
   if (hasChecksum) {
      std::string plain = prefix + std::string(packets) + "\xd3\x14";
      plain += digest(EVP_sha1(), plain);
      return packet(CheckedEncrypted, "\x01" + feedback(cipher, session.key, zeros, plain, true));
   }
   const std::string head = feedback(cipher, session.key, zeros, prefix, true);
   return packet(Encrypted, head + feedback(cipher, session.key, head.substr(2, block), packets, true));
}

// ---- options ----

int numberIn(std::string_view text, int min, int max) {
   int value = 0;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
   if (error != std::errc() || end != text.data() + text.size() || value < min || value > max)
      fail("Illegal argument to function");
   return value;
}

int cipherNamed(std::string_view name) {
   for (const Cipher& cipher : ciphers)
      if (cipher.name == name) return cipher.number;
   fail("Unsupported cipher algorithm");
}

int digestNamed(std::string_view name) {
   constexpr std::pair<std::string_view, int> names[] = {{"md5", 1},    {"sha1", 2},   {"sha-1", 2},  {"ripemd160", 3},
                                                         {"sha256", 8}, {"sha384", 9}, {"sha512", 10}};
   for (const auto& [known, number] : names)
      if (known == name) return number;
   fail("Unsupported digest algorithm");
}

void setOption(PgpOptions& options, std::string_view name, std::string_view value) {
   const auto flag = [&] { return numberIn(value, 0, 1) == 1; };
   if (name == "cipher-algo") {
      options.cipher = cipherNamed(value);
   } else if (name == "compress-algo") {
      options.compression = numberIn(value, 0, 3);
      if (options.compression == 3) fail("Unsupported compression algorithm");
   } else if (name == "compress-level") {
      options.compressionLevel = numberIn(value, 0, 9);
   } else if (name == "convert-crlf") {
      options.convertsLineEnds = flag();
   } else if (name == "disable-mdc") {
      options.hasChecksum = !flag();
   } else if (name == "sess-key") {
      options.hasSessionKey = flag();
   } else if (name == "unicode-mode") {
      options.isUnicode = flag();
   } else if (name == "s2k-mode") {
      options.s2kMode = numberIn(value, 0, 3);
      if (options.s2kMode == 2) fail("Illegal argument to function");
   } else if (name == "s2k-count") {
      options.s2kCount = numberIn(value, 1024, 65011712);
   } else if (name == "s2k-digest-algo") {
      options.s2kDigest = digestNamed(value);
   } else if (name == "s2k-cipher-algo") {
      options.s2kCipher = cipherNamed(value);
   } else {
      fail("Illegal argument to function");
   }
}

} // namespace

PgpOptions pgpOptions(std::string_view text) {
   PgpOptions options;
   const auto trimmed = [](std::string_view part) {
      const size_t first = part.find_first_not_of(" \t\n\r");
      if (first == std::string_view::npos) return std::string_view();
      return part.substr(first, part.find_last_not_of(" \t\n\r") - first + 1);
   };
   const std::string lower = lowerCase(text);
   for (std::string_view rest = lower; !trimmed(rest).empty();) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view one = trimmed(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      const size_t equals = one.find('=');
      if (equals == std::string_view::npos) fail("Illegal argument to function");
      setOption(options, trimmed(one.substr(0, equals)), trimmed(one.substr(equals + 1)));
   }
   return options;
}

std::string pgpEncrypt(std::string_view data, bool isText, std::string_view password, const PgpOptions& options) {
   if (password.empty()) fail("Illegal argument to function");
   const int keyCipher = options.s2kCipher != 0 ? options.s2kCipher : options.cipher;
   const Cipher& outer = cipherOf(options.hasSessionKey ? keyCipher : options.cipher);
   KeyRecipe recipe{options.s2kMode, options.s2kDigest, {}, 0};
   std::string head = {'\x04', static_cast<char>(outer.number), static_cast<char>(recipe.mode),
                       static_cast<char>(recipe.digest)};
   if (recipe.mode != 0) head += recipe.salt = randomBytes(8);
   if (recipe.mode == 3) head += static_cast<char>(recipe.count = codedCount(options.s2kCount));
   SessionKey session{outer.number, keyFor(password, recipe, outer.keyBytes)};
   if (options.hasSessionKey) {
      const Cipher& inner = cipherOf(options.cipher);
      const std::string key = randomBytes(inner.keyBytes);
      head += feedback(outer, session.key, std::string(outer.blockBytes, '\0'), static_cast<char>(inner.number) + key,
                       true);
      session = {inner.number, key};
   }
   std::string packets = literalPacket(data, isText, options);
   if (options.compression != 0 && options.compressionLevel != 0)
      packets = packet(Compressed, static_cast<char>(options.compression) + deflated(packets, options));
   return packet(PasswordKey, head) + sealed(packets, session, options.hasChecksum);
}

std::string pgpDecrypt(std::string_view message, bool isText, std::string_view password, const PgpOptions& options) {
   SessionKey session;
   for (PacketReader reader(message); !reader.atEnd();) {
      const auto [tag, body] = reader.next();
      switch (tag) {
      case Marker: break;
      case EncryptedKey: throwNotSupported("messages of OpenPGP for public keys");
      case PasswordKey:
         if (session.key.empty()) session = readKey(body, password);
         break;
      case Encrypted:
      case CheckedEncrypted:
         if (session.key.empty()) corrupt();
         return literalData(opened(tag, body, session), isText, options);
      default: corrupt();
      }
   }
   corrupt();
}

} // namespace ouzel::executor

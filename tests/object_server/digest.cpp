#include "tests/object_server/digest.hpp"

#include <array>
#include <cstring>
#include <immintrin.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ouzel::object_server {

namespace {

std::string bigEndian(uint64_t value, int bytes) {
   std::string result;
   for (int i = bytes - 1; i >= 0; --i)
      result += static_cast<char>(value >> (8 * i));
   return result;
}

class OpenSslDigest final : public Digest {
public:
   explicit OpenSslDigest(const EVP_MD* type) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
      EVP_DigestInit_ex(context_.get(), type, nullptr);
   }
   void update(std::string_view bytes) override { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
   std::string finish() override {
      unsigned char sum[EVP_MAX_MD_SIZE];
      unsigned size = 0;
      EVP_DigestFinal_ex(context_.get(), sum, &size);
      return {reinterpret_cast<const char*>(sum), size};
   }

private:
   std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

/// Reflected CRCs of up to 64 bits, eight bytes a step by tables (Kounavis & Berry 2005).
class TableCrc final : public Digest {
public:
   using Tables = std::array<std::array<uint64_t, 256>, 8>;
   static Tables makeTables(uint64_t polynomial) {
      Tables tables{};
      for (uint64_t i = 0; i < 256; ++i) {
         uint64_t crc = i;
         for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ (crc & 1 ? polynomial : 0);
         tables[0][i] = crc;
      }
      for (size_t slice = 1; slice < 8; ++slice)
         for (size_t i = 0; i < 256; ++i)
            tables[slice][i] = (tables[slice - 1][i] >> 8) ^ tables[0][tables[slice - 1][i] & 0xff];
      return tables;
   }

   TableCrc(const Tables& tables, int bytes) : tables_(tables), bytes_(bytes), mask_(~uint64_t{0} >> (64 - 8 * bytes)) {
      crc_ = mask_;
   }
   void update(std::string_view text) override {
      const char* at = text.data();
      size_t left = text.size();
      for (; left >= 8; at += 8, left -= 8) {
         uint64_t word;
         std::memcpy(&word, at, 8);
         word ^= crc_;
         crc_ = 0;
         for (size_t i = 0; i < 8; ++i)
            crc_ ^= tables_[7 - i][(word >> (8 * i)) & 0xff];
      }
      for (; left > 0; ++at, --left)
         crc_ = (crc_ >> 8) ^ tables_[0][(crc_ ^ static_cast<unsigned char>(*at)) & 0xff];
   }
   std::string finish() override { return bigEndian(crc_ ^ mask_, bytes_); }

private:
   const Tables& tables_;
   const int bytes_;
   const uint64_t mask_;
   uint64_t crc_;
};

class Crc32c final : public Digest {
public:
   void update(std::string_view text) override {
      const char* at = text.data();
      size_t left = text.size();
      for (; left >= 8; at += 8, left -= 8) {
         uint64_t word;
         std::memcpy(&word, at, 8);
         crc_ = _mm_crc32_u64(crc_, word);
      }
      for (; left > 0; ++at, --left)
         crc_ = _mm_crc32_u8(static_cast<uint32_t>(crc_), static_cast<unsigned char>(*at));
   }
   std::string finish() override { return bigEndian(crc_ ^ 0xffffffffU, 4); }

private:
   uint64_t crc_ = 0xffffffffU;
};

class Xxh128 final : public Digest {
public:
   Xxh128() : state_(XXH3_createState(), XXH3_freeState) { XXH3_128bits_reset(state_.get()); }
   void update(std::string_view bytes) override { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }
   std::string finish() override {
      const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
      return bigEndian(hash.high64, 8) + bigEndian(hash.low64, 8);
   }

private:
   std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

} // namespace

std::unique_ptr<Digest> Digest::make(std::string_view algorithm) {
   static const TableCrc::Tables crc32 = TableCrc::makeTables(0xedb88320U);
   static const TableCrc::Tables crc64 = TableCrc::makeTables(0x9a6c9329ac4bc9b5U);
   if (algorithm == "md5") return std::make_unique<OpenSslDigest>(EVP_md5());
   if (algorithm == "sha1") return std::make_unique<OpenSslDigest>(EVP_sha1());
   if (algorithm == "sha256") return std::make_unique<OpenSslDigest>(EVP_sha256());
   if (algorithm == "crc32") return std::make_unique<TableCrc>(crc32, 4);
   if (algorithm == "crc32c") return std::make_unique<Crc32c>();
   if (algorithm == "crc64nvme") return std::make_unique<TableCrc>(crc64, 8);
   if (algorithm == "xxh128") return std::make_unique<Xxh128>();
   return nullptr;
}

std::string Digest::of(std::string_view algorithm, std::string_view bytes) {
   auto digest = make(algorithm);
   digest->update(bytes);
   return digest->finish();
}

std::string hmacSha256(std::string_view key, std::string_view text) {
   unsigned char sum[32];
   unsigned size = 0;
   HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
        text.size(), sum, &size);
   return {reinterpret_cast<const char*>(sum), size};
}

} // namespace ouzel::object_server

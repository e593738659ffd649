#include "common/tensor/digest.h"

#include <openssl/evp.h>

#include <memory>

#include "absl/strings/escaping.h"
#include "common/base/str_cat.h"

namespace weir {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void Update(const void* data, size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string Finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    return absl::BytesToHexString({reinterpret_cast<const char*>(digest), size});
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace

std::string ContentDigest(const Tensor& tensor) {
  const std::string type = tensor.type().ToString();
  const Tensor dense = tensor.Contiguous();
  Sha256 hash;
  hash.Update(type.data(), type.size());
  hash.Update(dense.raw_data(), dense.num_bytes());
  return hash.Finish();
}

std::string ContentDigest(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes.data(), bytes.size());
  return hash.Finish();
}

}  // namespace weir

#include "env/blank_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "problem/error.h"

namespace halidegym {

BlankPages::BlankPages(size_t size) : size_(std::max<size_t>(1, size)) {
    void *pages = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        throw OutOfResources("there are not " + std::to_string(size) + " bytes of memory for observations; use fewer " +
                             "environments, or smaller ones");
    }
    data_ = static_cast<std::byte *>(pages);
}

BlankPages::~BlankPages() {
    munmap(data_, size_);
}

}  // namespace halidegym

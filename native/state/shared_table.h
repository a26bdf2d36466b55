#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace halidegym {

// Values of a pure function by its argument, made when first asked for and kept as long as they fit: all threads share
// them, and none waits for another.
template <typename Key, typename Value, size_t num_buckets, size_t max_bytes>
class SharedTable {
public:
    SharedTable() = default;
    SharedTable(const SharedTable &) = delete;
    SharedTable &operator=(const SharedTable &) = delete;
    ~SharedTable() {
        for (auto &bucket : buckets_) {
            const Entry *list = bucket.load(std::memory_order_relaxed);
            while (list != nullptr) {
                delete std::exchange(list, list->next);
            }
        }
    }

    // The reference owns the value only if the table is full; else it is valid as long as the table.
    template <typename Make>
    std::shared_ptr<const Value> get(const Key &key, const Make &make) {
        std::atomic<const Entry *> &bucket = buckets_[key.hash() % num_buckets];
        for (const Entry *e = bucket.load(std::memory_order_acquire); e != nullptr; e = e->next) {
            if (e->key == key) {
                return borrowed(e->value);
            }
        }
        auto made = std::make_unique<Entry>(Entry{key, make(), nullptr});
        const size_t bytes = sizeof(Entry) + made->value.spilled_bytes();
        if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > max_bytes) {
            bytes_.fetch_sub(bytes, std::memory_order_relaxed);
            return std::make_shared<const Value>(std::move(made->value));
        }
        // Another thread may have put the same there meanwhile: one of the two is never found again.
        made->next = bucket.load(std::memory_order_relaxed);
        while (!bucket.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel)) {
        }
        return borrowed(made.release()->value);
    }

private:
    struct Entry {
        Key key;
        Value value;
        const Entry *next;
    };

    static std::shared_ptr<const Value> borrowed(const Value &value) { return {std::shared_ptr<void>(), &value}; }

    std::array<std::atomic<const Entry *>, num_buckets> buckets_{};
    std::atomic<size_t> bytes_ = 0;
};

}  // namespace halidegym

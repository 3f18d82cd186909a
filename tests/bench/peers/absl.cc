// SPDX-License-Identifier: BSD-2-Clause
// absl::flat_hash_map: the key's line is asked for some keys ahead. The only
// C++ here: that table is a template.
#define NDEBUG // as programs are built that are to be fast
#include <absl/container/flat_hash_map.h>

#include <array>

#include "peer.h"

namespace
{

using key = std::array<unsigned char, PEER_KEY>;
using table = absl::flat_hash_map<key, uint32_t>;

// Where it lies: a copy made just before would be read in other pieces than it
// was written in, for which the CPU waits, three times as long as for the rest.
const key &key_at(const uint8_t *bytes)
{
	return *reinterpret_cast<const key *>(bytes);
}

void *open_table(const peer_setup *)
{
	return new table;
}

void close_table(void *p)
{
	delete static_cast<table *>(p);
}

void prefetch(const table &t, const uint8_t *const *keys, size_t i, size_t n)
{
	if (i + PEER_PREFETCH < n)
		t.prefetch(key_at(keys[i + PEER_PREFETCH]));
}

void update(void *p, const uint8_t *const *keys, const uint32_t *values,
	    size_t n)
{
	table &t = *static_cast<table *>(p);

	for (size_t i = 0; i < n; i++) {
		prefetch(t, keys, i, n);
		t[key_at(keys[i])] = values[i];
	}
}

void lookup(void *p, const uint8_t *const *keys, uint32_t *values,
	    uint8_t *found, size_t n)
{
	const table &t = *static_cast<table *>(p);

	for (size_t i = 0; i < n; i++) {
		prefetch(t, keys, i, n);
		auto it = t.find(key_at(keys[i]));

		found[i] = it != t.end();
		if (found[i])
			values[i] = it->second;
	}
}

} // namespace

extern "C" const peer peer_absl = {
	.key_bytes = 90,
	.open = open_table,
	.take = nullptr,
	.update = update,
	.lookup = lookup,
	.bytes = nullptr,
	.pages = nullptr,
	.close = close_table,
};

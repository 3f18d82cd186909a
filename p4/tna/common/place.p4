/* SPDX-License-Identifier: BSD-2-Clause */
/* place.p4 - the parts of RETH and AtomicETH, to be put together. */
#ifndef TNA_PLACE
#define TNA_PLACE

/* Where an operation writes to, of RETH and of AtomicETH; RETH goes on with
 * the length. */
header place_h {
	bit<64> address;
	bit<32> rkey;
}

header dma_len_h {
	bit<32> v;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* row_field.p4 - a field of a row that belongs to a flow: a register. A flow
 * that takes the row puts its own there, and learns what was. */
#ifndef TNA_ROW_FIELD
#define TNA_ROW_FIELD

#define ROW_FIELD(name, bits, own, old, at, index_t, rows) \
	Register<bit<bits>, index_t>(rows) name; \
	RegisterAction<bit<bits>, index_t, bit<bits>>(name) swap_##name = { \
		void apply(inout bit<bits> v, out bit<bits> was) { \
			was = v; \
			v = own; \
		} \
	}; \
	action swap_row_##name() { \
		old = swap_##name.execute(at); \
	}

#endif

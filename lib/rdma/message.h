/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * message.h - an operation as words, for a message from one worker to another
 * (threads/threads.h).
 *
 *	bits	first word
 *	63	its second word is the immediate
 *	61-62	verb
 *	48-60	length
 *	40-47	table
 *	0-39	offset
 *
 * The last words are the addend, or the data, padded to words. Data that is
 * longer than both sides have agreed on is replaced by its address. So a write
 * or an addition of 8 bytes is two words, a pair.
 */
/* clang-format on */
#ifndef RDMA_MESSAGE_H
#define RDMA_MESSAGE_H

#include <string.h>

#include "rdma/op.h"

enum {
	OP_MESSAGE_OFFSET_BITS = 40,
	OP_MESSAGE_AT_TABLE = 40,
	OP_MESSAGE_AT_LENGTH = 48,
	OP_MESSAGE_AT_VERB = 61,
	OP_MESSAGE_TABLES = 256,
	OP_MESSAGE_LENGTH = 8191, /* at most */
};

#define OP_MESSAGE_OFFSET    ((UINT64_C(1) << OP_MESSAGE_OFFSET_BITS) - 1)
#define OP_MESSAGE_IMMEDIATE (UINT64_C(1) << 63)

_Static_assert(OP_FETCH_ADD < 4, "a verb has two bits");

/* The first word of an operation, without the offset. */
static inline uint64_t op_message_kind(unsigned table, uint32_t length,
				       enum op_verb verb)
{
	return (uint64_t)table << OP_MESSAGE_AT_TABLE |
	       (uint64_t)length << OP_MESSAGE_AT_LENGTH |
	       (uint64_t)verb << OP_MESSAGE_AT_VERB;
}

static inline uint16_t op_message_table(uint64_t word)
{
	return word >> OP_MESSAGE_AT_TABLE & 0xff;
}

static inline enum op_verb op_message_verb(uint64_t word)
{
	return word >> OP_MESSAGE_AT_VERB & 3;
}

/* Whether a first word begins a pair: 8 bytes, written or added, without an
 * immediate. */
static inline bool op_message_is_pair(uint64_t word)
{
	uint64_t kind = word >> OP_MESSAGE_AT_LENGTH;

	return kind == (8 | OP_WRITE << 13) || kind == (8 | OP_FETCH_ADD << 13);
}

/* Words of the data; copied: the longest data that a message holds itself. */
static inline size_t op_message_data(uint32_t length, uint32_t copied)
{
	return length > copied ? 1 : (length + 7) / 8;
}

/* Words of an operation's message, which holds data of up to copied bytes. */
static inline size_t op_message_words(const struct op *op, uint32_t copied)
{
	return 1u + (op->immediate != 0) + op_message_data(op->length, copied);
}

static inline void op_message_put(uint64_t *m, const struct op *op,
				  uint32_t copied)
{
	bool imm = op->immediate != 0;

	*m++ = op->offset | op_message_kind(op->table, op->length, op->verb) |
	       (uint64_t)imm << 63;
	if (imm)
		*m++ = op->immediate;
	if (op->verb == OP_FETCH_ADD || op->length > copied)
		*m = op->add; /* or op->data, the address */
	else if (op->length % 8)
		memcpy(m, op->data, op->length);
	else
		for (uint32_t i = 0; i < op->length; i += 8) /* no call */
			memcpy(m + i / 8, op->data + i, 8);
}

static inline uint32_t op_message_length(uint64_t word)
{
	return word >> OP_MESSAGE_AT_LENGTH & OP_MESSAGE_LENGTH;
}

/* The words of a message that begins with this one. */
static inline size_t op_message_size(uint64_t word, uint32_t copied)
{
	return 1 + (word >> 63) +
	       op_message_data(op_message_length(word), copied);
}

/* Reads the operation of a message; its data stays there. Returns the words. */
static inline size_t op_message_get(struct op *op, const uint64_t *m,
				    uint32_t copied)
{
	uint64_t head = *m++;

	*op = (struct op){
		.offset = head & OP_MESSAGE_OFFSET,
		.table = op_message_table(head),
		.length = op_message_length(head),
		.verb = op_message_verb(head),
	};
	if (head & OP_MESSAGE_IMMEDIATE)
		op->immediate = (uint32_t)*m++;
	if (op->verb == OP_FETCH_ADD || op->length > copied)
		op->add = *m;
	else
		op->data = (const uint8_t *)m;
	return op_message_size(head, copied);
}

/* Tables are split among owners into parts that end at page boundaries.
 * op_part() gives the part of an offset, by the factor of op_part_factor(). */
static inline uint64_t op_part_factor(uint64_t length, unsigned parts)
{
	return ((uint64_t)parts << 32) / ((length >> 12) + 1);
}

static inline unsigned op_part(uint64_t offset, uint64_t factor)
{
	return (unsigned)((offset >> 12) * factor >> 32);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum {
	PORTS_MAX = 1 << 20,
	PORTS_FIRST = 64, /* records that there is room for at first */
	EMPTY = 0,	  /* a slot; others hold a record's index + 1 */
};

/* By how much the device's time between two labels may differ from ours. */
#define SKEW_US	  UINT64_C(10000000)
#define MINUTE_NS UINT64_C(60000000000)

struct label_db {
	struct label_db_options o;
	struct label_db_ledger ctr;
	struct label_record *record;
	uint32_t *slot;	  /* 2 * room, a power of two */
	uint32_t n, room; /* records, and how many there is room for */
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct label_db_ledger, items, LEDGER_IN),
	LEDGER_FIELD(struct label_db_ledger, new, LEDGER_DONE),
	LEDGER_FIELD(struct label_db_ledger, updated, LEDGER_DONE),
	LEDGER_FIELD(struct label_db_ledger, reset, LEDGER_DONE),
	LEDGER_FIELD(struct label_db_ledger, late, LEDGER_HARMLESS),
	LEDGER_FIELD(struct label_db_ledger, duplicate, LEDGER_HARMLESS),
	LEDGER_FIELD(struct label_db_ledger, future, LEDGER_LOSS),
	LEDGER_FIELD(struct label_db_ledger, back, LEDGER_LOSS),
	LEDGER_FIELD(struct label_db_ledger, unknown, LEDGER_LOSS),
	LEDGER_FIELD(struct label_db_ledger, full, LEDGER_LOSS),
	LEDGER_BEFORE(struct label_db_ledger, missing, 1),
	LEDGER_FIELD(struct label_db_ledger, found, LEDGER_NOTE),
	LEDGER_FIELD(struct label_db_ledger, forgotten, LEDGER_NOTE),
};
LEDGER_COMPLETE(fields, struct label_db_ledger);

const struct ledger label_db_ledger = {"database", "items", fields,
				       sizeof(fields) / sizeof(fields[0])};

/* --- finding a port's record ---------------------------------------------- */

static uint32_t hash_port(const struct label_db *db, uint32_t device,
			  uint16_t out)
{
	return (uint32_t)rng_mix((uint64_t)device << 16 | out) &
	       (2 * db->room - 1);
}

/* The slot of a port, or the empty one where it would be. */
static uint32_t *find_slot(const struct label_db *db, uint32_t device,
			   uint16_t out)
{
	uint32_t i = hash_port(db, device, out);
	const struct label_record *r;

	for (; db->slot[i] != EMPTY; i = (i + 1) & (2 * db->room - 1)) {
		r = &db->record[db->slot[i] - 1];
		if (r->device == device && r->out == out)
			break;
	}
	return &db->slot[i];
}

static int grow_table(struct label_db *db, uint32_t room)
{
	uint32_t *slot = calloc(2 * (size_t)room, sizeof(*slot));
	struct label_record *record = realloc(db->record,
					      room * sizeof(*record));

	if (record)
		db->record = record;
	if (!slot || !record) {
		free(slot);
		return -ENOMEM;
	}
	free(db->slot);
	db->slot = slot;
	db->room = room;
	for (uint32_t i = 0; i < db->n; i++)
		*find_slot(db, record[i].device, record[i].out) = i + 1;
	return 0;
}

int label_db_open(struct label_db **out, const struct label_db_options *o)
{
	struct label_db *db = calloc(1, sizeof(*db));

	if (!db)
		return -ENOMEM;
	db->o = *o;
	if (!db->o.ports_max)
		db->o.ports_max = PORTS_MAX;
	if (grow_table(db, PORTS_FIRST) < 0) {
		label_db_close(db);
		return -ENOMEM;
	}
	*out = db;
	return 0;
}

void label_db_close(struct label_db *db)
{
	if (!db)
		return;
	free(db->record);
	free(db->slot);
	free(db);
}

uint32_t label_db_ports(const struct label_db *db)
{
	return db->n;
}

struct label_record *label_db_at(struct label_db *db, uint32_t index)
{
	return &db->record[index];
}

struct label_record *label_db_find(struct label_db *db, uint32_t device,
				   uint16_t out)
{
	uint32_t slot = *find_slot(db, device, out);

	return slot == EMPTY ? NULL : &db->record[slot - 1];
}

const struct label_db_ledger *label_db_counters(const struct label_db *db)
{
	return &db->ctr;
}

static bool is_accepted_device(const struct label_db_options *o,
			       uint32_t device)
{
	for (unsigned i = 0; i < o->n_devices; i++)
		if (device >= o->devices[i].from && device <= o->devices[i].to)
			return true;
	return !o->n_devices;
}

/* Empties a slot of the linear probing table, and moves later slots of its
 * cluster into the hole, as find_slot() stops at an empty one. */
static void close_gap(struct label_db *db, uint32_t hole)
{
	uint32_t mask = 2 * db->room - 1, i = hole;

	db->slot[hole] = EMPTY;
	for (i = (i + 1) & mask; db->slot[i] != EMPTY; i = (i + 1) & mask) {
		const struct label_record *r = &db->record[db->slot[i] - 1];
		uint32_t home = hash_port(db, r->device, r->out);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue; /* it is found without passing the hole */
		db->slot[hole] = db->slot[i];
		db->slot[i] = EMPTY;
		hole = i;
	}
}

void label_db_forget(struct label_db *db, uint32_t index)
{
	struct label_record *r = &db->record[index];
	const struct label_record *last = &db->record[db->n - 1];

	close_gap(db, (uint32_t)(find_slot(db, r->device, r->out) - db->slot));
	if (r != last) {
		*find_slot(db, last->device, last->out) = index + 1;
		*r = *last;
	}
	db->n--;
	db->ctr.forgotten++;
}

/* --- this minute and the one before --------------------------------------- */

static void count_recent(struct label_record *r, uint32_t lost, uint64_t now_ns)
{
	uint64_t minute = now_ns / MINUTE_NS;

	if (minute != r->minute) {
		bool next = minute == r->minute + 1;

		r->recent[1] = next ? r->recent[0] : (struct label_recent){0};
		r->recent[0] = (struct label_recent){0};
		r->minute = minute;
	}
	r->recent[0].labels++;
	r->recent[0].lost += lost;
}

struct label_recent label_recent(const struct label_record *r, uint64_t now_ns)
{
	uint64_t ago = now_ns / MINUTE_NS - r->minute;
	struct label_recent sum = {0};

	if (ago <= 1)
		sum = r->recent[0];
	if (!ago) {
		sum.labels += r->recent[1].labels;
		sum.lost += r->recent[1].lost;
	}
	if (sum.lost < 0)
		sum.lost = 0;
	return sum;
}

/* --- sequence numbers of labels; 0: the label has none -------------------- */

static int32_t number_ahead(const struct label_record *r, uint32_t number)
{
	return (int32_t)(number - r->number);
}

/* Whether a label is newer than the record by its number. */
static bool is_newer(const struct label_record *r, uint32_t number)
{
	return number && r->number && number_ahead(r, number) > 0;
}

/* Whether the number may be that of a device that has restarted. */
static bool may_be_restart(const struct label_record *r, uint32_t number)
{
	return number && number <= LABEL_RESTART_NUMBER_MAX &&
	       number < r->number;
}

/* How many numbers are missing before a newer item's; 0 if it is not newer. As
 * 0 is no number, it is not counted where numbers wrap around. */
static uint32_t gap_before(const struct label_record *r, uint32_t number)
{
	if (!is_newer(r, number))
		return 0;
	return (uint32_t)number_ahead(r, number) - 1 - (number < r->number);
}

/* Counts the numbers missing before a newer item's, and returns how many. */
static uint32_t count_gap(struct label_db *db, struct label_record *r,
			  uint32_t number)
{
	int32_t ahead = number_ahead(r, number);
	uint32_t gap = gap_before(r, number);

	r->window = is_newer(r, number) && ahead < 64 ? r->window << ahead | 1
						      : 1;
	r->missing += gap;
	db->ctr.missing += gap;
	return gap;
}

/* Whether an older item was seen before; false, too, if it is too old for the
 * window. One in the window that was not seen counts as found. */
static bool seen_before(struct label_db *db, struct label_record *r,
			const struct label_item *item)
{
	uint32_t behind = r->number - item->number;
	uint64_t bit;

	if (!item->number || !r->number)
		return item->time_us == r->time_us;
	if (behind > 63)
		return false;
	bit = UINT64_C(1) << behind;
	if (r->window & bit)
		return true;
	r->window |= bit;
	if (r->missing > r->found) {
		r->found++;
		db->ctr.found++;
		r->recent[0].lost--;
		db->ctr.missing--;
	}
	return false;
}

/* --- time ----------------------------------------------------------------- */

/* Microseconds from one label time to another; they wrap around at 48 bits. */
static int64_t time_ahead(uint64_t from, uint64_t to)
{
	return (int64_t)((to - from) << 16) >> 16;
}

/* Whether a device's clock may go on by there_us while ours does by here_ns. */
static bool may_pass(int64_t there_us, uint64_t here_ns)
{
	return there_us >= -(int64_t)SKEW_US &&
	       there_us <= (int64_t)(here_ns / 1000 + SKEW_US);
}

/* Notes an odd item. Returns whether the record begins anew with it: db.h. */
static bool begins_anew(struct label_record *r, const struct label_item *item,
			uint64_t now_ns)
{
	int64_t there_us = time_ahead(r->odd_us, item->time_us);
	uint64_t here_ns = now_ns - r->odd_ns;
	bool agrees = r->odd && there_us > 0 && may_pass(there_us, here_ns) &&
		      there_us + (int64_t)SKEW_US >= (int64_t)(here_ns / 1000);

	r->odd = agrees ? (uint8_t)(r->odd + 1) : 1;
	r->odd_us = item->time_us;
	r->odd_ns = now_ns;
	if (r->odd == LABEL_ODD_MAX)
		return true;
	return time_ahead(r->time_us, item->time_us) < 0 &&
	       may_be_restart(r, item->number);
}

/* --- an item -------------------------------------------------------------- */

/* Makes the item the port's newest state. lost: numbers missing before it. */
static void set_state(struct label_record *r, const struct label_item *item,
		      uint32_t lost, uint64_t now_ns)
{
	count_recent(r, lost, now_ns);
	r->in = item->in;
	r->time_us = item->time_us;
	r->previous_ns = r->seen_ns;
	r->seen_ns = now_ns;
	r->latency_ns = item->latency_ns;
	r->queue = item->queue;
	if (item->queue > r->queue_max)
		r->queue_max = item->queue;
	r->number = item->number;
	r->labels++;
	r->odd = 0;
}

static enum label_update add_new(struct label_db *db,
				 const struct label_item *item, uint64_t now_ns)
{
	struct label_record *r;

	if (db->n == db->o.ports_max ||
	    (db->n == db->room && grow_table(db, 2 * db->room) < 0)) {
		db->ctr.full++;
		return LABEL_REFUSED;
	}
	r = &db->record[db->n];
	*r = (struct label_record){.device = item->device,
				   .out = item->out,
				   .changed_ns = now_ns,
				   .window = 1};
	set_state(r, item, 0, now_ns);
	*find_slot(db, r->device, r->out) = ++db->n;
	db->ctr.new ++;
	return LABEL_STARTED;
}

static enum label_update restart_record(struct label_db *db,
					struct label_record *r,
					const struct label_item *item,
					uint64_t now_ns)
{
	db->ctr.reset++;
	r->resets++;
	r->window = 1;
	set_state(r, item, 0, now_ns);
	return LABEL_STARTED;
}

static enum label_update handle_odd(struct label_db *db, struct label_record *r,
				    const struct label_item *item,
				    uint64_t now_ns)
{
	if (begins_anew(r, item, now_ns))
		return restart_record(db, r, item, now_ns);
	if (time_ahead(r->time_us, item->time_us) > 0)
		db->ctr.future++;
	else
		db->ctr.back++;
	return LABEL_REFUSED;
}

static enum label_update update_known(struct label_db *db,
				      struct label_record *r,
				      const struct label_item *item,
				      uint64_t now_ns)
{
	int64_t there_us = time_ahead(r->time_us, item->time_us);
	uint64_t here_us = (now_ns - r->seen_ns) / 1000;
	uint64_t most_us = (uint64_t)there_us > here_us ? (uint64_t)there_us
							: here_us;

	if (!may_pass(there_us, now_ns - r->seen_ns))
		return handle_odd(db, r, item, now_ns);
	if (there_us < 0 || (!there_us && !is_newer(r, item->number))) {
		bool again = seen_before(db, r, item);

		db->ctr.duplicate += again;
		db->ctr.late += !again;
		r->late += !again;
		return LABEL_REFUSED;
	}
	/* The device has restarted, but its clock did not go back. */
	if (may_be_restart(r, item->number) &&
	    number_ahead(r, item->number) <= 0)
		return restart_record(db, r, item, now_ns);
	/* More labels are missing than can have been written since the last. */
	if (gap_before(r, item->number) > LABEL_BURST + most_us)
		return handle_odd(db, r, item, now_ns);
	set_state(r, item, count_gap(db, r, item->number), now_ns);
	db->ctr.updated++;
	return LABEL_UPDATED;
}

void label_db_prefetch(const struct label_db *db,
		       const struct label_item *items, unsigned n)
{
	const uint32_t *slot;

	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(&db->slot[hash_port(db, items[i].device,
						       items[i].out)]);
	for (unsigned i = 0; i < n; i++) {
		slot = &db->slot[hash_port(db, items[i].device, items[i].out)];
		if (*slot == EMPTY)
			continue;
		__builtin_prefetch(&db->record[*slot - 1], 1);
		__builtin_prefetch(&db->record[*slot - 1].window, 1);
	}
}

enum label_update label_db_update(struct label_db *db,
				  const struct label_item *item,
				  uint64_t now_ns, uint32_t *index)
{
	uint32_t slot;

	db->ctr.items++;
	if (!is_accepted_device(&db->o, item->device)) {
		db->ctr.unknown++;
		return LABEL_REFUSED;
	}
	slot = *find_slot(db, item->device, item->out);
	*index = slot == EMPTY ? db->n : slot - 1;
	return slot == EMPTY
		       ? add_new(db, item, now_ns)
		       : update_known(db, &db->record[*index], item, now_ns);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger.p4 - the counters of dta_translator: indices, named as those of
 * dta-translate's ledger; received = stored + the drops.
 */
#ifndef P4_LEDGER
#define P4_LEDGER

const bit<8> LEDGER_STORED = 0;
const bit<8> LEDGER_FOREIGN = 1;
const bit<8> LEDGER_MALFORMED = 2;
const bit<8> LEDGER_BAD_VERSION = 3;
const bit<8> LEDGER_BAD_OPCODE = 4;
const bit<8> LEDGER_BAD_TABLE = 5;
const bit<8> LEDGER_BAD_KEY = 6;
const bit<8> LEDGER_BAD_DATA = 7;
const bit<8> LEDGER_BAD_COPIES = 8;
const bit<8> LEDGER_BAD_HOP = 9;
const bit<8> LEDGER_BAD_LIST = 10;
const bit<8> LEDGER_BAD_VALUE = 11;
const bit<8> LEDGER_OUT_OF_ORDER = 12;
const bit<8> LEDGER_REPEATED = 13;
const bit<8> LEDGER_RATE_LIMITED = 14;
const bit<8> LEDGER_QUESTIONS = 15;
const bit<8> LEDGER_ANSWERS = 16; /* of the collector */
/* notes, beside one of those above */
const bit<8> LEDGER_RECEIVED = 17;
const bit<8> LEDGER_NACKS_SENT = 18;
const bit<8> LEDGER_GAPS = 19;
const bit<8> LEDGER_CHUNKS = 20;
const bit<8> LEDGER_EARLY = 21;
const bit<8> LEDGER_DUPLICATES = 22;
const bit<8> LEDGER_BATCHES = 23;
const bit<8> LEDGER_PARTIAL_BATCHES = 24;
const bit<8> LEDGER_FLUSHES = 25;
const bit<32> LEDGER_COUNTERS = 26;

#endif

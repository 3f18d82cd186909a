/* SPDX-License-Identifier: BSD-2-Clause */
#include "int_collect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/text.h"
#include "telemetry/objects.h"

enum {
	TEXT_MAX = 128,
};

/* The published INTCollector has a threshold of 50 for every metric, whatever
 * its unit. Latencies of real nodes vary by more than 50 ns. */
static const struct threshold defaults[METRIC_NUMBERS] = {
	[METRIC_HOP_LATENCY] = {.change = 10000},
	[METRIC_QUEUE_OCCUPANCY] = {.change = 50},
	[METRIC_LINK_UTILIZATION] = {.change = 50},
	[METRIC_QUEUE_CONGESTION] = {.change = 50},
	[METRIC_BUFFER_OCCUPANCY] = {.change = 50},
	[METRIC_FLOW_LATENCY] = {.change = 50000},
};

/* A metric that is a number. -EINVAL: why says which there are. */
static int number_metric(const char *name, struct error *why)
{
	int metric = metric_of(name);

	if (metric >= 0 && metric != METRIC_PATH)
		return metric;
	return error_set(
		why, -EINVAL,
		"'%s' is no metric: hop_latency, queue_occupancy, "
		"link_utilization, queue_congestion, buffer_occupancy, "
		"flow_latency, flow_queue_occupancy, flow_link_utilization, "
		"flow_queue_congestion, flow_buffer_occupancy",
		name);
}

static bool is_latency(int metric)
{
	return metric == METRIC_HOP_LATENCY || metric == METRIC_FLOW_LATENCY;
}

/* A value of it, below UINT32_MAX: a number, of latencies also a time. 0 or
 * -EINVAL. */
static int value_of(uint32_t *out, int metric, const char *text)
{
	uint64_t v;

	if (!text_number(&v, text, UINT32_MAX) &&
	    !(is_latency(metric) && text_duration_ns(&v, text)))
		return -EINVAL;
	if (v >= UINT32_MAX)
		return -EINVAL;
	*out = (uint32_t)v;
	return 0;
}

/* "CHANGE[,HIGH[,LOW]]", which is written to. */
static int levels_of(struct threshold *th, int metric, char *text,
		     struct error *err)
{
	char *change = strsep(&text, ","), *high = strsep(&text, ",");
	char *low = text;

	*th = (struct threshold){0};
	if (!strcmp(change, "off"))
		th->change = THRESHOLD_OFF;
	else if (value_of(&th->change, metric, change) < 0)
		return error_set(err, -EINVAL,
				 "change: '%s' is not off or a value below "
				 "4294967295",
				 change);
	if (!high || !strcmp(high, "off"))
		return low ? error_set(err, -EINVAL,
				       "low: there is no high threshold")
			   : 0;
	if (value_of(&th->high, metric, high) < 0 || !th->high)
		return error_set(err, -EINVAL,
				 "high: '%s' is not off or a value from 1 to "
				 "4294967294",
				 high);
	th->low = th->high;
	if (low && (value_of(&th->low, metric, low) < 0 || th->low > th->high))
		return error_set(err, -EINVAL,
				 "low: '%s' is not a value up to high, %u", low,
				 th->high);
	return 0;
}

/* Of all nodes, or of flows: what is watched from end to end beside the latency
 * is so because it has a threshold. */
static void set_all(struct telemetry_thresholds *t, int metric,
		    const struct threshold *th)
{
	unsigned end = (unsigned)metric - METRIC_FLOW_QUEUE_OCCUPANCY;

	if (metric < METRIC_NUMBERS) {
		t->all[metric] = *th;
		return;
	}
	t->end[end] = *th;
	t->ends &= ~(1U << end);
	if (th->change != THRESHOLD_OFF || th->high)
		t->ends |= 1U << end;
}

/* One of a node, or of all: name is "METRIC[@NODE]". */
static int set(struct thresholds *out, const char *name, const char *value,
	       struct error *err)
{
	char text[TEXT_MAX], *node = NULL;
	struct threshold th;
	uint64_t id;
	int metric, rc;

	if (strlen(name) >= sizeof(text) || strlen(value) >= sizeof(text))
		return error_set(err, -EINVAL, "is too long");
	memcpy(text, name, strlen(name) + 1);
	if ((node = strchr(text, '@')))
		*node++ = '\0';
	metric = number_metric(text, err);
	if (metric < 0)
		return metric;
	if (node &&
	    (!text_number(&id, node, UINT64_MAX) || metric >= METRIC_OF_HOP))
		return error_set(err, -EINVAL, "'%s' is not the id of a node%s",
				 node,
				 metric >= METRIC_OF_HOP
					 ? ", nor is this metric a node's"
					 : "");
	memcpy(text, value, strlen(value) + 1);
	if ((rc = levels_of(&th, metric, text, err)) < 0)
		return rc;
	if (!node) {
		set_all(&out->t, metric, &th);
		return 0;
	}
	if (out->t.nodes == THRESHOLDS_MAX)
		return error_set(err, -E2BIG, "more than %d of single nodes",
				 THRESHOLDS_MAX);
	out->node[out->t.nodes++] = (struct node_threshold){
		.node = id, .metric = (uint8_t)metric, .threshold = th};
	return 0;
}

static int read_file(struct thresholds *out, const char *path,
		     struct error *err)
{
	struct ini i = {.name = path,
			.strange = "not a line of thresholds",
			.err = err};
	struct error why;
	int rc;

	if (!(i.in = fopen(path, "re")))
		return error_set(err, -errno, "%s: %s", path, strerror(errno));
	while ((rc = ini_next(&i)) > 0) {
		if (i.section[0])
			rc = ini_error(&i, i.header, -EINVAL,
				       "there are no sections here");
		else if ((rc = set(out, i.key, i.value, &why)) < 0)
			rc = ini_error(&i, i.line, rc, "%s: %s", i.key,
				       why.text);
		if (rc < 0)
			break;
	}
	fclose(i.in);
	return rc;
}

/* "METRIC[@NODE]=..." of the command line. */
static int read_option(struct thresholds *out, const char *text,
		       struct error *err)
{
	const char *is = strchr(text, '=');
	char name[TEXT_MAX];
	struct error why;

	if (!is || (size_t)(is - text) >= sizeof(name))
		return error_set(err, -EINVAL,
				 "--threshold: '%s' is not "
				 "METRIC[@NODE]=CHANGE[,HIGH[,LOW]]",
				 text);
	memcpy(name, text, (size_t)(is - text));
	name[is - text] = '\0';
	if (set(out, name, is + 1, &why) < 0)
		return error_set(err, -EINVAL, "--threshold: '%s': %s", text,
				 why.text);
	return 0;
}

int thresholds_read(struct thresholds *out, const struct opts *o,
		    struct error *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	memcpy(out->t.all, defaults, sizeof(defaults));
	out->t.node = out->node;
	if (o->thresholds && (rc = read_file(out, o->thresholds, err)) < 0)
		return rc == -EINVAL ? -EBADMSG : rc;
	for (unsigned i = 0; i < o->n_thresholds; i++)
		if ((rc = read_option(out, o->threshold[i], err)) < 0)
			return rc;
	if (o->xdp && out->t.ends)
		return error_set(err, -EINVAL,
				 "with --xdp the kernel compares no flow_* but "
				 "flow_latency");
	return 0;
}

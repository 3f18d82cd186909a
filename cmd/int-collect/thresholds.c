/* SPDX-License-Identifier: BSD-2-Clause */
/* thresholds.c - reads thresholds, from the command line and a file. */
#include "int_collect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/text.h"
#include "telemetry/objects.h"

/* The published INTCollector has a threshold of 50 for every metric, whatever
 * its unit. Latencies of real nodes vary by more than 50 ns. */
static const struct threshold defaults[NUMERIC_METRICS] = {
	[METRIC_HOP_LATENCY] = {.change = 10000},
	[METRIC_QUEUE_OCCUPANCY] = {.change = 50},
	[METRIC_LINK_UTILIZATION] = {.change = 50},
	[METRIC_QUEUE_CONGESTION] = {.change = 50},
	[METRIC_BUFFER_OCCUPANCY] = {.change = 50},
	[METRIC_FLOW_LATENCY] = {.change = 50000},
};

/* The metric of a name, but not path; -EINVAL: there is none. */
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

/* Reads a value below UINT32_MAX: a number; of latencies also a time. */
static bool read_value(uint32_t *out, int metric, const char *text)
{
	uint64_t v;

	if (!text_number(&v, text, UINT32_MAX) &&
	    !((metric == METRIC_HOP_LATENCY || metric == METRIC_FLOW_LATENCY) &&
	      text_duration_ns(&v, text)))
		return false;
	*out = (uint32_t)v;
	return v < UINT32_MAX;
}

/* Reads "CHANGE[,HIGH[,LOW]]", and cuts up the text. */
static int read_levels(struct threshold *th, int metric, char *text,
		       struct error *err)
{
	char *change = strsep(&text, ","), *high = strsep(&text, ",");
	char *low = text;

	*th = (struct threshold){0};
	if (!strcmp(change, "off"))
		th->change = THRESHOLD_OFF;
	else if (!read_value(&th->change, metric, change))
		return error_set(err, -EINVAL,
				 "change: '%s' is not off or a value below "
				 "4294967295 (of latencies a time, too: 50us)",
				 change);
	if (!high || !strcmp(high, "off"))
		return low ? error_set(err, -EINVAL,
				       "low: there is no high threshold")
			   : 0;
	if (!read_value(&th->high, metric, high) || !th->high)
		return error_set(err, -EINVAL,
				 "high: '%s' is not off or a value from 1 to "
				 "4294967294",
				 high);
	th->low = th->high;
	if (low && (!read_value(&th->low, metric, low) || th->low > th->high))
		return error_set(err, -EINVAL,
				 "low: '%s' is not a value up to high, %u", low,
				 th->high);
	return 0;
}

/* Reads "METRIC[@NODE]=CHANGE...", and cuts up the text. */
static int set_threshold(struct thresholds *out, char *text, struct error *err)
{
	char *name = strsep(&text, "="), *node = name;
	struct telemetry_thresholds *t = &out->t;
	struct threshold th;
	unsigned end;
	uint64_t id;
	int metric, rc;

	strsep(&node, "@");
	metric = number_metric(name, err);
	if (metric < 0)
		return metric;
	if (!text)
		return error_set(err, -EINVAL,
				 "is not METRIC[@NODE]=CHANGE[,HIGH[,LOW]]");
	if (node &&
	    (!text_number(&id, node, UINT64_MAX) || metric >= HOP_METRICS))
		return error_set(
			err, -EINVAL, "'%s' is not the id of a node%s", node,
			metric >= HOP_METRICS ? ", nor is this metric a node's"
					      : "");
	if ((rc = read_levels(&th, metric, text, err)) < 0)
		return rc;
	if (node && t->nodes == THRESHOLDS_MAX)
		return error_set(err, -E2BIG, "more than %d of single nodes",
				 THRESHOLDS_MAX);
	if (node) {
		out->node[t->nodes++] = (struct node_threshold){
			.node = id, .metric = (uint8_t)metric, .threshold = th};
	} else if (metric < NUMERIC_METRICS) {
		t->all[metric] = th;
	} else {
		/* An end-to-end metric is compared if it has a threshold. */
		end = (unsigned)metric - METRIC_FLOW_QUEUE_OCCUPANCY;
		t->end[end] = th;
		t->ends_watched &= ~(1U << end);
		if (th.change != THRESHOLD_OFF || th.high)
			t->ends_watched |= 1U << end;
	}
	return 0;
}

static int read_file(struct thresholds *out, const char *path,
		     struct error *err)
{
	struct ini i = {.name = path,
			.bad_line = "not a line of thresholds",
			.err = err};
	char text[2 * sizeof(i.text)];
	struct error why;
	int rc;

	if (!(i.in = fopen(path, "re")))
		return error_set(err, -errno, "%s: %s", path, strerror(errno));
	while ((rc = ini_next(&i)) > 0) {
		snprintf(text, sizeof(text), "%s=%s", i.key, i.value);
		if (i.section[0])
			rc = ini_error(&i, i.header, -EINVAL,
				       "there are no sections here");
		else if ((rc = set_threshold(out, text, &why)) < 0)
			rc = ini_error(&i, i.line, rc, "%s: %s", i.key,
				       why.text);
		if (rc < 0)
			break;
	}
	fclose(i.in);
	return rc;
}

int thresholds_read(struct thresholds *out, const struct opts *o,
		    struct error *err)
{
	char text[2 * INI_LINE_MAX];
	struct error why;
	int rc;

	memset(out, 0, sizeof(*out));
	memcpy(out->t.all, defaults, sizeof(defaults));
	out->t.node = out->node;
	if (o->thresholds && (rc = read_file(out, o->thresholds, err)) < 0)
		return rc == -EINVAL ? -EBADMSG : rc;
	for (unsigned i = 0; i < o->n_thresholds; i++) {
		snprintf(text, sizeof(text), "%s", o->threshold[i]);
		if (set_threshold(out, text, &why) < 0)
			return error_set(err, -EINVAL, "--threshold: '%s': %s",
					 o->threshold[i], why.text);
	}
	if (o->xdp && out->t.ends_watched)
		return error_set(err, -EINVAL,
				 "with --xdp the kernel compares no flow_* but "
				 "flow_latency");
	return 0;
}

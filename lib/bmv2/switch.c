/* SPDX-License-Identifier: BSD-2-Clause */
#include "bmv2/switch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "wire/be.h"
#include "wire/int_profile.h"

enum {
	QUEUE = 65536, /* packets, of a port: a burst */
	CHANCE_BITS = 32,
};

const char *const bmv2_switch_names[BMV2_PROGRAMS + 1] = {
	[BMV2_INT_LABEL] = "int_label",
	[BMV2_INT_NODE] = "int_node",
};

static const struct {
	const char *ingress, *egress, *mirrored;
} controls[] = {
	[BMV2_INT_LABEL] = {"LabelIngress", "LabelEgress", "exports_to"},
	[BMV2_INT_NODE] = {"NodeIngress", "NodeEgress", "reports_to"},
};

static bool read_prefix(struct bmv2_way *w, const char *text, size_t len)
{
	char copy[TEXT_IP_MAX], *slash;
	uint64_t bits = 32;
	uint8_t ip[16];

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if ((slash = strchr(copy, '/'))) {
		*slash = '\0';
		if (!text_u64(&bits, slash + 1, 32))
			return false;
	}
	if (text_ip(ip, copy) != 4)
		return false;
	memcpy(w->ip, ip, 4);
	w->by_address = true;
	w->bits = (uint8_t)bits;
	return bits == 32 || !(be32_load(ip) & UINT32_MAX >> bits);
}

int bmv2_way_read(struct bmv2_way *out, const char *text, struct fault *why)
{
	struct bmv2_way w = {0};
	const char *to = strchr(text, '=');
	uint64_t port, from;

	if (!to || !text_u64(&port, to + 1, BMV2_PORTS - 1))
		return fault_set(why, -EINVAL, "is not FROM=TO, TO a port");
	w.to = (uint16_t)port;
	if (text_digits(&from, text, BMV2_PORTS - 1) == to)
		w.from = (uint16_t)from;
	else if (!read_prefix(&w, text, (size_t)(to - text)))
		return fault_set(why, -EINVAL,
				 "is not FROM=TO, FROM a port, or an address "
				 "or a prefix of IPv4");
	*out = w;
	return 0;
}

int bmv2_ip_read(uint8_t out[4], const char *text, struct fault *why)
{
	uint8_t ip[16];

	if (text_ip(ip, text) != 4)
		return fault_set(why, -EINVAL, "is no IPv4 address");
	memcpy(out, ip, 4);
	return 0;
}

int bmv2_mac_read(uint8_t out[6], const char *text, struct fault *why)
{
	return text_mac(out, text)
		       ? 0
		       : fault_set(why, -EINVAL, "is no MAC address");
}

int bmv2_switch_hosts(struct bmv2_switch *s, const char *text,
		      struct fault *why)
{
	uint64_t port;

	do {
		text = text_digits(&port, text, BMV2_PORTS - 1);
		if (!text || (*text && *text != ','))
			return fault_set(why, -EINVAL,
					 "is not a list of ports: 3,4");
		s->host[port] = true;
	} while (*text++);
	return 0;
}

int bmv2_switch_instructions(struct bmv2_switch *s, const char *text,
			     struct fault *why)
{
	uint64_t bits;

	if (!text_number(&bits, text, UINT16_MAX) || !bits ||
	    bits & ~(uint64_t)BMV2_ASKS)
		return fault_set(why, -EINVAL, "has not bits of 0x%x alone",
				 BMV2_ASKS);
	s->instructions = (uint16_t)bits;
	return 0;
}

int bmv2_switch_watch(struct bmv2_switch *s, const char *text,
		      struct fault *why)
{
	if (!strcmp(text, "all")) {
		s->watch_all = true;
		return 0;
	}
	if (s->n_watched == BMV2_WATCHED)
		return fault_set(why, -E2BIG, "is one above %d", BMV2_WATCHED);
	if (!strchr(text, '>') ||
	    key_parse(s->watched[s->n_watched], KEY_FLOW4, KEY_FLOW4_LEN, text))
		return fault_set(why, -EINVAL,
				 "is not all, and no flow of IPv4: "
				 "10.0.0.1:443>10.0.0.2:5501/tcp");
	s->n_watched++;
	return 0;
}

void bmv2_switch_addresses(struct bmv2_switch *s)
{
	static const uint8_t none[6] = {0};

	if (!memcmp(s->ip, none, sizeof(s->ip))) {
		memcpy(s->ip, (uint8_t[]){10, 3}, 2);
		be16_store(s->ip + 2, (uint16_t)s->device);
	}
	if (!memcmp(s->mac, none, sizeof(s->mac))) {
		memcpy(s->mac, (uint8_t[]){2, 0, 0, 3}, 4);
		be16_store(s->mac + 4, (uint16_t)s->device);
	}
}

static void write_way(const struct bmv2_way *w, const char *ingress, FILE *out)
{
	char ip[TEXT_IP_MAX];

	if (w->by_address)
		fprintf(out,
			"table_add %s.forward.routes %s.forward.to_port %s/%u "
			"=> %u\n",
			ingress, ingress, text_of_ip(ip, 4, w->ip), w->bits,
			w->to);
	else
		fprintf(out,
			"table_add %s.forward.ports %s.forward.to_port %u => "
			"%u\n",
			ingress, ingress, w->from, w->to);
}

static void write_ways(const char *ingress, const struct bmv2_way *ways,
		       unsigned n, FILE *out)
{
	bool used[BMV2_PORTS] = {false};

	for (unsigned i = 0; i < n; i++) {
		if (!used[ways[i].to])
			fprintf(out, "set_queue_depth %d %u\n", QUEUE,
				ways[i].to);
		used[ways[i].to] = true;
		write_way(&ways[i], ingress, out);
	}
}

static void write_mirror(const struct bmv2_switch *s, FILE *out)
{
	const char *egress = controls[s->program].egress;
	char mac[2][TEXT_MAC_MAX], ip[2][TEXT_IP_MAX];

	fprintf(out,
		"set_queue_depth %d %u\n"
		"mirroring_add 1 %u\n"
		"table_set_default %s.%s %s.collector %s %s %s %s\n",
		QUEUE, s->mirror, s->mirror, egress,
		controls[s->program].mirrored, egress,
		text_of_mac(mac[0], s->peer_mac), text_of_mac(mac[1], s->mac),
		text_of_ip(ip[0], 4, s->ip), text_of_ip(ip[1], 4, s->peer_ip));
}

/* f of Base B: of no labels, of one, ... */
static void write_chances(const struct label_policy *p, FILE *out)
{
	const double all = (double)(UINT64_C(1) << CHANCE_BITS);

	for (unsigned n = 0; n < p->max_hop; n++)
		fprintf(out,
			"table_add LabelEgress.label_f LabelEgress.chance %u "
			"=> %" PRIu64 "\n",
			n, (uint64_t)(label_probability(p, 0, n, 0) * all));
}

static void write_label(const struct bmv2_switch *s, FILE *out)
{
	bool b = s->policy.kind == LABEL_BASE_B;

	fprintf(out,
		"table_set_default LabelEgress.self LabelEgress.config "
		"%" PRIu32 " %" PRIu64 " %" PRIu64 " %d %u %d\n",
		s->device, s->policy.interval_us, s->policy.rest_us, b, s->mtu,
		s->no_df);
	if (b)
		write_chances(&s->policy, out);
	for (unsigned port = 0; port < BMV2_PORTS; port++)
		if (s->host[port])
			fprintf(out,
				"table_add LabelIngress.edges_in "
				"LabelIngress.edge_in %u =>\n"
				"table_add LabelIngress.edges_out "
				"LabelIngress.edge_out %u =>\n",
				port, port);
}

/* Words of a hop's metadata. */
static unsigned hop_words(uint16_t instructions)
{
	const struct int_profile *p = int_profile_named("2.1");
	struct int_plan plan;

	int_plan_of(&plan, int_profile_words(p, INT_V2_1), 16, instructions);
	return plan.len / 4;
}

static void write_source(const struct bmv2_switch *s, const char *match,
			 unsigned priority, FILE *out)
{
	fprintf(out,
		"table_add NodeIngress.watchlist NodeIngress.source %s => "
		"0x%04x %u %u %u\n",
		match, s->instructions, hop_words(s->instructions), s->hops,
		priority);
}

static void write_sources(const struct bmv2_switch *s, FILE *out)
{
	char match[160], ip[2][TEXT_IP_MAX];

	for (unsigned i = 0; i < s->n_watched; i++) {
		const uint8_t *key = s->watched[i];

		snprintf(match, sizeof(match),
			 "%s&&&0xffffffff %s&&&0xffffffff %u&&&0xff "
			 "%u&&&0xffff %u&&&0xffff",
			 text_of_ip(ip[0], 4, key),
			 text_of_ip(ip[1], 4, key + 4), key[12],
			 be16_load(key + 8), be16_load(key + 10));
		write_source(s, match, 1, out);
	}
	if (s->watch_all)
		write_source(s, "0&&&0 0&&&0 0&&&0 0&&&0 0&&&0", 2, out);
}

static void write_node(const struct bmv2_switch *s, FILE *out)
{
	fprintf(out,
		"table_set_default NodeEgress.self NodeEgress.identity "
		"%" PRIu32 "\n",
		s->device);
	write_sources(s, out);
	for (unsigned port = 0; port < BMV2_PORTS; port++)
		if (s->host[port])
			fprintf(out,
				"table_add NodeIngress.sinks NodeIngress.sink "
				"%u =>\n",
				port);
}

void bmv2_switch_write(const struct bmv2_switch *s, const struct bmv2_way *ways,
		       unsigned n, FILE *out)
{
	write_ways(controls[s->program].ingress, ways, n, out);
	if (s->program == BMV2_INT_LABEL)
		write_label(s, out);
	else
		write_node(s, out);
	if (s->has_mirror)
		write_mirror(s, out);
}

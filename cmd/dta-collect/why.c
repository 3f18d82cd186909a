/* SPDX-License-Identifier: BSD-2-Clause */
#include "why.h"

#include <string.h>

#include "base/text.h"
#include "wire/net.h"

static void look(struct why *w, const struct pkt *p)
{
	struct roce r;
	struct net_udp u;

	if (!roce_decode(&r, p->data, p->len)) {
		w->roce = true;
		w->first = r;
	} else if (!net_udp_decode(&u, p->data, p->len)) {
		w->dta = w->dta || u.dst_port == DTA_PORT;
	}
}

void why_look(struct why *w, const struct pkt *pkts, size_t n)
{
	for (size_t i = 0; i < n && !w->roce; i++)
		look(w, &pkts[i]);
}

/* None of them is RoCEv2. */
static void other_packets(struct fault *f, const struct why *w)
{
	fault_set(f, -1, "%s",
		  w->dta ? "these are DTA reports: dta-translate first "
			   "(--ticket FILE -w -), or let it write the region "
			   "itself (--region)"
			 : "no RoCEv2 packet (UDP to port 4791) is whole in "
			   "it");
}

/* They are for somebody else. */
static void other_address(struct fault *f, const struct why *w,
			  const struct ticket *t)
{
	char mac[TEXT_MAC_MAX], own_mac[TEXT_MAC_MAX];
	char ip[TEXT_IP_MAX], own_ip[TEXT_IP_MAX];

	fault_set(f, -1,
		  "the packets are for %s (%s), and this collector is %s (%s): "
		  "say --ip and --mac as for the ticket they were made with",
		  text_of_ip(ip, w->first.version, w->first.dst),
		  text_of_mac(mac, w->first.eth_dst),
		  text_of_ip(own_ip, t->version, t->ip),
		  text_of_mac(own_mac, t->mac));
}

const char *why_text(struct fault *f, const struct why *w,
		     const struct responder_ledger *l, const struct ticket *t)
{
	unsigned worst = ledger_worst(&responder_ledger, l);
	const char *name = worst < responder_ledger.n
				   ? responder_ledger.fields[worst].name
				   : "";

	if (!w->roce)
		other_packets(f, w);
	else if (!strcmp(name, "foreign"))
		other_address(f, w, t);
	else if (!strcmp(name, "bad_icrc") || !strcmp(name, "malformed"))
		fault_set(f, -1,
			  "the packets were cut short or changed on their way; "
			  "tcpdump -s 0 takes them whole");
	else if (!strcmp(name, "bad_peer"))
		fault_set(f, -1,
			  "the packets are not from the translator of the "
			  "ticket: --peer-ip says who that is");
	else if (!strcmp(name, "rnr"))
		fault_set(f, -1,
			  "no receive was posted for their immediates: "
			  "--receives");
	else
		fault_set(f, -1,
			  "most are %s: the packets were made with the ticket "
			  "of another region, epoch or run; make one with "
			  "--ticket and translate the reports again",
			  name);
	return f->text;
}

package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicedb/sluice/proxy"
)

// guards collects how foreign servers are, of all roles together: metrics name no role.
type guards struct{ server *proxy.Server }

var (
	serverLabels  = []string{"database", "server"}
	serverRunning = prometheus.NewDesc("sluice_server_running", "Statements, and reads of one, that run at a foreign server.", serverLabels, nil)
	serverWaiting = prometheus.NewDesc("sluice_server_waiting", "Statements that wait for their turn at a foreign server.", serverLabels, nil)
	serverBroken  = prometheus.NewDesc("sluice_server_broken", "1 while statements fail at once for some role, as the server cannot be reached.", serverLabels, nil)
	serverRefused = prometheus.NewDesc("sluice_server_refused_total", "Statements that a foreign server was not asked for: they have waited in vain (queue), or it cannot be reached (broken).",
		append(serverLabels, "reason"), nil)
)

// Describe sends what there may be.
func (g guards) Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{serverRunning, serverWaiting, serverBroken, serverRefused} {
		c <- d
	}
}

// Collect sends what there is.
func (g guards) Collect(c chan<- prometheus.Metric) {
	type name struct{ database, server string }
	type sum struct{ running, waiting, broken, late, refused float64 }
	sums := map[name]*sum{}
	for _, s := range g.server.Guarded() {
		key := name{s.Database, s.Server}
		if sums[key] == nil {
			sums[key] = new(sum)
		}
		t := sums[key]
		t.running, t.waiting = t.running+float64(s.Running), t.waiting+float64(s.Queued)
		t.late, t.refused = t.late+float64(s.Late), t.refused+float64(s.Refused)
		if s.Open {
			t.broken = 1
		}
	}
	for n, t := range sums {
		gauge := func(d *prometheus.Desc, v float64) {
			c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, n.database, n.server)
		}
		gauge(serverRunning, t.running)
		gauge(serverWaiting, t.waiting)
		gauge(serverBroken, t.broken)
		c <- prometheus.MustNewConstMetric(serverRefused, prometheus.CounterValue, t.late, n.database, n.server, "queue")
		c <- prometheus.MustNewConstMetric(serverRefused, prometheus.CounterValue, t.refused, n.database, n.server, "broken")
	}
}

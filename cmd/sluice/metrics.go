package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sluicedb/sluice/proxy"
)

// serveMetrics serves /metrics of a server for Prometheus on an address until ctx ends; nothing for an empty one.
func serveMetrics(ctx context.Context, address string, server *proxy.Server, log *slog.Logger) error {
	if address == "" {
		return nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s for metrics: %w", address, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sluice_build_info", Help: "Always 1, with the version as a label.",
			ConstLabels: prometheus.Labels{"version": buildVersion(), "commit": buildCommit()},
		}, func() float64 { return 1 }),
	)
	registry.MustRegister(planning(server)...)
	registry.MustRegister(audited(server)...)
	registry.MustRegister(guards{server})
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = web.Close() })
	go func() {
		if err := web.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are no longer served", "error", err)
		}
	}()
	log.Info("serving metrics", "url", "http://"+l.Addr().String()+"/metrics")
	return nil
}

// planning are counters of the statements that a server has planned: by plans that it had kept, and by new ones.
func planning(server *proxy.Server) (list []prometheus.Collector) {
	for label, read := range map[string]func() proxy.Planning{
		"kept": func() proxy.Planning { kept, _ := server.Planning(); return kept },
		"new":  func() proxy.Planning { _, made := server.Planning(); return made },
	} {
		labels := prometheus.Labels{"plan": label}
		list = append(list, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "sluice_plans_total", Help: "Statements over foreign tables that were planned.", ConstLabels: labels,
		}, func() float64 { return float64(read().Plans) }), prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "sluice_planning_seconds_total", Help: "Time that planning them took, without what was asked of home before.", ConstLabels: labels,
		}, func() float64 { return read().Time.Seconds() }))
	}
	return list
}

// audited are counters of the rows of the audit.
func audited(server *proxy.Server) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "sluice_audit_rows_total", Help: "Rows of the audit that were written."},
			func() float64 { written, _, _ := server.Audited(); return float64(written) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "sluice_audit_lost_total", Help: "Rows of the audit that were given up."},
			func() float64 { _, lost, _ := server.Audited(); return float64(lost) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sluice_audit_queue", Help: "Rows of the audit that wait to be written."},
			func() float64 { _, _, queued := server.Audited(); return float64(queued) }),
	}
}

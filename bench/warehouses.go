package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// drainedBy are the figures of one way to read the rows of an engine's benchmark.
type drainedBy struct{ rate, first []float64 } // million rows a second, milliseconds to the first

// warehouses compares engines with their drivers used alone, in turns, each in the process of the engine's own benchmark: there the
// servers are that the engine is tested with.
func warehouses(ctx context.Context, r *rig, report *report) error {
	found := map[string]*drainedBy{}
	var order []string
	for turn := range r.turns {
		progress("warehouses: turn %d of %d", turn+1, r.turns)
		for _, engine := range []string{"sqldb", "snowflake", "bigquery", "trino"} {
			cmd := exec.CommandContext(ctx, "go", "test", "./engines/"+engine, "-run", "^$", "-bench", "^BenchmarkDrain$", "-benchtime", "1x", "-timeout", "30m")
			cmd.Env = append(os.Environ(), "SLUICE_REGISTRIES=1") // where a server comes from one
			out, err := cmd.CombinedOutput()
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", engine, err, out)
			}
			for name, f := range figuresOf(out) {
				name = strings.Replace(name, "BenchmarkDrain", engine, 1)
				if found[name] == nil {
					found[name] = &drainedBy{}
					order = append(order, name)
				}
				found[name].rate, found[name].first = append(found[name].rate, f[0]), append(found[name].first, f[1])
			}
		}
	}
	slices.Sort(order)
	for _, name := range order {
		what, isEngine := strings.CutSuffix(name, "/engine")
		own, library := found[name], found[what+"/library"]
		if !isEngine || library == nil {
			continue
		}
		ratio := median(ratios(own.rate, library.rate))
		report.add(line{what: what + ", 20 M rows, beside its driver: rows/s", values: [3]string{count(median(library.rate) * 1e6), "", count(median(own.rate) * 1e6)},
			ratio: fmt.Sprintf("%.2f", ratio), goal: "≥ 0.80", reached: ratio >= 0.8})
		late := median(ratios(own.first, library.first))
		report.add(line{what: what + ": first row", values: [3]string{fmt.Sprintf("%.1f ms", median(library.first)), "", fmt.Sprintf("%.1f ms", median(own.first))},
			ratio: fmt.Sprintf("%.2f", late), goal: "≤ 1.20", reached: late <= 1.2})
	}
	return nil
}

// figuresOf reads what a benchmark printed: for each name the rate and the time to the first row.
func figuresOf(out []byte) map[string][2]float64 {
	found := map[string][2]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		var f [2]float64
		for i := 2; i+1 < len(words); i += 2 {
			value, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				continue
			}
			switch words[i+1] {
			case "Mrows/s":
				f[0] = value
			case "ms-first":
				f[1] = value
			}
		}
		name := words[0]
		if at := strings.LastIndexByte(name, '-'); at > 0 { // behind it is how many processors there are
			name = name[:at]
		}
		if f[0] > 0 && f[1] > 0 {
			found[name] = f
		}
	}
	return found
}

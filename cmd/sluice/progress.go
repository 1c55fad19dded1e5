package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sluicedb/sluice/proxy/activity"
)

// progress writes what a command says, and on a terminal, below that, a line of how far the work has come. The line is drawn
// anew as time passes, and is gone at the end; elsewhere there is none.
type progress struct {
	out      io.Writer
	terminal bool
	ended    chan struct{}
	done     sync.WaitGroup

	mu     sync.Mutex
	what   string
	came   int64 // this far
	total  int64
	began  time.Time
	drawn  bool
	inLine bool // what was written last has no end of line
}

const redrawn = 200 * time.Millisecond

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, terminal: isTerminal(out), ended: make(chan struct{})}
	if p.terminal {
		p.done.Go(p.redraw)
	}
	return p
}

// isTerminal reports whether what is written can be drawn over.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	is, err := f.Stat()
	null, nerr := os.Stat(os.DevNull)
	return err == nil && nerr == nil && is.Mode()&os.ModeCharDevice != 0 && !os.SameFile(is, null)
}

// set says what is being done, empty for nothing, and how far it has come: done of total, of which 0 is not known.
func (p *progress) set(what string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if what != p.what {
		p.what, p.began = what, time.Now()
	}
	if p.came, p.total = done, total; what == "" {
		p.clear()
	}
	p.draw()
}

// Write writes what is said above the line.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	n, err := p.out.Write(text)
	if n > 0 {
		p.inLine = text[n-1] != '\n'
	}
	p.draw()
	return n, err
}

// end takes the line away.
func (p *progress) end() {
	close(p.ended)
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.what = ""
}

func (p *progress) redraw() {
	for {
		select {
		case <-time.After(redrawn):
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		case <-p.ended:
			return
		}
	}
}

// draw draws the line where there is one to be drawn. mu is held.
func (p *progress) draw() {
	if p.terminal && p.what != "" && !p.inLine {
		_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s", progressLine(p.what, p.came, p.total, time.Since(p.began)))
		p.drawn = true
	}
}

// clear takes away a line that is drawn. mu is held.
func (p *progress) clear() {
	if p.drawn {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

// longestLine is how much fits on a terminal.
const longestLine = 78

// progressLine is what is drawn.
func progressLine(what string, done, total int64, took time.Duration) string {
	r := activity.Progress{Left: -1}
	if took >= time.Second { // before that it is anybody's guess
		r = activity.Reckon(done, total, took)
	}
	var parts []string
	if total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d (%d %%)", done, total, min(100*done/total, 100)))
	}
	if r.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.3g/s", r.Rate))
	}
	if parts = append(parts, took.Round(time.Second).String()); r.Left >= 0 && done < total {
		parts = append(parts, r.Left.Round(time.Second).String()+" left")
	}
	end := "  " + strings.Join(parts, "  ")
	name := []rune(what)
	if most := max(longestLine-len(end), 8); len(name) > most {
		name = append(name[:most-1], '…')
	}
	return string(name) + end
}

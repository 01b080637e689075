package runner

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/relqps/relqps/ingest"
)

// progress tells a person how far a run is: a bar with the time left on a
// terminal, a line per step elsewhere.
type progress struct {
	out      io.Writer
	bars     *mpb.Progress
	bar      *mpb.Bar
	steps    int                // of the run
	expected map[string]float64 // seconds by step directory
	done     float64            // expected seconds of the steps that ended

	mu    sync.Mutex // guards what the bar reads while it draws
	label string
	eta   time.Duration
}

// guessRate is the rate, in operations per second, that a step without duration
// is expected to have before it shows its own; guessOther is how long a step is
// expected to take of which nothing is known.
const (
	guessRate  = 200_000
	guessOther = 10
)

// expectedSeconds estimates how long a step takes.
func expectedSeconds(c *ingest.RunnerCommand) float64 {
	switch {
	case c.Seconds > 0:
		return float64(c.Seconds) + 1
	case c.Operations > 0:
		return 1 + float64(c.Operations)/guessRate
	}
	return guessOther
}

// newProgress begins to tell about the steps that are left of a number of steps.
func newProgress(out io.Writer, terminal bool, left []*ingest.RunnerCommand, steps int) *progress {
	p := &progress{out: out, steps: steps, expected: map[string]float64{}}
	for _, c := range left {
		p.expected[c.Dir] = expectedSeconds(c)
	}
	if !terminal {
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(out), mpb.WithRefreshRate(250*time.Millisecond), mpb.WithAutoRefresh())
	// Without a total of its own the bar is not done before it is told so.
	p.bar = p.bars.New(0, mpb.BarStyle().Rbound("]").Lbound("["),
		mpb.BarWidth(32),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { p.mu.Lock(); defer p.mu.Unlock(); return p.label }, decor.WC{W: 30, C: decor.DindentRight})),
		mpb.AppendDecorators(
			decor.Percentage(decor.WC{W: 5}),
			decor.Any(func(decor.Statistics) string { p.mu.Lock(); defer p.mu.Unlock(); return " " + round(p.eta) + " left" }, decor.WC{W: 14}),
		),
	)
	return p
}

// say writes a line that stays.
func (p *progress) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...) + "\n"
	if p.bars != nil {
		_, _ = p.bars.Write([]byte(line))
		return
	}
	_, _ = io.WriteString(p.out, line)
}

// step begins a step.
func (p *progress) step(c *ingest.RunnerCommand) {
	label := fmt.Sprintf("%d/%d %s", c.Number, p.steps, c.Step)
	if p.bar == nil {
		p.say("%s: started, about %s to go", label, round(p.remaining(c, 0)))
		return
	}
	p.show(label+" ", p.remaining(c, 0))
	p.update(c, 0)
}

// tick says that a step has run for a while; report is its --report_file.
func (p *progress) tick(c *ingest.RunnerCommand, elapsed time.Duration, report string) {
	if p.bar == nil {
		return
	}
	fraction := 0.0
	switch {
	case c.Seconds > 0:
		fraction = elapsed.Seconds() / float64(c.Seconds)
	case c.Operations > 0:
		if ops, ok := reportedOps(report); ok {
			fraction = float64(ops) / float64(c.Operations)
			if fraction > 0.02 {
				// Its own rate is known now; the guess has served.
				p.expected[c.Dir] = elapsed.Seconds() / fraction
			}
		}
	default:
		fraction = elapsed.Seconds() / p.expected[c.Dir]
	}
	p.update(c, min(fraction, 0.99))
}

// show sets what the bar says; label "" keeps the one it has.
func (p *progress) show(label string, eta time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if label != "" {
		p.label = label
	}
	p.eta = eta
}

func (p *progress) update(c *ingest.RunnerCommand, fraction float64) {
	eta := p.remaining(c, fraction)
	p.show("", eta)
	now := p.done + fraction*p.expected[c.Dir]
	total := now + eta.Seconds()
	p.bar.SetTotal(int64(total*1000), false)
	p.bar.SetCurrent(int64(now * 1000))
}

// remaining estimates the time until the run is done, when a fraction of the
// given step is.
func (p *progress) remaining(c *ingest.RunnerCommand, fraction float64) time.Duration {
	left := -fraction * p.expected[c.Dir]
	for _, seconds := range p.expected {
		left += seconds
	}
	return time.Duration(max(left, 0) * float64(time.Second))
}

// ended ends a step.
func (p *progress) ended(c *ingest.RunnerCommand, outcome string) {
	p.done += p.expected[c.Dir]
	delete(p.expected, c.Dir)
	p.say("%d/%d %s: %s", c.Number, p.steps, c.Step, outcome)
	if p.bar != nil {
		p.update(c, 0)
	}
}

// close ends the telling; the bar stays as it is.
func (p *progress) close(complete bool) {
	if p.bar == nil {
		return
	}
	if complete {
		p.show("done ", 0)
		p.bar.SetTotal(-1, true)
	} else {
		p.bar.Abort(false)
	}
	p.bars.Wait()
}

// round shows a duration to the second.
func round(d time.Duration) string {
	if d < time.Second {
		return "0s"
	}
	return d.Round(time.Second).String()
}

// reportedOps sums up the operations that a --report_file shows so far.
func reportedOps(name string) (int64, bool) {
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return 0, false
	}
	var sum int64
	for line := range strings.Lines(string(text)) {
		_, count, _ := strings.Cut(strings.TrimSpace(line), ",")
		if n, err := strconv.ParseInt(count, 10, 64); err == nil {
			sum += n
		}
	}
	return sum, sum > 0
}

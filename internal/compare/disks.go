package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// DiskReport is what fio says of the disks that a sweep's values were measured on.
type DiskReport struct {
	Disks []Disk // in the order of the arms
	// IOPSSpread and BandwidthSpread say how far apart the disks are: the greatest
	// over the least figure, less 1. nil with fewer than two figures.
	IOPSSpread, BandwidthSpread *float64
	Without                     []string // names of the arms whose disk fio did not measure
	Sentences                   []string
}

// Disk is a run of fio on the disk of an arm.
type Disk struct {
	Name string // Disk 1; "" where no run says it
	Arm  string // name of the arm
	Step string
	Runs []int64
	// Figures are the metrics in the order of [bench.Metrics].
	Figures []DiskFigure
	// Contradiction says why IOPS and bandwidth cannot both be right, "" where they
	// can.
	Contradiction string
}

// DiskFigure is a figure of a disk.
type DiskFigure struct {
	Metric     bench.Metric
	Value      float64
	Resolution float64 // 0 when unknown
}

// Figure gives a figure of a disk by its metric's name, nil where fio did not say
// it.
func (d *Disk) Figure(metric string) *DiskFigure {
	for i := range d.Figures {
		if d.Figures[i].Metric.Name == metric {
			return &d.Figures[i]
		}
	}
	return nil
}

// fioBlock finds the block size in the name of a step of fio.
var fioBlock = regexp.MustCompile(`-(\d{1,9})([km]?)(?:-|$)`)

// BlockSizeOf gives the block size in bytes that a step of fio names: 4096 of
// read-4k. ok is false where it names none.
func BlockSizeOf(step string) (bytes float64, ok bool) {
	m := fioBlock.FindStringSubmatch(step)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n == 0 {
		return 0, false
	}
	return n * map[string]float64{"": 1, "k": 1 << 10, "m": 1 << 20}[m[2]], true
}

// diskReport finds the runs of fio that belong to the arms of a sweep: those of
// the same config, or on the disk that the arm's runs name.
func diskReport(in SweepInput) DiskReport {
	var r DiskReport
	diskOf := map[int64]string{}
	for _, list := range [][]bench.RunFacts{in.Facts, in.DiskFacts} {
		for i := range list {
			if d := list[i].Environment["disk"]; d != "" {
				diskOf[list[i].ID] = d
			}
		}
	}
	for i := range in.Sweep.Arms {
		arm := &in.Sweep.Arms[i]
		var disks []string
		for _, id := range arm.Runs {
			if d := diskOf[id]; d != "" && !slices.Contains(disks, d) {
				disks = append(disks, d)
			}
		}
		at := map[string]int{}
		before := len(r.Disks)
		for _, s := range in.Disks {
			if in.Sweep.Server != "" && s.Server != in.Sweep.Server {
				continue
			}
			for _, p := range s.Points {
				for _, x := range p.Samples {
					if !belongs(s.Config, diskOf[x.RunID], arm, disks) {
						continue
					}
					key := fmt.Sprint(s.Step, "\x00", x.RunID)
					j, ok := at[key]
					if !ok {
						j = len(r.Disks)
						at[key] = j
						r.Disks = append(r.Disks, Disk{Name: diskOf[x.RunID], Arm: arm.Name(), Step: s.Step, Runs: []int64{x.RunID}})
					}
					r.Disks[j].Figures = append(r.Disks[j].Figures, DiskFigure{s.Metric, x.Value, x.Resolution})
				}
			}
		}
		if len(r.Disks) == before {
			r.Without = append(r.Without, arm.Name())
		}
	}
	for i := range r.Disks {
		d := &r.Disks[i]
		slices.SortFunc(d.Figures, func(a, b DiskFigure) int { return bench.CompareMetrics(a.Metric.Name, b.Metric.Name) })
		d.Contradiction = contradiction(d)
	}
	r.alike(in.Sweep)
	return r
}

// belongs reports whether a run of fio is about an arm.
func belongs(config, disk string, arm *SweepArm, disks []string) bool {
	if disk != "" && len(disks) > 0 {
		return slices.Contains(disks, disk)
	}
	return config != "" && slices.Contains(arm.Configs, config)
}

// fioSlack is what a rate and a bandwidth that are both right may differ by beyond
// the rounding of their digits.
const fioSlack = 0.002

// contradiction says where a disk's rate and bandwidth cannot both be right: a
// bandwidth divided by the block size is a rate.
func contradiction(d *Disk) string {
	size, ok := BlockSizeOf(d.Step)
	iops, bandwidth := d.Figure("iops"), d.Figure("mb_per_s")
	if !ok || iops == nil || bandwidth == nil {
		return ""
	}
	by := bandwidth.Value * (1 << 20) / size
	if math.Abs(by-iops.Value) <= iops.Resolution/2+bandwidth.Resolution/2*(1<<20)/size+fioSlack*by {
		return ""
	}
	name := d.Name
	if name == "" {
		name = "fio"
	}
	return fmt.Sprintf("%s contradicts itself: %s IOPS beside %s MiB/s at %s, but that bandwidth divided by the block size is %s IOPS. Both are shown as printed.",
		name, iopsText(iops.Value), FormatFull(bandwidth.Value), kib(size), FormatFull(math.Round(by)))
}

// iopsText shows a rate as fio does: 18.0k.
func iopsText(v float64) string {
	if v >= 1000 && v < 100_000 {
		return strconv.FormatFloat(v/1000, 'f', 1, 64) + "k"
	}
	return FormatFull(v)
}

func kib(bytes float64) string {
	if n := bytes / 1024; n >= 1 && n == math.Trunc(n) {
		return strconv.FormatFloat(n, 'f', -1, 64) + " KiB"
	}
	return strconv.FormatFloat(bytes, 'f', -1, 64) + " bytes"
}

// alike says how alike the disks are: of the step that the most of them ran.
func (r *DiskReport) alike(s Sweep) {
	if len(r.Disks) == 0 {
		return
	}
	count := map[string]int{}
	for i := range r.Disks {
		count[r.Disks[i].Step]++
	}
	step := ""
	for n, k := range count {
		if step == "" || k > count[step] || k == count[step] && n < step {
			step = n
		}
	}
	spread := func(metric string) (low, high float64, share *float64) {
		n := 0
		for i := range r.Disks {
			d := &r.Disks[i]
			f := d.Figure(metric)
			if d.Step != step || f == nil || f.Value <= 0 {
				continue
			}
			if n == 0 || f.Value < low {
				low = f.Value
			}
			if n == 0 || f.Value > high {
				high = f.Value
			}
			n++
		}
		if n > 1 {
			x := high/low - 1
			share = &x
		}
		return low, high, share
	}
	var parts []string
	var low, high float64
	if low, high, r.IOPSSpread = spread("iops"); r.IOPSSpread != nil {
		parts = append(parts, fmt.Sprintf("within %s by the IOPS that fio printed (%s%s%s)", shareText(*r.IOPSSpread), iopsText(low), enDash, iopsText(high)))
	}
	if low, high, r.BandwidthSpread = spread("mb_per_s"); r.BandwidthSpread != nil {
		parts = append(parts, fmt.Sprintf("within %s by bandwidth (%s%s%s MiB/s)", shareText(*r.BandwidthSpread), FormatFull(low), enDash, FormatFull(high)))
	}
	if len(parts) > 0 {
		r.Sentences = append(r.Sentences, fmt.Sprintf("The %d disks are alike %s.", count[step], strings.Join(parts, " and ")))
	}
	for i := range r.Disks {
		if c := r.Disks[i].Contradiction; c != "" {
			r.Sentences = append(r.Sentences, c)
		}
	}
	if len(r.Without) > 0 {
		var labels []string
		for _, n := range r.Without {
			labels = append(labels, s.Arm(n).Label(s.Option))
		}
		r.Sentences = append(r.Sentences, "No figures of fio for the disk of "+words(labels)+".")
	}
}

// shareText shows a share: 5.0 %.
func shareText(share float64) string { return fmt.Sprintf("%.1f%s%%", 100*share, thinSpace) }

package bench

import (
	"fmt"
	"strings"
)

// Coordinate is all that is fixed but the version.
type Coordinate struct {
	System   string `json:"system"`
	Suite    string `json:"suite"`
	Server   string `json:"server"`
	Workload string `json:"workload"`
	Step     string `json:"step"`
	Compiler string `json:"compiler"`
	Config   string `json:"config"`
	Clients  int    `json:"clients"` // of the run
}

// String names a coordinate in words, for messages.
func (c Coordinate) String() string {
	parts := []string{c.System, c.Server, c.Workload, c.Step, c.Compiler}
	if c.Config != "" {
		parts = append(parts, c.Config)
	}
	parts = append(parts, fmt.Sprintf("%d clients", c.Clients))
	return strings.Join(parts, " ")
}

// Sample is one result's value of a series' metric.
type Sample struct {
	Value      float64
	Resolution float64 // 0 when unknown
	ResultID   int64
	RunID      int64
	Started    LocalTime
	GitHash    string // "" when unknown
	Excluded   bool   // must not be compared: assertions enabled, nothing found …
}

// Point is all samples of a series at one version, in order of their start.
type Point struct {
	Version string
	Samples []Sample
}

// Series is a coordinate and a metric with its points in version order.
type Series struct {
	ID int64
	Coordinate
	Metric Metric
	Points []Point
}

// SeriesFilter selects series. Empty lists select all; Metric is required.
type SeriesFilter struct {
	System    string
	Suite     string
	Servers   []string
	Workloads []string
	Steps     []string
	Compilers []string
	Configs   []string
	Clients   []int
	Metric    string
}

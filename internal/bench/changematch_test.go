package bench

import (
	"testing"
	"time"
)

func TestChangesKeepTheirIdentityWithinOneVersion(t *testing.T) {
	t.Parallel()
	versions := []string{"8.0.0", "8.1.0", "8.2.0", "8.3.0", "8.10.0"}
	gone := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(to string, effect float64, shape Shape) FoundChange {
		return FoundChange{To: to, Effect: effect, Shape: shape}
	}
	stored := func(id int64, to string, effect float64, shape Shape, dissolved *time.Time) Change {
		return Change{ID: id, FoundChange: at(to, effect, shape), Dissolved: dissolved}
	}
	between := func(id int64, from, to string) Change {
		return Change{ID: id, FoundChange: FoundChange{From: from, To: to, Effect: -.1, Shape: ShapeStep}}
	}
	for _, c := range []struct {
		name   string
		stored []Change
		found  []FoundChange
		want   []int
	}{
		{"same place", []Change{stored(1, "8.2.0", -.1, ShapeStep, nil)}, []FoundChange{at("8.2.0", -.2, ShapeStep)}, []int{0}},
		{"one version later", []Change{stored(1, "8.3.0", -.1, ShapeNewest, nil)}, []FoundChange{at("8.10.0", -.2, ShapeStep)}, []int{0}},
		{"two versions away", []Change{stored(1, "8.1.0", -.1, ShapeStep, nil)}, []FoundChange{at("8.3.0", -.2, ShapeStep)}, []int{-1}},
		{"other sign", []Change{stored(1, "8.2.0", .1, ShapeStep, nil)}, []FoundChange{at("8.2.0", -.2, ShapeStep)}, []int{-1}},
		{"the nearer one wins", []Change{stored(1, "8.1.0", -.1, ShapeStep, nil), stored(2, "8.2.0", -.1, ShapeStep, nil)}, []FoundChange{at("8.2.0", -.1, ShapeStep)}, []int{1}},
		{"one that stands before one that dissolved", []Change{stored(1, "8.2.0", -.1, ShapeStep, &gone), stored(2, "8.2.0", -.1, ShapeSpike, nil)}, []FoundChange{at("8.2.0", -.1, ShapeStep)}, []int{1}},
		{"a dissolved one comes back", []Change{stored(1, "8.2.0", -.1, ShapeStep, &gone)}, []FoundChange{at("8.2.0", -.1, ShapeStep)}, []int{0}},
		{"no two share one", []Change{stored(1, "8.2.0", -.1, ShapeStep, nil)}, []FoundChange{at("8.1.0", -.1, ShapeStep), at("8.2.0", -.1, ShapeStep)}, []int{-1, 0}},
		{"a version that is gone still has its place", []Change{stored(1, "8.2.5", -.1, ShapeStep, nil)}, []FoundChange{at("8.3.0", -.1, ShapeStep)}, []int{0}},
		{"narrowed down", []Change{between(1, "8.0.0", "8.10.0")}, []FoundChange{{From: "8.1.0", To: "8.2.0", Effect: -.1, Shape: ShapeStep}}, []int{0}},
		{"widened, what lay there was withdrawn", []Change{between(1, "8.1.0", "8.2.0")}, []FoundChange{{From: "8.0.0", To: "8.10.0", Effect: -.1, Shape: ShapeStep}}, []int{0}},
		{"two changes between: the nearer to its end", []Change{between(1, "8.0.0", "8.10.0")},
			[]FoundChange{{From: "8.0.0", To: "8.1.0", Effect: -.1}, {From: "8.2.0", To: "8.3.0", Effect: -.1}}, []int{-1, 0}},
		{"beside it", []Change{between(1, "8.2.0", "8.10.0")}, []FoundChange{{From: "8.0.0", To: "8.1.0", Effect: -.1}}, []int{-1}},
	} {
		got := MatchChanges(versions, c.stored, c.found)
		for i := range c.want {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

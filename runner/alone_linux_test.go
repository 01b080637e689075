package runner

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestOneRunnerMeasuresOnAHostAtATime(t *testing.T) {
	// Not parallel: a program that another test just starts holds the socket too,
	// until it is executed.
	name := fmt.Sprintf("@relqps-test-%d", os.Getpid())
	end, err := claim(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = claim(name)
	if bench.KindOf(err) != bench.KindConflict || !strings.Contains(err.Error(), fmt.Sprintf("process %d already measures", os.Getpid())) {
		t.Errorf("second claim: %v, want a conflict that names this process", err)
	}
	end()
	if end, err = claim(name); err != nil {
		t.Fatalf("after the first ended: %v", err)
	}
	end()
}

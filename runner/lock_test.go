package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestSecondRunnerOfAWorkDirectoryIsToldWhoHoldsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lockDir(dir)
	if bench.KindOf(err) != bench.KindConflict {
		t.Fatalf("second lock: %v, want kind conflict", err)
	}
	for _, says := range []string{dir, fmt.Sprintf("process %d", os.Getpid())} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not name %s", err, says)
		}
	}
	first.release()
	second, err := lockDir(dir)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	second.release()
	if _, err := lockDir(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that does not exist was locked")
	}
}

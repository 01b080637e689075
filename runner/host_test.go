package runner

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/testdata"
)

// The facts are compared with what other programs and plain files say.
func TestHostFactsAgreeWithTheSystem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		testdata.Missing(t, "the facts are compared with Linux's /proc")
	}
	dir := t.TempDir()
	facts := Host(t.Context(), dir)
	for key, value := range facts {
		if strings.TrimSpace(value) == "" || value != strings.TrimSpace(value) {
			t.Errorf("%s=%q: a missing fact must be absent, a known one trimmed", key, value)
		}
	}
	tell := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).Output()
		if err != nil {
			t.Logf("%s: %v", name, err)
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	if want := tell("uname", "-r"); want != "" && facts["kernel"] != want {
		t.Errorf("kernel %q, uname says %q", facts["kernel"], want)
	}
	if want := tell("getconf", "_NPROCESSORS_CONF"); want != "" && facts["cpus"] != want {
		t.Errorf("cpus %q, getconf says %q", facts["cpus"], want)
	}
	if want := tell("findmnt", "-n", "-o", "FSTYPE", "-T", dir); want != "" && facts["file_system"] != want {
		t.Errorf("file_system %q, findmnt says %q", facts["file_system"], want)
	}
	if want := tell("findmnt", "-n", "-o", "SOURCE", "-T", dir); want != "" && !strings.Contains(want, "[") && facts["device"] != want {
		t.Errorf("device %q, findmnt says %q", facts["device"], want)
	}
	cpuinfo, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(cpuinfo) {
		if name, model, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(name) == "model name" {
			if want := strings.Join(strings.Fields(model), " "); facts["cpu"] != want {
				t.Errorf("cpu %q, /proc/cpuinfo says %q", facts["cpu"], want)
			}
			break
		}
	}
	if cores, err := strconv.Atoi(facts["cores"]); err == nil {
		if cpus, _ := strconv.Atoi(facts["cpus"]); cores < 1 || cores > cpus {
			t.Errorf("%d cores with %d CPUs", cores, cpus)
		}
	}
	if disk := tell("lsblk", "-n", "-d", "-o", "PKNAME,NAME", facts["device"]); disk != "" {
		fields := strings.Fields(disk)
		want, err := os.ReadFile("/sys/block/" + fields[0] + "/queue/max_sectors_kb")
		if err == nil && facts["max_sectors_kb"] != strings.TrimSpace(string(want)) {
			t.Errorf("max_sectors_kb %q, /sys/block/%s says %q", facts["max_sectors_kb"], fields[0], want)
		}
	}
}

func TestChangesOfTheMachineAreNamed(t *testing.T) {
	t.Parallel()
	then := map[string]string{"kernel": "6.1.0", "cpu": "A", "governor": "performance", "read_ahead_kb": "128"}
	now := map[string]string{"kernel": "6.8.0", "cpu": "A", "memory_limit_bytes": "1024", "governor": "performance", "read_ahead_kb": "256"}
	want := []string{`memory_limit_bytes was "" when the run began and is "1024" now`, `kernel was "6.1.0" when the run began and is "6.8.0" now`}
	if got := changedFacts(then, now); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := changedFacts(then, then); got != nil {
		t.Errorf("nothing changed: %q", got)
	}
}

func TestKernelFilesBecomeFacts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
		"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":         "1\n",
		"sys/devices/system/cpu/smt/control":                   "off\n",
		"sys/devices/system/node/node0/cpulist":                "0-3\n",
		"sys/devices/system/node/node1/cpulist":                "4-7\n",
		"sys/kernel/mm/transparent_hugepage/enabled":           "always [madvise] never\n",
	} {
		write(t, filepath.Join(root, name), text)
	}
	got := facts{}
	got.kernelFiles(root)
	for key, want := range map[string]string{
		"governor": "performance,powersave", "cpu_boost": "0", "smt": "off", "numa_nodes": "2", "transparent_hugepage": "madvise",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
	empty := facts{}
	empty.kernelFiles(t.TempDir())
	if len(empty) != 0 {
		t.Errorf("without the files: %v, want no facts", empty)
	}
}

func TestStorageFactsOfAPartition(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	major, minor, ok := deviceOf(dir)
	if !ok {
		testdata.Missing(t, "no device numbers on this system")
	}
	number := strconv.Itoa(int(major)) + ":" + strconv.Itoa(int(minor))
	root := t.TempDir()
	write(t, filepath.Join(root, "proc/self/mountinfo"), strings.Join([]string{
		"20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
		"21 20 " + number + " / " + filepath.Dir(dir) + " rw,noatime - xfs /dev/nvme0n1p2 rw,attr2",
		"22 20 0:44 / /elsewhere rw - tmpfs tmpfs rw",
	}, "\n")+"\n")
	disk := filepath.Join(root, "sys/devices/pci/nvme0n1")
	for name, text := range map[string]string{
		"nvme0n1p2/partition":  "2\n",
		"device/model":         "Fast Disk 9000   \n",
		"queue/rotational":     "0\n",
		"queue/scheduler":      "[none] mq-deadline kyber\n",
		"queue/max_sectors_kb": "1280\n",
		"queue/read_ahead_kb":  "128\n",
	} {
		write(t, filepath.Join(disk, name), text)
	}
	if err := os.MkdirAll(filepath.Join(root, "sys/dev/block"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../devices/pci/nvme0n1/nvme0n1p2", filepath.Join(root, "sys/dev/block", number)); err != nil {
		t.Fatal(err)
	}
	got := facts{}
	got.storage(root, dir)
	for key, want := range map[string]string{
		"file_system": "xfs", "mount_options": "rw,noatime", "device": "/dev/nvme0n1p2", "device_model": "Fast Disk 9000",
		"device_rotational": "0", "io_scheduler": "none", "max_sectors_kb": "1280", "read_ahead_kb": "128",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
}

func TestMountOfADirectory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "proc/self/mountinfo"), `20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 8:1 /sub /data rw,ro - ext4 /dev/sda1 rw
22 20 0:31 /@ /btr rw - btrfs /dev/sdb1 rw
23 22 0:31 /@x /btr/with\040space rw - btrfs /dev/sdb2 rw
24 20 8:9 / /data2 rw - xfs /dev/sdc1 rw
not a mount line
`)
	for _, test := range []struct {
		dir          string
		major, minor uint32
		point, kind  string
	}{
		{"/data/x", 8, 1, "/data", "ext4"},
		{"/home", 8, 1, "/", "ext4"},
		{"/data2", 8, 9, "/data2", "xfs"},
		{"/btr/x", 0, 99, "/btr", "btrfs"}, // a number of its own
		{"/btr/with space/db", 0, 98, "/btr/with space", "btrfs"},
	} {
		m, ok := mountOf(root, test.dir, test.major, test.minor)
		if !ok || m.point != test.point || m.kind != test.kind {
			t.Errorf("%s: %+v, want %s on %s", test.dir, m, test.kind, test.point)
		}
	}
	if _, ok := mountOf(t.TempDir(), "/", 8, 1); ok {
		t.Error("a mount without mountinfo")
	}
}

package runner

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// Host gives the facts of this machine that figures depend on, as
// [bench.Run].Environment wants them; dataDir is where the database will be. A
// fact that cannot be found out is absent. Keys:
//
//   - cpu, cpus (logical), cores (physical), architecture, numa_nodes, smt,
//     governor and cpu_boost (the values found, comma separated), virtualization
//   - memory_bytes, swap_bytes, memory_limit_bytes (of the control group),
//     transparent_hugepage
//   - os, kernel
//   - file_system, mount_options, device, device_model, device_rotational,
//     io_scheduler, max_sectors_kb, read_ahead_kb
func Host(ctx context.Context, dataDir string) map[string]string {
	facts := facts{}
	facts.put("architecture", runtime.GOARCH)
	if info, err := cpu.InfoWithContext(ctx); err == nil && len(info) > 0 {
		facts.put("cpu", strings.Join(strings.Fields(info[0].ModelName), " "))
	}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil && n > 0 {
		facts.put("cpus", strconv.Itoa(n))
	}
	if n, err := cpu.CountsWithContext(ctx, false); err == nil && n > 0 {
		facts.put("cores", strconv.Itoa(n))
	}
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		facts.put("memory_bytes", strconv.FormatUint(v.Total, 10))
	}
	if s, err := mem.SwapMemoryWithContext(ctx); err == nil {
		facts.put("swap_bytes", strconv.FormatUint(s.Total, 10))
	}
	if limit, _ := cgroupLimit("/"); limit > 0 {
		facts.put("memory_limit_bytes", strconv.FormatInt(int64(limit), 10))
	}
	if info, err := host.InfoWithContext(ctx); err == nil {
		facts.put("kernel", info.KernelVersion)
		facts.put("os", strings.TrimSpace(info.Platform+" "+info.PlatformVersion))
		if info.VirtualizationRole == "guest" {
			facts.put("virtualization", info.VirtualizationSystem)
		}
	}
	facts.kernelFiles("/")
	facts.storage("/", dataDir)
	return facts
}

// facts is an environment in the making.
type facts map[string]string

// put adds a fact unless it is empty.
func (f facts) put(key, value string) {
	if value = strings.TrimSpace(value); value != "" {
		f[key] = value
	}
}

// kernelFiles reads what Linux shows of CPU and memory under /sys.
func (f facts) kernelFiles(root string) {
	f.put("governor", distinct(root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	f.put("cpu_boost", distinct(root, "sys/devices/system/cpu/cpufreq/boost"))
	if off := distinct(root, "sys/devices/system/cpu/intel_pstate/no_turbo"); off == "0" || off == "1" {
		f.put("cpu_boost", map[string]string{"0": "1", "1": "0"}[off])
	}
	f.put("smt", distinct(root, "sys/devices/system/cpu/smt/control"))
	if nodes, _ := filepath.Glob(filepath.Join(root, "sys/devices/system/node/node[0-9]*")); len(nodes) > 0 {
		f.put("numa_nodes", strconv.Itoa(len(nodes)))
	}
	f.put("transparent_hugepage", chosen(readFact(root, "sys/kernel/mm/transparent_hugepage/enabled")))
}

// storage reads file system and device of a directory.
func (f facts) storage(root, dir string) {
	major, minor, ok := deviceOf(dir)
	if !ok {
		return
	}
	m, ok := mountOf(root, dir, major, minor)
	if ok {
		f.put("file_system", m.kind)
		f.put("mount_options", m.options)
		f.put("device", m.source)
	}
	block := filepath.Join(root, "sys/dev/block", fmt.Sprintf("%d:%d", major, minor))
	if _, err := os.Stat(block); err != nil {
		// btrfs and its like show a number of their own; the mount names the device.
		if !strings.HasPrefix(m.source, "/dev/") {
			return
		}
		source, err := filepath.EvalSymlinks(m.source)
		if err != nil {
			source = m.source
		}
		block = filepath.Join(root, "sys/class/block", filepath.Base(source))
	}
	block, err := filepath.EvalSymlinks(block)
	if err != nil {
		return
	}
	if _, err := os.Stat(filepath.Join(block, "partition")); err == nil {
		block = filepath.Dir(block) // the queue belongs to the whole device
	}
	f.put("device_model", readFact(block, "device/model"))
	f.put("device_rotational", readFact(block, "queue/rotational"))
	f.put("io_scheduler", chosen(readFact(block, "queue/scheduler")))
	f.put("max_sectors_kb", readFact(block, "queue/max_sectors_kb"))
	f.put("read_ahead_kb", readFact(block, "queue/read_ahead_kb"))
}

// mount is a line of /proc/self/mountinfo.
type mount struct{ point, kind, source, options string }

// mountOf gives the mount that a directory lies in: of those with its device
// number the deepest, or, for file systems that give their files another number,
// the deepest above it.
func mountOf(root, dir string, major, minor uint32) (mount, bool) {
	file, err := os.Open(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return mount{}, false
	}
	defer file.Close()
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	number := fmt.Sprintf("%d:%d", major, minor)
	var best mount
	found, exact := false, false
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// 27 1 254:0 / /mnt rw,noatime shared:1 - ext4 /dev/vda rw,discard
		before, after, ok := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 2 {
			continue
		}
		m := mount{point: unescape(left[4]), kind: right[0], source: unescape(right[1]), options: left[5]}
		if dir != m.point && !strings.HasPrefix(dir, strings.TrimSuffix(m.point, "/")+"/") {
			continue
		}
		same := left[2] == number
		// Later lines are mounted over earlier ones.
		if !found || same && !exact || same == exact && len(m.point) >= len(best.point) {
			best, found, exact = m, true, same
		}
	}
	return best, found
}

// unescape undoes mountinfo's octal escapes of space, tab, newline and backslash.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// readFact reads a one-line file, "" when there is none.
func readFact(root, name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// distinct reads all files of a pattern and gives the values found, comma
// separated and in order.
func distinct(root, pattern string) string {
	files, _ := filepath.Glob(filepath.Join(root, pattern))
	var values []string
	for _, name := range files {
		if v := readFact("", name); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return strings.Join(values, ",")
}

// chosen gives the bracketed one of a list such as "always [madvise] never", the
// text itself where nothing is bracketed.
func chosen(list string) string {
	if _, rest, ok := strings.Cut(list, "["); ok {
		word, _, _ := strings.Cut(rest, "]")
		return word
	}
	return list
}

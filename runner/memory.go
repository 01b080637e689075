package runner

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/relqps/relqps/internal/bench"
)

// Memory is what a process of this runner can use, for data and page cache
// together.
type Memory struct {
	Machine Size // of the machine
	Limit   Size // of the control group it runs in, 0 without one
	// From names the file that holds the limit.
	From string
}

// Available is the smaller of machine and limit.
func (m Memory) Available() Size {
	if m.Limit > 0 && m.Limit < m.Machine {
		return m.Limit
	}
	return m.Machine
}

// String says how much memory there is and what sets the bound, for a sentence.
func (m Memory) String() string {
	if m.Limit > 0 && m.Limit < m.Machine {
		return m.Limit.String() + " of memory that the control group allows"
	}
	return m.Machine.String() + " of memory"
}

// ReadMemory gives the memory of this machine and of this process's control
// group.
func ReadMemory() (Memory, error) {
	v, err := mem.VirtualMemory()
	if err != nil {
		return Memory{}, err
	}
	limit, from := cgroupLimit("/")
	return Memory{Machine: Size(v.Total), Limit: limit, From: from}, nil
}

// cgroupLimit gives the smallest memory limit of the control groups that the
// process belongs to, group and ancestors, in version 2 (memory.max) and version
// 1 (memory.limit_in_bytes) hierarchies; 0 where there is none. root is the
// root of the file system.
func cgroupLimit(root string) (limit Size, from string) {
	file, err := os.Open(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0, ""
	}
	defer file.Close()
	take := func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			return
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		// "max" is no limit, and so is version 1's largest number of pages.
		if err != nil || n <= 0 || n >= 1<<60 {
			return
		}
		if limit == 0 || Size(n) < limit {
			limit, from = Size(n), strings.TrimPrefix(name, strings.TrimSuffix(root, "/"))
		}
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// hierarchy:controllers:path; version 2 has no controllers.
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var tops []string
		leaf := "memory.max"
		switch {
		case parts[1] == "":
			tops = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}
		case contains(strings.Split(parts[1], ","), "memory"):
			tops, leaf = []string{"sys/fs/cgroup/memory"}, "memory.limit_in_bytes"
		}
		for _, top := range tops {
			for group := filepath.Clean("/" + parts[2]); ; group = filepath.Dir(group) {
				take(filepath.Join(root, top, group, leaf))
				if group == "/" {
					break
				}
			}
		}
	}
	return limit, from
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// DataBytes estimates the size of the database: keys and values, values
// compressed as far as the plan says. Index, filters and overwritten values come
// on top.
func (p *Plan) DataBytes() Size {
	return Size(float64(p.Keys) * (float64(p.KeyBytes) + p.storedValue()))
}

func (p *Plan) storedValue() float64 {
	if p.Compression == "none" {
		return float64(p.ValueBytes)
	}
	return float64(p.ValueBytes) * p.CompressionRatio
}

// dataSum shows how [Plan.DataBytes] comes about.
func (p *Plan) dataSum() string {
	sum := strconv.FormatInt(p.Keys, 10) + " keys × (" + strconv.Itoa(p.KeyBytes) + " + " + strconv.Itoa(p.ValueBytes)
	if p.Compression != "none" {
		sum += " × " + strconv.FormatFloat(p.CompressionRatio, 'g', -1, 64)
	}
	return sum + ") bytes = " + p.DataBytes().String()
}

// spaceShare is how much more than its data a database takes while it is written to:
// overwritten values that compaction has not dropped yet, and what it writes meanwhile.
const spaceShare = 1.2

// checkSpace refuses a plan whose database does not fit the free space of its directory,
// with the arithmetic. The error has kind invalid.
func (p *Plan) checkSpace(dir string, free Size) error {
	need := Size(spaceShare * float64(p.DataBytes()))
	if free >= need {
		return nil
	}
	return planError(p.at("keys"), "the data do not fit the disk: %s, and a fifth more for what compaction has not dropped yet, are %s; %s has %s free; "+
		"another --work-dir, fewer keys, or --any-disk to begin all the same", p.dataSum(), need, dir, free)
}

// CheckMemory refuses a plan whose data set is not to memory and cache what its
// workload says, with the arithmetic: cached needs data that fit the block cache
// and a cache that fits memory, cached-by-os data that fit memory but not the
// cache, iobuf and iodir data larger than memory. Where the plan states a memory
// limit the memory must not be more than it. The error has kind invalid.
func (p *Plan) CheckMemory(m Memory) error {
	data, memory := p.DataBytes(), m.Available()
	workload, _, _ := strings.Cut(bench.WorkloadName(p.Workload), "_")
	if p.MemoryLimit > 0 && memory > p.MemoryLimit {
		return planError(p.at("memory_limit"), "the plan is for at most %s of memory, but a process here can use %s; "+
			"start the runner in a control group with that limit, such as systemd-run --scope -p MemoryMax=%d relqps run …, or a container with --memory",
			p.MemoryLimit, m, int64(p.MemoryLimit))
	}
	switch workload {
	case "cached":
		if data > p.CacheBytes {
			return planError(p.at("keys"), "workload cached needs data that fit the block cache: data %s are larger than cache_bytes %s", p.dataSum(), p.CacheBytes)
		}
		if p.CacheBytes > memory {
			return planError(p.at("cache_bytes"), "workload cached needs a block cache that fits memory: cache_bytes %s is larger than %s", p.CacheBytes, m)
		}
	case "cached-by-os":
		if data <= p.CacheBytes {
			return planError(p.at("cache_bytes"), "workload cached-by-os needs data larger than the block cache: data %s fit cache_bytes %s", p.dataSum(), p.CacheBytes)
		}
		if data > memory {
			return planError(p.at("keys"), "workload cached-by-os needs data that fit memory: data %s are larger than %s", p.dataSum(), m)
		}
	case "iobuf", "iodir":
		if data <= memory {
			return planError(p.at("keys"), "workload %s needs data larger than memory: data %s are not larger than %s; "+
				"it takes more than %d keys, or a control group with a memory limit below %s",
				workload, p.dataSum(), m, int64(float64(memory)/(float64(p.KeyBytes)+p.storedValue())), data)
		}
		if p.CacheBytes > memory {
			return planError(p.at("cache_bytes"), "cache_bytes %s is larger than %s", p.CacheBytes, m)
		}
		if workload == "iodir" != p.direct() {
			return planError(p.at("workload"), "workload %s and flag use_direct_reads contradict each other: iodir reads with O_DIRECT, iobuf does not", workload)
		}
	}
	return nil
}

package profile

import (
	"fmt"
	"regexp"
	"strconv"

	"plimsoll/ground/problem"
)

const (
	kB = int64(1) << 10
	mB = int64(1) << 20
	gB = int64(1) << 30
)

// MemoryMin is the least memory that a server can be planned for.
const MemoryMin = 256 * mB

var memoryText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) *(%|kB|KB|MB|GB|TB)$`)

var memoryUnits = map[string]int64{"kB": kB, "KB": kB, "MB": mB, "GB": gB, "TB": 1024 * gB}

// ParseMemory parses a share of the machine's memory: "50%" or "4GB"; empty is all.
func ParseMemory(text string, all int64) (int64, error) {
	if text == "" {
		return all, nil
	}
	parts := memoryText.FindStringSubmatch(text)
	if parts == nil {
		return 0, badMemory(text, "not a percentage from 0 to 100")
	}
	n, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return 0, badMemory(text, "not a number")
	}
	bytes := n * float64(memoryUnits[parts[2]])
	if parts[2] == "%" {
		bytes = n / 100 * float64(all)
	}
	switch {
	case bytes > float64(all):
		return 0, badMemory(text, fmt.Sprintf("the machine has %s", Bytes(all)))
	case int64(bytes) < min(MemoryMin, all):
		return 0, badMemory(text, fmt.Sprintf("a server needs at least %s", Bytes(MemoryMin)))
	}
	return int64(bytes), nil
}

func badMemory(text, why string) error {
	return problem.New(problem.Usage, fmt.Errorf("memory %q: %s", text, why), "such as 50% or 4GB")
}

// Bytes formats an amount for PostgreSQL: rounded down to a round number, in the largest unit that divides it.
func Bytes(n int64) string {
	switch {
	case n >= gB && n%gB == 0:
		return fmt.Sprintf("%dGB", n/gB)
	case n >= mB:
		return fmt.Sprintf("%dMB", n/mB)
	}
	return fmt.Sprintf("%dkB", n/kB)
}

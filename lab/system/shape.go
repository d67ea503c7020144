package system

import (
	"fmt"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/shape"
)

// Shape of the ERP that a system's application servers have, with tweaks.
type Shape struct {
	Name shape.Name
	shape.Tweaks
}

// Flags of an application server that set its shape.
const (
	FlagShape      = "shape"
	FlagTempPool   = "temp-pool"
	FlagLifetime   = "lifetime"
	FlagJitter     = "lifetime-jitter"
	FlagClearing   = "clearing"
	FlagChain      = "chain"
	FlagDurability = "durability"
)

// JitterMin is the least jitter of a lifetime that is not fixed.
const JitterMin = time.Second

// TweakFlags are those besides the name of the shape.
var TweakFlags = []string{FlagTempPool, FlagLifetime, FlagJitter, FlagClearing, FlagChain, FlagDurability}

// Worker is the shape as a worker has it, or says why there is none like that.
func (s Shape) Worker() (shape.Shape, error) {
	if s.Jitter > 0 && s.Jitter < JitterMin {
		return shape.Shape{}, problem.New(problem.Usage,
			fmt.Errorf("--%s %s: 0 or at least %s", FlagJitter, s.Jitter, JitterMin), "")
	}
	made, err := shape.New(s.Name, s.Tweaks)
	return made, problem.New(problem.Usage, err, "")
}

// Arguments give an application server this shape, whatever its environment and configuration file say.
func (s Shape) Arguments() []string {
	all := []string{
		"--" + FlagShape + "=" + string(s.Name), "--" + FlagClearing + "=" + string(s.Clearing),
		"--" + FlagLifetime + "=" + s.Lifetime.String(),
		"--" + FlagDurability + "=" + s.Durability,
		fmt.Sprintf("--%s=%d", FlagTempPool, s.TempPool), fmt.Sprintf("--%s=%d", FlagChain, s.Chain),
	}
	switch s.Jitter {
	case 0: // as the shape has it
	case database.Never:
		all = append(all, "--"+FlagJitter+"=0s")
	default:
		all = append(all, "--"+FlagJitter+"="+s.Jitter.String())
	}
	return all
}

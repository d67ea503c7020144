package advise

import (
	"context"
	"fmt"
	"math"

	"plimsoll/ground/human"
)

const databaseSQL = `SELECT blks_hit::float8 AS hit, blks_read::float8 AS read, temp_files::float8 AS spills,
	temp_bytes::float8 AS spilled, sessions::float8 AS sessions, session_time::float8 / 1000 AS life,
	numbackends::float8 AS backends,
	extract(epoch FROM clock_timestamp() - coalesce(stats_reset, (SELECT least(b.stats_reset, w.stats_reset,
		a.stats_reset) FROM pg_stat_bgwriter b, pg_stat_wal w, pg_stat_archiver a)))::float8 AS since
	FROM pg_stat_database WHERE datname = current_database()`

type databaseFigures struct {
	Hit, Read, Spills, Spilled, Sessions, Life, Size, Backends float64
	// Since is how many seconds counted: since the reset of the database, or that of the server, which a new one and
	// recovery begin with. nil: nobody knows.
	Since *float64
}

// figures of the database, read once.
func (s *server) figures(ctx context.Context) (*databaseFigures, error) {
	if s.counted == nil {
		d, err := one[databaseFigures](ctx, s, databaseSQL)
		if err != nil || d == nil {
			return nil, err
		}
		s.counted = d
	}
	return s.counted, nil
}

// perSecond of a count; nil if the time it took is not known.
func (d *databaseFigures) perSecond(n float64) *float64 {
	if d.Since == nil || *d.Since <= 0 {
		return nil
	}
	x := n / *d.Since
	return &x
}

func rateText(perS *float64, format string) string {
	if perS == nil {
		return "; since when is not known"
	}
	return fmt.Sprintf(format, *perS)
}

// memory settings that the load has outgrown, with what more of it costs.
var memory = class{
	name: "memory", healthy: "shared_buffers and work_mem fit what was read and sorted",
	causes: []string{"data-transfers", "temporary-files"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		d, err := s.figures(ctx)
		if err != nil || d == nil {
			return nil, err
		}
		if d.misses() { // the size is asked only then: the server looks at each file of the database
			const sql = "SELECT pg_database_size(current_database())::float8"
			if err := s.conn.QueryRow(ctx, sql).Scan(&d.Size); err != nil {
				return nil, err
			}
		}
		if a := s.sharedBuffers(d); a != nil {
			all = append(all, *a)
		}
		if a := s.workMem(d); a != nil {
			all = append(all, *a)
		}
		return all, nil
	},
}

// misses: a part of the blocks that matters was not in shared_buffers.
func (d *databaseFigures) misses() bool {
	requested := d.Hit + d.Read
	return requested >= accessesLeast.Value && d.Read >= missesMost.Value*requested
}

func (s *server) sharedBuffers(d *databaseFigures) *Advice {
	now, requested := s.bytes("shared_buffers"), d.Hit+d.Read
	misses := d.Read / max(1, requested)
	if !d.misses() || d.Size < now {
		return nil
	}
	if s.host == nil {
		s.miss("memory: shared_buffers", fmt.Sprintf("%s of the blocks were not in shared_buffers, and the machine's "+
			"memory is not known: a quarter of it is usual", human.Share(misses)))
		return nil
	}
	const part = 4 // of the machine's memory: the rest is the operating system's cache, and the sessions'
	to := min(float64(s.host.MemoryBytes)/part, 1.25*d.Size)
	if to < 1.25*now {
		return nil
	}
	level := Note
	perS := d.perSecond(d.Read)
	if misses >= missesMany.Value && perS != nil && *perS >= readsPerS.Value {
		level = Problem
	}
	asked := false
	cost := fmt.Sprintf("%s more, once for the whole server", human.Bytes(to-now))
	if s.value("huge_pages") == "on" {
		asked = true
		cost += "; huge_pages is on: without as many reserved before (vm.nr_hugepages) the server does not start"
	}
	return &Advice{ID: "setting:shared_buffers", Level: level, asked: asked,
		Title: "shared_buffers is small for the data that is read",
		Mechanism: "A block that is not in shared_buffers is read from the operating system: at best a copy, at " +
			"worst a wait for the disk.",
		Evidence: []string{fmt.Sprintf("%s of %.0f blocks were not in shared_buffers (%s)%s; the database has %s, the "+
			"server may use %s", human.Share(misses), requested, human.Bytes(now), rateText(perS, ", %.1f a second"),
			human.Bytes(d.Size), human.Bytes(float64(s.host.MemoryBytes)))},
		Memory:  cost,
		Changes: []Change{s.set("shared_buffers", settingSize(to))}}
}

func (s *server) workMem(d *databaseFigures) *Advice {
	perS := d.perSecond(d.Spilled)
	if d.Spills < spillsLeast.Value || perS != nil && *perS < spillsPerS.Value {
		return nil
	}
	now, mean, sessions := s.bytes("work_mem"), d.Spilled/d.Spills, s.figure("max_connections")
	to := math.Pow(2, math.Ceil(math.Log2(max(2*mean, 2*now))))
	most := 8 * now
	if s.host != nil {
		// A quarter of the memory for one sort of each connection. Those of the moment of the look say nothing about
		// the busiest hour, and the server that runs out of memory loses all its sessions.
		const part = 4
		most = float64(s.host.MemoryBytes) / part / max(sessions, 10)
	}
	to = min(to, most)
	level := Note
	if perS != nil && *perS >= spillsMany.Value {
		level = Problem
	}
	if to < 1.25*now {
		return &Advice{ID: "setting:work_mem", Level: Note, Title: "Sorts and joins spill into temporary files",
			Mechanism: "What does not fit into work_mem is written to disk and read again.",
			Evidence: []string{fmt.Sprintf("%.0f temporary files of %s on average%s; work_mem is %s, and more for "+
				"all %.0f connections could exhaust the machine's memory (%s)", d.Spills, human.Bytes(mean),
				rateText(perS, ", %.0f bytes a second"), human.Bytes(now), sessions,
				human.Bytes(float64(s.host.MemoryBytes)))},
			Do: []string{"find the statements that spill (log_temp_files), and SET LOCAL work_mem in them alone, or " +
				"ALTER ROLE … SET work_mem for the role of the reports"},
			Prove:  s.compare([]string{"--set-b " + shell("work_mem="+settingSize(2*now))}, false, false),
			Revert: "ALTER ROLE … RESET work_mem"}
	}
	factor := max(1, s.figure("hash_mem_multiplier"))
	unknown := ""
	if s.host == nil {
		unknown = "; how much the machine has is not known: check before setting it"
	}
	return &Advice{ID: "setting:work_mem", Level: level, asked: s.host == nil,
		Title:     "Sorts and joins spill into temporary files",
		Mechanism: "What does not fit into work_mem is written to disk and read again.",
		Evidence: []string{fmt.Sprintf("%.0f temporary files of %s on average%s; work_mem is %s", d.Spills,
			human.Bytes(mean), rateText(perS, ", %.0f bytes a second"), human.Bytes(now))},
		Memory: fmt.Sprintf("%s more for each sort, %s for each hash, in each session: if all %.0f connections did "+
			"one hash at once, %s%s", human.Bytes(to-now), human.Bytes(factor*(to-now)), sessions,
			human.Bytes(sessions*factor*(to-now)), unknown),
		Do:      []string{"for the reports of one role only: ALTER ROLE … SET work_mem; otherwise"},
		Changes: []Change{s.set("work_mem", settingSize(to))}}
}

package diagnose

import (
	"fmt"
	"strings"

	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/human"
)

const noMachine = "the server's machine is not visible from here"

// queue is the share of the time that sessions wait for a processor; unknown without the scheduler's figures.
func (m *measured) queue() (share float64, why string) {
	switch {
	case m.host == nil:
		return 0, noMachine
	case m.ledger.line(Unsplit) != nil:
		return 0, m.ledger.Processor
	}
	return m.ledger.share(forCPU), ""
}

// room is how the processors are used that the server may use: shares of them.
type room struct {
	cores                  string
	busy, database, others float64
}

// own is the database's part of what is used.
func (r room) own() float64 { return r.database / max(r.database+r.others, 1e-9) }

func (m *measured) room() (r room, why string) {
	h := m.host
	if h.Busy == nil || h.Database == nil || h.Others == nil {
		return r, "the processors or the processes of the machine could not be read"
	}
	r = room{"all cores", *h.Busy, *h.Database, *h.Others}
	if n := float64(len(h.Usable)); n > 0 && len(h.PerCore) == h.Cores {
		r.cores, r.busy = fmt.Sprintf("the %.0f of %d cores that the server may use", n, h.Cores), 0
		for _, i := range h.Usable {
			r.busy += h.PerCore[i] / n
		}
		r.database = min(1, r.database*float64(h.Cores)/n)
		r.others = max(0, r.busy-r.database)
	}
	return r, ""
}

// queueAndRoom are known both, or neither is of use.
func (m *measured) queueAndRoom() (waiting float64, r room, why string) {
	if waiting, why = m.queue(); why == "" {
		r, why = m.room()
	}
	return waiting, r, why
}

// processorsByOthers: other processes use them.
var processorsByOthers = cause{
	name:    "processors-taken-by-others",
	healthy: "other processes do not take the server's processors",
	classes: inRunning,
	find: func(m *measured) (*Finding, string) {
		waiting, r, why := m.queueAndRoom()
		if why != "" {
			return nil, why
		}
		if r.others < othersBusy.Value {
			return nil, ""
		}
		return &Finding{
			Price: new(waiting * (1 - r.own())), there: true,
			Title: "The machine is shared: other processes take the processors",
			Mechanism: "A session that is ready to run waits in the queue for a processor while other programs on " +
				"the machine use it. No wait event shows that: to PostgreSQL such a session is running.",
			Evidence: []string{
				fmt.Sprintf("sessions wait for a processor %s of their time (scheduler's figures)",
					human.Percent(waiting)),
				fmt.Sprintf("others use %s of %s, the database %s: %s", human.Percent(r.others), r.cores,
					human.Percent(r.database), neighbourNames(m.host.Who)),
			},
			Excluded: []string{"it is not the database's own work alone: it uses " + human.Percent(r.database) +
				" of " + r.cores},
			Next: []string{"top -b -n 1 -o %CPU | head -15",
				"if these are the clients, give them a machine of their own and diagnose again"},
		}, ""
	},
}

func neighbourNames(all []neighbours.Neighbour) string {
	var names []string
	for _, n := range all {
		if n.Share >= noteFrom.Value {
			names = append(names, fmt.Sprintf("%s %s", n.Name, human.Percent(n.Share)))
		}
	}
	return nonEmpty(strings.Join(names, ", "), "many small ones")
}

// processorsFull: the database itself needs more than there are.
var processorsFull = cause{
	name:    "processors-full",
	healthy: "the database does not need more processors than there are",
	classes: inRunning,
	find: func(m *measured) (*Finding, string) {
		waiting, r, why := m.queueAndRoom()
		if why != "" {
			return nil, why
		}
		if r.busy < machineBusy.Value || r.own() < mainUser.Value {
			return nil, ""
		}
		return &Finding{
			// Where others leave it so few, that has a finding: nobody knows whether its own work would fill them.
			remark:    r.others >= othersBusy.Value,
			Price:     new(waiting * r.own() * (1 - m.explainedRunning()) * m.ownPart()),
			Title:     "The database needs more processors than it has",
			there:     true,
			partial:   m.explainedRunning() > 0 || m.ownPart() < 1,
			Mechanism: "More sessions are ready to run than there are processors. Each waits for its turn.",
			Evidence: []string{fmt.Sprintf("%s are %s busy, the database uses %s of them", r.cores,
				human.Percent(r.busy),
				human.Percent(r.database)), fmt.Sprintf("sessions wait for a processor %s of their time",
				human.Percent(waiting)), m.host.usesText()},
			Excluded: []string{fmt.Sprintf("processes that are not the server's use only %s of them",
				human.Percent(r.others))},
			Next: []string{"read the statements of the line \"on a processor\": make the first one cheaper",
				"fewer connections at once: throughput stays and each waits less"},
		}, ""
	},
}

// quota: a control group withholds processor time.
var quota = cause{
	name:    "processor-quota",
	healthy: "no quota withholds processors from the server",
	classes: inRunning,
	find: func(m *measured) (*Finding, string) {
		if m.host == nil {
			return nil, noMachine
		}
		if m.host.Throttled == nil {
			return nil, "the control group of the server is not visible here"
		}
		if *m.host.Throttled < throttledMost.Value {
			return nil, ""
		}
		withheld := m.ledger.running()
		if queue, why := m.queue(); why == "" {
			withheld = queue // processes that are stopped by a quota count as waiting for a processor
		}
		return &Finding{
			Price: new(min(*m.host.Throttled, withheld)), Title: "A quota withholds the processors", there: true,
			Mechanism: "The server's control group may use a limited processor time in each tenth of a second; " +
				"then all its processes stop, whatever locks they hold.",
			Evidence: []string{fmt.Sprintf("throttled for %s of the time, added up over the cores",
				human.Percent(*m.host.Throttled))},
			Excluded: []string{"idle cores do not help: the quota binds first"},
			Next:     []string{"raise cpu.max of the server's control group (the limit of the container)"},
		}, ""
	},
}

// stolen: the hypervisor runs other machines.
var stolen = cause{
	name:    "steal",
	healthy: "the hypervisor steals no processor time",
	classes: inRunning,
	find: func(m *measured) (*Finding, string) {
		if m.host == nil || m.host.Steal == nil || m.host.Busy == nil {
			return nil, noMachine
		}
		if *m.host.Steal < stealMost.Value {
			return nil, ""
		}
		return &Finding{
			Price: new(m.ledger.running() * *m.host.Steal / (*m.host.Steal + *m.host.Busy)),
			Title: "The hypervisor gives processor time to other virtual machines", there: true,
			Mechanism: "A virtual processor is ready to run while the hypervisor runs another machine's. Inside this " +
				"machine that time looks like work.",
			Evidence: []string{fmt.Sprintf("steal is %s of all cores, work %s", human.Percent(*m.host.Steal),
				human.Percent(*m.host.Busy))},
			Excluded: []string{"it is not a process of this machine"},
			Next:     []string{"get reserved processors, or a host with fewer virtual machines"},
		}, ""
	},
}

// fullCoreNote: one process keeps one core full while the machine looks idle.
var fullCoreNote = cause{
	name: "one-core-filled",
	find: func(m *measured) (*Finding, string) {
		if m.host == nil {
			return nil, noMachine
		}
		if m.host.Full == nil {
			return nil, ""
		}
		place := "not of the database"
		if m.host.Full.Database {
			place = "of the database"
		}
		return &Finding{
			Title: fmt.Sprintf("Process %s (%d), %s, keeps one core full", m.host.Full.Name, m.host.Full.PID, place),
			Mechanism: "A single thread cannot use more than one core, while the machine as a whole looks idle. " +
				"Whatever waits for that thread waits for that core.",
			Evidence: []string{
				fmt.Sprintf("it uses %.2f cores, and waits for a processor another %s of the time", m.host.Full.Cores,
					human.Percent(m.host.Full.Waited)),
				fmt.Sprintf("all cores together are busy %s", share(m.host.Busy))},
			Excluded: []string{"a program of several threads would use more than one core at times"},
			Next:     []string{fmt.Sprintf("ps -o pid,comm,args -p %d", m.host.Full.PID)},
		}, ""
	},
}

func times100(x *float64) *float64 {
	if x == nil {
		return nil
	}
	return new(100 * *x)
}

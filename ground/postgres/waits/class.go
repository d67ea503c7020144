package waits

import "strings"

// Class is the meaning of a wait event for somebody who looks for a cause. Servers name events in several ways: events
// of the log have the types IO, LWLock and Timeout. An event of an unknown type, as a newer server may have, is Other.
type Class string

const (
	Running   Class = "running"   // no wait: on a processor, or in the queue for one
	Client    Class = "client"    // for the client, or for the network to it
	Lock      Class = "lock"      // for a lock that another transaction holds
	Latch     Class = "latch"     // for a lock inside the server, or a pinned page
	WAL       Class = "log"       // for the write-ahead log
	Standby   Class = "standby"   // for a synchronous standby to confirm a commit
	IO        Class = "io"        // for reading and writing of data
	IPC       Class = "processes" // for another process of the server
	Sleep     Class = "sleep"     // a deliberate delay: pg_sleep, vacuum's cost delay
	Idle      Class = "idle"      // for work: Activity, which only background processes have
	Extension Class = "extension"
	Other     Class = "other"
)

// types of pg_stat_activity.wait_event_type. PostgreSQL 19 renames BufferPin to Buffer.
var types = map[string]Class{
	"": Running, "Client": Client, "Lock": Lock, "LWLock": Latch, "BufferPin": Latch, "Buffer": Latch, "IO": IO,
	"IPC": IPC, "Timeout": Sleep, "Activity": Idle, "Extension": Extension, "InjectionPoint": Extension,
}

// Class of the event.
func (e Event) Class() Class {
	class, known := types[e.Type]
	switch {
	case !known:
		return Other
	case class == Idle:
		return Idle
	case e.Name == "SyncRep":
		return Standby // an LWLock has the same name
	case strings.HasPrefix(strings.ToUpper(e.Name), "WAL"), e.Name == "CommitDelay":
		return WAL
	}
	return class
}

// String names it as PostgreSQL's documentation does.
func (e Event) String() string {
	switch {
	case e.Type == "":
		return "no wait"
	case e.Name == "":
		return e.Type
	}
	return e.Type + ":" + e.Name
}

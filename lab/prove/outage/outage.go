// Package outage makes a PostgreSQL server refuse statements at times: it stands in for a system that fails a part of
// what it is asked and is quick with the rest. It changes statements on their way to the server, so that the errors are
// the server's own and its sessions stay in order.
package outage

import (
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"time"
)

// Outage is when statements are refused: a part of each period, from a moment until another. The zero value never is.
type Outage struct {
	mu          sync.Mutex
	from, until time.Time
	period      time.Duration
	part        float64
}

// Plan replaces what was planned.
func (o *Outage) Plan(from, until time.Time, period time.Duration, part float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.from, o.until, o.period, o.part = from, until, period, part
}

func (o *Outage) at(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.period <= 0 || now.Before(o.from) || !now.Before(o.until) {
		return false
	}
	return float64(now.Sub(o.from)%o.period) < o.part*float64(o.period)
}

// On is a connection to the server whose statements pass the outage. It must not be encrypted.
func (o *Outage) On(server net.Conn) net.Conn { return &client{Conn: server, outage: o} }

// client reads the messages of a client on their way to the server.
type client struct {
	net.Conn
	outage  *Outage
	started bool   // messages have a type, which those before the start of a session have not
	rest    []byte // of a message that is not complete
}

// Write passes on the complete messages.
func (c *client) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	var out []byte
	for {
		message := c.next()
		if message == nil {
			break
		}
		if c.started && c.outage.at(time.Now()) {
			message = refused(message)
		}
		out = append(out, message...)
	}
	if _, err := c.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// protocol 3, which every session starts with; other messages before it ask for encryption, or to cancel.
const protocol = 3

// next complete message; nil: there is none.
func (c *client) next() []byte {
	head := 4
	if c.started {
		head = 5
	}
	if len(c.rest) < head {
		return nil
	}
	length := head - 4 + int(binary.BigEndian.Uint32(c.rest[head-4:]))
	if len(c.rest) < length {
		return nil
	}
	message := slices.Clone(c.rest[:length])
	c.rest = c.rest[length:]
	if !c.started {
		c.started = len(message) >= 8 && binary.BigEndian.Uint16(message[4:]) == protocol
	}
	return message
}

// Names that only refused statements have.
const (
	raise   = "DO $$BEGIN RAISE EXCEPTION 'planted outage' USING ERRCODE = 'insufficient_resources'; END$$"
	missing = "planted outage"
)

// refused is what the server is asked instead: to raise an error, or to execute a prepared statement that there is not.
// Other messages, such as those that prepare, stay, or what is cached would be spoilt for later.
func refused(message []byte) []byte {
	switch message[0] {
	case 'Q':
		return withLength('Q', append([]byte(raise), 0))
	case 'B':
		portal := slices.Index(message[5:], 0)
		if portal < 0 {
			return message
		}
		statement := 5 + portal + 1
		end := slices.Index(message[statement:], 0)
		if end < 0 {
			return message
		}
		return withLength('B', slices.Concat(message[5:statement], []byte(missing), message[statement+end:]))
	}
	return message
}

func withLength(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

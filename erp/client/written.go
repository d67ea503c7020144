package client

import (
	"bytes"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// ledger of a client's writing operations. Those that create a document of one type are one series of keys, those that
// change one another.
type ledger struct {
	mutex  sync.Mutex
	series map[string]*Fates
	news   map[string]int64 // the lowest number of each series that has changed since News
}

// newKey is the key of a request that writes a document; other requests have none.
func (c *Client) newKey(method, path string) Key {
	rest, ofDocument := strings.CutPrefix(path, documentsPath)
	if !ofDocument || method == http.MethodGet {
		return Key{}
	}
	documentType, _, some := strings.Cut(rest, "/")
	k := Key{Series: strings.ReplaceAll(documentType, "-", "_")}
	if method != http.MethodPost || some {
		k.Series += changes
	}
	l := &c.written
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.series[k.Series] == nil {
		l.series[k.Series] = &Fates{}
	}
	k.N = l.series[k.Series].draw()
	l.changed(k)
	return k
}

func (l *ledger) set(k Key, f Fate) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.series[k.Series].set(k.N, f)
	l.changed(k)
}

func (l *ledger) changed(k Key) {
	if l.news == nil {
		l.news = map[string]int64{}
	}
	if first, known := l.news[k.Series]; !known || k.N < first {
		l.news[k.Series] = k.N
	}
}

// Written is what this client knows of its writing operations, by series of their keys, all of which have the prefix.
func (c *Client) Written() (prefix string, series map[string]Fates) {
	c.written.mutex.Lock()
	defer c.written.mutex.Unlock()
	return c.run, c.written.since(nil)
}

// News is the part of Written that has changed since the last News.
func (c *Client) News() (prefix string, series map[string]Fates) {
	l := &c.written
	l.mutex.Lock()
	defer l.mutex.Unlock()
	series = l.since(l.news)
	maps.DeleteFunc(series, func(name string, _ Fates) bool {
		_, changed := l.news[name]
		return !changed
	})
	l.news = nil
	return c.run, series
}

// since copies the series, each from its first number of interest.
func (l *ledger) since(first map[string]int64) map[string]Fates {
	all := make(map[string]Fates, len(l.series))
	for name, f := range l.series {
		from := first[name] / fatesInByte
		all[name] = Fates{N: f.N, From: from, Packed: bytes.Clone(f.Packed[from:])}
	}
	return all
}

// fateOf an operation. If a first request was lost, only success is conclusive: it may be carried out after the second
// was refused.
func fateOf(resent bool, r *response, err error) Fate {
	switch {
	case err == nil && r.status < 300:
		return Acknowledged
	case err != nil || resent || r.status >= 500 && !notStarted(r):
		return Unknown
	}
	return NotDone
}

// notStarted reports that the worker did not start the request.
func notStarted(r *response) bool {
	return r.status == http.StatusServiceUnavailable && bytes.Contains(r.body.Bytes(), []byte(`"code":"overloaded"`))
}

const documentsPath = "/v1/documents/"

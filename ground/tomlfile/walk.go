package tomlfile

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// walk goes through the text in its order. The decoder gives values without their lines, the parser lines without
// values: what the decoder has accepted is walked through once more for the lines.
type walk struct {
	file  *File
	tree  map[string]any
	seen  map[string]bool // tables and lists that have an entry
	lists map[string]int  // tables of a list so far
	lines
}

// lines counts those before a place; places are asked for in their order.
type lines struct {
	text   []byte
	at     uint32
	before int
}

func (l *lines) of(offset uint32) int {
	if offset < l.at {
		l.at, l.before = 0, 0
	}
	l.before += bytes.Count(l.text[l.at:offset], []byte("\n"))
	l.at = offset
	return l.before + 1
}

func (w *walk) all(text []byte) error {
	w.text = text
	var p unstable.Parser
	p.Reset(text)
	var under []string // the table that keys belong to
	for p.NextExpression() {
		switch node := p.Expression(); node.Kind {
		case unstable.Table, unstable.ArrayTable:
			parts, line := w.key(node.Key())
			last := len(parts) - 1
			under = w.tables(nil, parts[:last], line)
			if under = append(under, parts[last]); node.Kind == unstable.Table {
				w.table(under, line)
			} else {
				under = w.next(under, line)
			}
		case unstable.KeyValue:
			w.keyValue(under, node)
		}
	}
	return p.Error()
}

// key is the parts of a key, and the line where it begins.
func (w *walk) key(all unstable.Iterator) (parts []string, line int) {
	for all.Next() {
		if line == 0 {
			line = w.of(all.Node().Raw.Offset)
		}
		parts = append(parts, string(all.Node().Data))
	}
	return parts, line
}

// tables that a key passes through. In a list of tables it is the last one.
func (w *walk) tables(under, parts []string, line int) []string {
	for _, part := range parts {
		under = append(slices.Clip(under), part)
		if n := w.lists[mark(under)]; n > 0 {
			under = append(slices.Clip(under), strconv.Itoa(n))
			continue
		}
		w.table(under, line)
	}
	return under
}

// table adds the entry of a table, once.
func (w *walk) table(key []string, line int) {
	if !w.seen[mark(key)] {
		w.seen[mark(key)] = true
		w.add(key, line, true)
	}
}

// next table of a list.
func (w *walk) next(list []string, line int) []string {
	name := mark(list)
	if !w.seen[name] {
		w.seen[name] = true
		w.add(list, line, false)
	}
	w.lists[name]++
	key := append(slices.Clip(list), strconv.Itoa(w.lists[name]))
	w.add(key, line, true)
	return key
}

func (w *walk) keyValue(under []string, node *unstable.Node) {
	parts, line := w.key(node.Key())
	last := len(parts) - 1
	under = w.tables(under, parts[:last], line)
	w.value(append(slices.Clip(under), parts[last]), line, node.Value())
}

// value adds an entry, and those of the tables in it.
func (w *walk) value(key []string, line int, node *unstable.Node) {
	if node.Kind == unstable.InlineTable {
		w.table(key, line)
		w.inside(key, node)
		return
	}
	w.add(key, line, false)
	if node.Kind != unstable.Array {
		return
	}
	n := 0
	for all := node.Children(); all.Next(); {
		n++
		if item := all.Node(); item.Kind == unstable.InlineTable {
			each := append(slices.Clip(key), strconv.Itoa(n))
			w.add(each, w.of(item.Raw.Offset), true)
			w.inside(each, item)
		}
	}
}

func (w *walk) inside(key []string, table *unstable.Node) {
	for all := table.Children(); all.Next(); {
		w.keyValue(key, all.Node())
	}
}

func (w *walk) add(key []string, line int, table bool) {
	w.file.Entries = append(w.file.Entries, Entry{slices.Clone(key), line, valueAt(w.tree, key), table})
}

// mark of a key that no other has.
func mark(key []string) string { return strings.Join(key, "\x00") }

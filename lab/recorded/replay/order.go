package replay

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// A log is in the order of ends; a replay needs that of begins. Statements are sorted in runs of bounded size, which
// lie in files without a name, since they hold what users wrote: whatever ends the process, the system takes them away.
// While runs are merged, a buffer of a small part of each is in memory.
const (
	runBytes   = 64 << 20
	bufferPart = 256
)

// order of statements by their begin.
type order struct {
	dir   string
	most  int // bytes of a run
	run   []statement
	bytes int
	files []*os.File
	n     int64 // of the log, without boundaries that were made
	// see, unless nil, gets the statements, and nothing is kept.
	see func(statement)
}

// bound are the values of a statement's parameters; nil: NULL, for which gob has no form.
type bound []*string

// GobEncode writes the length of each value and one more, so that 0 is NULL, and the value.
func (b bound) GobEncode() (out []byte, err error) {
	for _, v := range b {
		if v == nil {
			out = append(out, 0)
			continue
		}
		out = append(binary.AppendUvarint(out, uint64(len(*v))+1), *v...)
	}
	return out, nil
}

// GobDecode is the inverse of GobEncode.
func (b *bound) GobDecode(in []byte) error {
	*b = nil
	for len(in) > 0 {
		n, width := binary.Uvarint(in)
		if width <= 0 || n > uint64(len(in)-width)+1 {
			return errors.New("values of parameters are cut off")
		}
		in = in[width:]
		if n == 0 {
			*b = append(*b, nil)
			continue
		}
		text := string(in[:n-1])
		*b, in = append(*b, &text), in[n-1:]
	}
	return nil
}

func newOrder(state string) (*order, error) {
	if err := os.MkdirAll(state, 0o755); err != nil {
		return nil, fmt.Errorf("order the statements: %w", err)
	}
	return &order{dir: state, most: runBytes}, nil
}

// remove what lies on disk.
func (o *order) remove() (err error) {
	for _, f := range o.files {
		err = errors.Join(err, f.Close())
	}
	o.files = nil
	return err
}

// nameless makes a file that nobody finds, and that is gone when it is closed.
func nameless(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "replay-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (o *order) add(s statement) error {
	if o.see != nil {
		o.see(s)
		return nil
	}
	o.run = append(o.run, s)
	if !s.Made {
		o.n++
	}
	o.bytes += 500 + len(s.Text)
	for _, v := range s.Values {
		if v != nil {
			o.bytes += 20 + len(*v)
		}
	}
	if o.bytes < o.most {
		return nil
	}
	return o.spill()
}

func byBegin(a, b statement) int { return a.Begun.Compare(b.Begun) }

// spill writes a sorted run. The sort is stable: of one moment the order of the log holds.
func (o *order) spill() (err error) {
	slices.SortStableFunc(o.run, byBegin)
	f, err := nameless(o.dir)
	if err != nil {
		return fmt.Errorf("order the statements: %w", err)
	}
	o.files = append(o.files, f)
	out := bufio.NewWriterSize(f, 1<<20)
	encoder := gob.NewEncoder(out)
	for i := range o.run {
		if err = encoder.Encode(&o.run[i]); err != nil {
			break
		}
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("order the statements: %w", err)
	}
	o.run, o.bytes = nil, 0
	return nil
}

// each gives the statements in their order, until do fails.
func (o *order) each(do func(statement) error) error {
	if len(o.run) > 0 {
		if err := o.spill(); err != nil {
			return err
		}
	}
	var m merge
	for number, f := range o.files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("order the statements: %w", err)
		}
		r := &run{number: number, decoder: gob.NewDecoder(bufio.NewReaderSize(f, o.most/bufferPart))}
		if more, err := r.next(); err != nil || !more {
			return err
		}
		m = append(m, r)
	}
	heap.Init(&m)
	for len(m) > 0 {
		first := m[0]
		if err := do(first.at); err != nil {
			return err
		}
		more, err := first.next()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&m, 0)
		default:
			heap.Pop(&m)
		}
	}
	return nil
}

// run of sorted statements, and the one that comes next.
type run struct {
	number  int
	decoder *gob.Decoder
	at      statement
}

func (r *run) next() (more bool, err error) {
	r.at = statement{}
	err = r.decoder.Decode(&r.at)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("order the statements: %w", err)
	}
	return true, nil
}

// merge is a heap of runs, the earliest statement first.
type merge []*run

func (m merge) Len() int { return len(m) }
func (m merge) Less(i, j int) bool {
	return cmp.Or(byBegin(m[i].at, m[j].at), cmp.Compare(m[i].number, m[j].number)) < 0
}
func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)   { *m = append(*m, x.(*run)) }
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

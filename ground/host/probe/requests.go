package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Requests describes reads that were made concurrently.
type Requests struct {
	Asked float64 `json:"asked"` // concurrent reads that the program issued
	Below float64 `json:"below"` // concurrent reads below a limit on the way, on average
	PerS  float64 `json:"per_s"`
	MS    float64 `json:"ms"`       // of one, as the program waited
	Own   float64 `json:"below_ms"` // of it below the limit
}

// through is the share of the issued reads that is under way if there is no limit, or if it is not reached.
const through = 0.8

// Limit on the way that Requests shows: a queue above it, as many requests below as it lets through, and more that were
// issued. 0: everything that was issued was under way.
func (r Requests) Limit() float64 {
	if r.Below >= through*r.Asked {
		return 0
	}
	return r.Below
}

const (
	readBytes  = 8192
	readsPages = 4096 // of the file: 32 MB
)

// Read reads random pages, as many at once as asked, bypassing the page cache. At most `limit` are let through at once,
// as a hypervisor or a controller does; 0: all. The file has no name.
func Read(ctx context.Context, dir string, asked, limit int, until time.Time) (r Requests, err error) {
	file, err := nameless(dir)
	if err != nil {
		return r, err
	}
	defer file.Close()
	if limit <= 0 {
		limit = asked
	}
	gate := make(chan struct{}, limit)
	var done, waited, below atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	began := time.Now()
	for i := range asked {
		all.Add(1)
		go func() {
			defer all.Done()
			page, rng := aligned(), rand.New(rand.NewPCG(uint64(i), 7))
			// Each reads once, even if creating the file has taken all the time.
			for n := 0; failed.Load() == nil && ctx.Err() == nil && (n == 0 || time.Now().Before(until)); n++ {
				asked := time.Now()
				gate <- struct{}{}
				let := time.Now()
				_, err := unix.Pread(int(file.Fd()), page, rng.Int64N(readsPages)*readBytes)
				now := time.Now()
				<-gate
				if err != nil && !errors.Is(err, unix.EINTR) {
					failed.Store(&err)
				}
				done.Add(1)
				waited.Add(int64(now.Sub(asked)))
				below.Add(int64(now.Sub(let)))
			}
		}()
	}
	all.Wait()
	length := time.Since(began)
	if problem := failed.Load(); problem != nil {
		return r, fmt.Errorf("read %s: %w", dir, *problem)
	}
	n := float64(done.Load())
	if n == 0 {
		return r, errors.New("timed out before anything was read")
	}
	// Little's law: the mean number under way is the sum of their times by the time of the whole.
	return Requests{Asked: float64(waited.Load()) / float64(length), Below: float64(below.Load()) / float64(length),
		PerS: n / length.Seconds(), MS: float64(waited.Load()) / n / 1e6, Own: float64(below.Load()) / n / 1e6}, nil
}

// nameless file of pages for reads that bypass the page cache.
func nameless(dir string) (*os.File, error) {
	named, err := os.CreateTemp(dir, ".plimsoll-probe-")
	if err != nil {
		return nil, fmt.Errorf("create a file: %w", err)
	}
	defer named.Close()
	defer os.Remove(named.Name())
	chunk := make([]byte, 1<<20)
	for range readsPages * readBytes / len(chunk) {
		if _, err := named.Write(chunk); err != nil {
			return nil, err
		}
	}
	if err := named.Sync(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(named.Name(), os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, fmt.Errorf("read without the page cache: %w", err)
	}
	return file, nil
}

// aligned memory for a page, as O_DIRECT needs it.
func aligned() []byte {
	const border = 4096
	raw := make([]byte, readBytes+border)
	at := 0
	for ; addressOf(raw[at:])%border != 0; at++ {
	}
	return raw[at : at+readBytes]
}

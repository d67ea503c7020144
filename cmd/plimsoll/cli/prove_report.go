package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/proof"
)

// listClaims shows what is kept, or writes it as a page.
func (a *app) listClaims(ctx context.Context, chosen []claims.Claim, o proveOptions) error {
	if o.budget > 0 {
		return problem.New(problem.Usage, errors.New("--budget has no effect where nothing is run"),
			"add --all, or name claims")
	}
	if o.archive != "" {
		if err := a.archiveClaims(o); err != nil || o.report == "" {
			return err
		}
	}
	switch {
	case o.from != "":
		return a.reportArchive(o)
	case o.report != "":
		return a.reportClaims(ctx, o)
	}
	return a.showClaims(ctx, chosen, o, false)
}

// archiveClaims writes all stored results.
func (a *app) archiveClaims(o proveOptions) error {
	err := claims.OpenStore("").WriteArchive(o.archive)
	if err == nil {
		a.meter.Say("wrote %s", o.archive)
	}
	return err
}

// reportArchive writes the page of another machine's results, as of there.
func (a *app) reportArchive(o proveOptions) error {
	archive, err := claims.ReadArchive(o.from)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "plimsoll-archive-")
	if err != nil {
		return fmt.Errorf("unpack %s: %w", o.from, err)
	}
	defer os.RemoveAll(dir)
	store := claims.OpenStore(dir)
	if err := archive.Unpack(store); err != nil {
		return err
	}
	return a.writeClaims(store, proof.Elsewhere(archive), o)
}

// reportClaims writes the page of all claims.
func (a *app) reportClaims(ctx context.Context, o proveOptions) error {
	return a.writeClaims(claims.OpenStore(""), hereNow(ctx), o)
}

func (a *app) writeClaims(store *claims.Store, here proof.Here, o proveOptions) error {
	all, err := proof.Gather(store, here, o.sizes())
	if err != nil {
		return err
	}
	err = kept.Page(o.report).Write(func(w io.Writer) error { return proof.HTML(w, all, here, time.Now()) })
	if err == nil {
		a.meter.Say("wrote %s", o.report)
	}
	return err
}

// hereNow is what findings must be of to be current.
func hereNow(ctx context.Context) proof.Here {
	here := proof.Here{Machine: claims.Here(), Software: software().Version, Engines: map[string]string{}}
	for _, name := range []string{installation.Plimsoll, installation.Vanilla, installation.System} {
		if s, err := installation.Find(ctx, name); err == nil {
			here.Engines[s.Flavour] = engineLabel(s)
		}
	}
	return here
}

// itemsOf are the experiments behind claims, with how long they take and how much they are due.
func (a *app) itemsOf(ctx context.Context, toRun []claims.Claim, o proveOptions, bench site.Bench) (
	items []proof.Item, err error) {
	here, store := hereNow(ctx), claims.OpenStore("")
	for _, c := range toRun {
		e, _ := experiments.For(c.ID)
		kept, err := store.All(c.ID)
		if err != nil {
			return nil, err
		}
		engine := engineOfClaim(ctx, e, bench)
		items = append(items, proof.ItemOf(c, e.Plan(bench), o.commandFor(c.ID), engine, kept, here))
	}
	return items, nil
}

func estimateOf(item proof.Item) string {
	text := human.Roughly(item.Takes)
	if item.Known {
		text += ", as it took before"
	}
	return text
}

// commandFor a claim is the command line that measures it in the same way.
func (o proveOptions) commandFor(id string) string {
	words := []string{"plimsoll prove", id}
	if o.full {
		words = append(words, "--full")
	}
	if o.duration > 0 {
		words = append(words, "--duration "+human.Duration(o.duration))
	}
	if len(o.disks) > 0 {
		words = append(words, "--disks "+strings.Join(o.disks, ","))
	}
	for _, size := range []struct {
		name string
		n    int
	}{{"repetitions", o.repetitions}, {"users", o.users}, {"documents", o.documents}, {"threads", o.threads}} {
		if size.n > 0 {
			words = append(words, fmt.Sprintf("--%s %d", size.name, size.n))
		}
	}
	if o.engine != "" {
		words = append(words, "--engine "+o.engine)
	}
	if o.cluster != "" {
		words = append(words, "--cluster "+o.cluster)
	}
	return strings.Join(words, " ")
}

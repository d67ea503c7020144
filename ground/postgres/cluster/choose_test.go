package cluster_test

import (
	"testing"

	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
)

func TestChoose(t *testing.T) {
	b, ctx := setup(t), t.Context()
	choose := func(name, want string) {
		t.Helper()
		if got, err := b.Choose(ctx, name); err != nil || got != want {
			t.Errorf("chose %q, %v, want %q", got, err, want)
		}
	}
	choose("", "")
	_, err := b.Chosen(ctx, "")
	problemtest.Want(t, err, problem.Environment, "there is no local cluster", "plimsoll up")

	b.create("one")
	choose("", "one")
	choose("other", "other")
	_, err = b.Running(ctx, "")
	problemtest.Want(t, err, problem.Environment, "cluster one is stopped", "plimsoll up one")

	b.create("two")
	_, err = b.Choose(ctx, "")
	problemtest.Want(t, err, problem.Usage, "which cluster? there are one, two")
	b.up("two")
	choose("", "two")
}

func TestChooseOrMake(t *testing.T) {
	b, ctx := setup(t), t.Context()
	for _, c := range []struct{ name, engine, chosen, of string }{
		{"", installation.Vanilla, "vanilla", "vanilla"},
		{"vanilla", "", "vanilla", "vanilla"},
		{"vanilla", "/opt/pg", "vanilla", "/opt/pg"},
	} {
		if chosen, of, err := b.ChooseOrMake(ctx, c.name, c.engine); err != nil || chosen != c.chosen || of != c.of {
			t.Errorf("%q %q: %q of %q, %v", c.name, c.engine, chosen, of, err)
		}
	}
	_, _, err := b.ChooseOrMake(ctx, "vanila", "")
	problemtest.Want(t, err, problem.Usage, `no cluster "vanila"`, "did you mean vanilla?")
	b.create("mine")
	_, _, err = b.ChooseOrMake(ctx, "mine", "/opt/pg")
	problemtest.Want(t, err, problem.Usage, "was created with engine", "leave out --engine")
}

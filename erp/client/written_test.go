package client

import (
	"bytes"
	"errors"
	"net/http"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatIsKnownOfAnOperation(t *testing.T) {
	answer := func(status int, body string) *response {
		return &response{status: status, body: bytes.NewBufferString(body)}
	}
	busy := `{"error":{"code":"overloaded"}}`
	for name, c := range map[string]struct {
		resent bool
		r      *response
		err    error
		want   Fate
	}{
		"Done":             {false, answer(http.StatusCreated, ""), nil, Acknowledged},
		"DoneAtLast":       {true, answer(http.StatusCreated, ""), nil, Acknowledged},
		"Refused":          {false, answer(http.StatusConflict, ""), nil, NotDone},
		"NotBegun":         {false, answer(http.StatusServiceUnavailable, busy), nil, NotDone},
		"ServerFailed":     {false, answer(http.StatusInternalServerError, ""), nil, Unknown},
		"Lost":             {true, nil, errors.New("reset"), Unknown},
		"LostThenRefused":  {true, answer(http.StatusConflict, ""), nil, Unknown},
		"LostThenNotBegun": {true, answer(http.StatusServiceUnavailable, busy), nil, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fateOf(c.resent, c.r, c.err); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	c := New(Options{})
	for _, one := range []struct {
		method, path, want string // key; empty: none
		creates            bool
	}{
		{http.MethodPost, "/v1/documents/goods-sale", "goods_sale-0", true},
		{http.MethodPost, "/v1/documents/goods-sale", "goods_sale-1", true},
		{http.MethodPost, "/v1/documents/goods-sale/0199/unpost", "goods_sale.change-0", false},
		{http.MethodPut, "/v1/documents/goods-sale/0199", "goods_sale.change-1", false},
		{http.MethodGet, "/v1/documents/goods-sale/0199", "", false},
		{http.MethodPost, "/v1/sessions", "", false},
	} {
		k := c.newKey(one.method, one.path)
		if !k.keyed() {
			if one.want != "" {
				t.Errorf("%s %s has no key", one.method, one.path)
			}
			continue
		}
		if k.String() != one.want || k.Creates() != one.creates || k.DocumentType() != "goods_sale" {
			t.Errorf("%s %s: %s, creates %t, of %s", one.method, one.path, k, k.Creates(), k.DocumentType())
		}
		if again, ok := ParseKey(k.String()); !ok || again != k {
			t.Errorf("%s is read as %s", k, again)
		}
	}
	for _, wrong := range []string{"", "-1", "goods_sale", "goods_sale-", "goods_sale-01", "goods_sale-x"} {
		if k, ok := ParseKey(wrong); ok {
			t.Errorf("%q is read as %s", wrong, k)
		}
	}
}

// Whoever adds up the news knows what the client knows, whenever they were taken.
func TestNewsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, model, reported := New(Options{}), map[Key]Fate{}, map[string]Fates{}
		var drawn []Key
		add := func() {
			_, news := c.News()
			for name, n := range news {
				f := reported[name]
				if !f.Update(n) {
					t.Fatalf("%s: %+v does not continue %+v", name, n, f)
				}
				reported[name] = f
			}
		}
		paths := []string{"/v1/documents/a", "/v1/documents/a/1", "/v1/documents/b"}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				add()
			case 1, 2:
				k := c.newKey(http.MethodPost, rapid.SampledFrom(paths).Draw(t, "path"))
				drawn, model[k] = append(drawn, k), Unknown
			default:
				if len(drawn) > 0 {
					k := rapid.SampledFrom(drawn).Draw(t, "key")
					model[k] = Fate(rapid.IntRange(0, 2).Draw(t, "fate"))
					c.written.set(k, model[k])
				}
			}
		}
		add()
		_, all := c.Written()
		for k, want := range model {
			if all[k.Series].At(k.N) != want || reported[k.Series].At(k.N) != want {
				t.Fatalf("%s is %d and told as %d, want %d", k, all[k.Series].At(k.N), reported[k.Series].At(k.N), want)
			}
		}
		for name, f := range all {
			if f.N != reported[name].N {
				t.Fatalf("%s: %d keys, told %d", name, f.N, reported[name].N)
			}
		}
	})
}

// News that do not follow what is known are refused.
func TestNewsWithAGapAreRefused(t *testing.T) {
	f := Fates{N: 5, Packed: []byte{0, 0}}
	for _, news := range []Fates{
		{N: 20, From: 3, Packed: []byte{0, 0}},       // two bytes are missing
		{N: 20, From: 2, Packed: []byte{0}},          // too short for 20
		{N: 4, From: 0, Packed: []byte{0}},           // fewer than before
		{N: 20, From: -1, Packed: make([]byte, 6)},   // before the first
		{N: 20, From: 2, Packed: make([]byte, 1000)}, // too long
	} {
		known := f
		if known.Update(news) {
			t.Errorf("%+v was taken in", news)
		}
	}
}

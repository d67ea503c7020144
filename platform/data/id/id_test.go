package id_test

import (
	"encoding/json"
	"testing"
	"time"

	"plimsoll/platform/data/id"
)

func TestIDsSortInTheOrderTheyWereMade(t *testing.T) {
	last := id.New()
	for range 10_000 {
		next := id.New()
		if last.Compare(next) >= 0 {
			t.Fatalf("%s does not sort before %s", last, next)
		}
		last = next
	}
}

func TestAtIsAReproducibleUUIDv7(t *testing.T) {
	moment := time.UnixMilli(1_700_000_000_123)
	v := id.At(moment, 0xffffffffffffffff, 0xffffffffffffffff)
	if v != id.At(moment, 0xffffffffffffffff, 0xffffffffffffffff) {
		t.Error("not reproducible")
	}
	if got := v.String(); got != "018bcfe5-687b-7fff-bfff-ffffffffffff" {
		t.Errorf("got %s: version 7, variant 10 and the moment are expected", got)
	}
	if v.Compare(id.At(moment.Add(time.Millisecond), 0, 0)) >= 0 {
		t.Error("does not sort by time")
	}
	if got := id.At(moment.Add(time.Millisecond-1), 0, 0).Moment(); !got.Equal(moment) {
		t.Errorf("it was made at %s, it says %s", moment, got)
	}
}

func TestParseTakesOneFormOnly(t *testing.T) {
	const good = "018bcfe5-687b-7fff-bfff-ffffffffffff"
	if v, err := id.Parse(good); err != nil || v.String() != good {
		t.Errorf("%s: got %s, %v", good, v, err)
	}
	for _, bad := range []string{"", "{" + good + "}", "urn:uuid:" + good, "018bcfe5687b7fffbfffffffffffffff",
		good[:35] + "g", good + " "} {
		if _, err := id.Parse(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	var v struct{ ID id.ID }
	if err := json.Unmarshal([]byte(`{"id":"`+good+`"}`), &v); err != nil || v.ID.String() != good {
		t.Errorf("JSON: %s, %v", v.ID, err)
	}
}

package openapi_test

import (
	"regexp"
	"testing"

	"plimsoll/platform/data/amount"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/openapi"
)

// What the patterns of a request take is what the server reads: no more of the number than it keeps, and no zero
// where something must be given.
func TestPatternsTakeWhatTheServerReads(t *testing.T) {
	pattern := func(kind metadata.Type, required bool) *regexp.Regexp {
		s := openapi.Given([]metadata.Attribute{{Name: "sum", Type: kind, Required: required, Length: 5}})
		return regexp.MustCompile(s.Properties[0].Value.Pattern)
	}
	quantity := func(s string) (int64, bool) {
		v, err := amount.ParseQuantity(s)
		return int64(v), err == nil && v <= amount.QuantityMax
	}
	money := func(s string) (int64, bool) {
		v, err := amount.ParseMoney(s)
		return int64(v), err == nil && v <= amount.MoneyMax
	}
	for _, kind := range []struct {
		attribute metadata.Type
		read      func(string) (int64, bool)
		takes     []string
	}{
		{metadata.Money, money, []string{"0.01", "0.10", "0.1", "1", "10.5", "1.00", "999999999999.99"}},
		{metadata.Quantity, quantity, []string{"0.001", "0.01", "0.010", "0.1", "0.100", "1", "10.5", "1.000",
			"999999999.999"}},
	} {
		given, required := pattern(kind.attribute, false), pattern(kind.attribute, true)
		for _, s := range kind.takes {
			if !given.MatchString(s) || !required.MatchString(s) {
				t.Errorf("%v %q is not taken", kind.attribute, s)
			}
		}
		for _, s := range append(kind.takes, "", "0", "0.0", "0.00", "0.000", "00", "-1", "1.", ".5", "0.0001",
			"1.0000", "1000000000", "1000000000000", "1e3", " 1", "1\n") {
			v, read := kind.read(s)
			if given.MatchString(s) && !read || required.MatchString(s) && (!read || v == 0) {
				t.Errorf("%v %q is taken", kind.attribute, s)
			}
		}
	}
	text := pattern(metadata.Text, true)
	if text.MatchString("a\x00") || !text.MatchString("ñ\n") {
		t.Error("text with the zero character is taken, or other text is not")
	}
}

package amount_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/platform/data/amount"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want amount.Money
		ok   bool
	}{
		{"12.50", 1250, true}, {"12.5", 1250, true}, {"12", 1200, true}, {"-0.01", -1, true}, {"0", 0, true},
		{"007.10", 710, true},
		{"9999999999999999", 999999999999999900, true},
		{"", 0, false}, {"-", 0, false}, {".5", 0, false}, {"1.", 0, false}, {"1.234", 0, false}, {"1e3", 0, false},
		{"+1", 0, false},
		{" 1", 0, false}, {"1,5", 0, false}, {"--1", 0, false}, {"١", 0, false}, {"NaN", 0, false},
		{"99999999999999999", 0, false}, {"0x10", 0, false},
	} {
		got, err := amount.ParseMoney(c.text)
		if (err == nil) != c.ok || got != c.want {
			t.Errorf("ParseMoney(%q) = %d, %v", c.text, got, err)
		}
	}
}

func TestWireAndDatabaseFormsKeepTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := amount.Money(rapid.Int64Range(-999999999999999999, 999999999999999999).Draw(t, "money"))
		q := amount.Quantity(rapid.Int64Range(-999999999999999999, 999999999999999999).Draw(t, "quantity"))
		parsedM, errM := amount.ParseMoney(m.String())
		parsedQ, errQ := amount.ParseQuantity(q.String())
		if errM != nil || errQ != nil || parsedM != m || parsedQ != q {
			t.Fatalf("text: %s became %s (%v), %s became %s (%v)", m, parsedM, errM, q, parsedQ, errQ)
		}
		numericM, _ := m.NumericValue()
		numericQ, _ := q.NumericValue()
		var scannedM amount.Money
		var scannedQ amount.Quantity
		if scannedM.ScanNumeric(numericM) != nil || scannedQ.ScanNumeric(numericQ) != nil || scannedM != m ||
			scannedQ != q {
			t.Fatalf("numeric: %s became %s, %s became %s", m, scannedM, q, scannedQ)
		}
	})
}

// The oracle rounds half away from zero with big rationals.
func TestPortionIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Int64().Draw(t, "m")
		part := rapid.Int64().Draw(t, "part")
		whole := rapid.Int64Range(1, 1<<62).Draw(t, "whole")
		got, err := amount.Money(m).Portion(amount.Quantity(part), amount.Quantity(whole))
		want := rounded(m, part, whole)
		limit := big.NewInt(999_999_999_999_999_999)
		if want.CmpAbs(limit) > 0 {
			if !errors.Is(err, amount.ErrOverflow) {
				t.Fatalf("%d × %d / %d = %s: want overflow, got %d, %v", m, part, whole, want, got, err)
			}
			return
		}
		if err != nil || want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("%d × %d / %d = %s: got %d, %v", m, part, whole, want, got, err)
		}
	})
}

func rounded(m, part, whole int64) *big.Int {
	product := new(big.Int).Mul(big.NewInt(m), big.NewInt(part))
	doubled := new(big.Int).Mul(new(big.Int).Abs(product), big.NewInt(2))
	doubled.Add(doubled, big.NewInt(whole))
	result := doubled.Quo(doubled, new(big.Int).Mul(big.NewInt(whole), big.NewInt(2)))
	if product.Sign() < 0 {
		result.Neg(result)
	}
	return result
}

// Selling a stock piece by piece must leave neither a kopeck nor a debt.
func TestPortionsOfTheRestAddUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := amount.Money(rapid.Int64Range(0, 1e15).Draw(t, "value"))
		quantity := amount.Quantity(rapid.Int64Range(1, 1e9).Draw(t, "quantity"))
		for quantity > 0 {
			taken := amount.Quantity(rapid.Int64Range(1, int64(quantity)).Draw(t, "taken"))
			if rapid.IntRange(0, 9).Draw(t, "all") == 0 {
				taken = quantity
			}
			part, err := left.Portion(taken, quantity)
			if err != nil || part > left || part < 0 {
				t.Fatalf("%s of %s at %s: %s, %v", taken, quantity, left, part, err)
			}
			left, quantity = left-part, quantity-taken
		}
		if left != 0 {
			t.Fatalf("%s is left of nothing", left)
		}
	})
}

func TestSumRefusesToWrap(t *testing.T) {
	const most = amount.Money(999_999_999_999_999_999)
	for _, c := range []struct {
		name   string
		values []amount.Money
		want   amount.Money
		ok     bool
	}{
		{"Nothing", nil, 0, true},
		{"BothSigns", []amount.Money{5, -7, 1}, -1, true},
		{"TheMost", []amount.Money{most - 1, 1}, most, true},
		{"OneMore", []amount.Money{most, 1}, 0, false},
		{"Wrapping", []amount.Money{most, 1 << 62, 1 << 62}, 0, false},
		{"WrappingDown", []amount.Money{-most, -1 << 63}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := amount.Sum(c.values...); (err == nil) != c.ok || got != c.want {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

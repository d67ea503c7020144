package amount_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"pgregory.net/rapid"

	"plimsoll/platform/data/amount"
)

// The driver's own codec is the oracle: what it writes is read as it reads it, and what is written it reads.

func TestAmountsAreWrittenAsTheDriverReadsThem(t *testing.T) {
	own, driver := ownMap(), pgtype.NewMap()
	rapid.Check(t, func(t *rapid.T) {
		money := amount.Money(drawInt64(t, "money"))
		quantity := amount.Quantity(drawInt64(t, "quantity"))
		for _, v := range []any{money, quantity} {
			b, err := own.Encode(pgtype.NumericOID, pgtype.BinaryFormatCode, v, nil)
			if err != nil {
				t.Fatal(err)
			}
			var read pgtype.Numeric
			if err := driver.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, b, &read); err != nil {
				t.Fatal(err)
			}
			if got, _ := read.Value(); !sameAmount(t, got, v) {
				t.Fatalf("%s became %v", v, got)
			}
		}
	})
}

func TestNumericsAreReadAsTheDriverReadsThem(t *testing.T) {
	own, driver := ownMap(), pgtype.NewMap()
	check := func(t interface{ Fatalf(string, ...any) }, text string) {
		var n pgtype.Numeric
		if err := n.Scan(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		b, err := driver.Encode(pgtype.NumericOID, pgtype.BinaryFormatCode, n, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got, want [2]any
		var money, wantMoney amount.Money
		var quantity, wantQuantity amount.Quantity
		got[0], got[1] = own.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, b, &money),
			own.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, b, &quantity)
		want[0], want[1] = driver.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, b, &wantMoney),
			driver.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, b, &wantQuantity)
		if fmt.Sprint(got) != fmt.Sprint(want) || money != wantMoney || quantity != wantQuantity {
			t.Fatalf("%s: %s, %s, %v; the driver: %s, %s, %v", text, money, quantity, got, wantMoney, wantQuantity,
				want)
		}
	}
	for _, text := range []string{
		"0", "0.00", "0.001", "0.0001", "0.01", "0.1", "1", "-1", "10000", "100000000", "9999.9999", "999999999999.99",
		"1000000000000", "9999999999999999.99",
		"99999999999999999999999", "-0.05", "0.0000000001", "100000000000000000000", "NaN",
	} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, fmt.Sprintf("%d.%0*d", drawInt64(t, "whole"), rapid.IntRange(1, 5).Draw(t, "decimals"),
			rapid.IntRange(0, 9).Draw(t, "fraction")))
	})
}

func TestNoAmountIsRead(t *testing.T) {
	own, driver := ownMap(), pgtype.NewMap()
	for name, b := range map[string][]byte{"Null": nil, "Empty": {}, "Cut": {0, 1, 0, 0, 0, 0, 0},
		"CutDigits": {0, 2, 0, 0, 0, 0, 0, 2, 0, 1}} {
		t.Run(name, func(t *testing.T) {
			var m amount.Money
			got := own.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, b, &m)
			want := driver.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, b, &m)
			if got == nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, the driver %v", got, want)
			}
		})
	}
}

func TestArraysOfAmountsTravel(t *testing.T) {
	own := ownMap()
	sent := []amount.Money{0, 1, -1, 100, 1_000_000_00, 1 << 62}
	b, err := own.Encode(pgtype.NumericArrayOID, pgtype.BinaryFormatCode, sent, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []amount.Money
	if err := own.Scan(pgtype.NumericArrayOID, pgtype.BinaryFormatCode, b, &got); err != nil ||
		fmt.Sprint(got) != fmt.Sprint(sent) {
		t.Errorf("got %v, %v", got, err)
	}
}

func ownMap() *pgtype.Map {
	m := pgtype.NewMap()
	amount.Register(m)
	return m
}

// drawInt64 of any length.
func drawInt64(t *rapid.T, name string) int64 {
	return rapid.Int64().Draw(t, name) >> rapid.IntRange(0, 63).Draw(t, name+" shift")
}

func sameAmount(t *rapid.T, driver, own any) bool {
	var back, want pgtype.Numeric
	if back.Scan(fmt.Sprint(driver)) != nil || want.Scan(fmt.Sprint(own)) != nil {
		t.Fatalf("%v and %v are no numbers", driver, own)
	}
	a, _ := back.Value()
	b, _ := want.Value()
	return a == b
}

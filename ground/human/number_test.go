package human

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// written is what a formatter writes, and what a reader should see.
type written struct{ got, want string }

func check(t *testing.T, all map[string]written) {
	t.Helper()
	for name, w := range all {
		if w.got != w.want {
			t.Errorf("%s is written %q, want %q", name, w.got, w.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	third := 1.0 / 3
	check(t, map[string]written{
		"Thousands/0":        {Thousands(0), "0"},
		"Thousands/999":      {Thousands(999), "999"},
		"Thousands/1000":     {Thousands(1000), "1,000"},
		"Thousands/123456":   {Thousands(123456), "123,456"},
		"Thousands/1234567":  {Thousands(int64(1234567)), "1,234,567"},
		"Thousands/-123":     {Thousands(-123), "-123"},
		"Thousands/-1234":    {Thousands(-1234), "-1,234"},
		"Count/0":            {Count(0, "trial"), "0 trials"},
		"Count/1":            {Count(1, "trial"), "1 trial"},
		"Count/1200":         {Count(int64(1200), "user"), "1,200 users"},
		"Decimal/Whole":      {Decimal(12, 1), "12"},
		"Decimal/Rounded":    {Decimal(12.26, 1), "12.3"},
		"Decimal/FewerZeros": {Decimal(0.1204, 3), "0.12"},
		"Decimal/Negative":   {Decimal(-0.5, 1), "-0.5"},
		"Figure/Small":       {Figure(0.012345, 3), "0.0123"},
		"Figure/Fraction":    {Figure(12.345, 3), "12.3"},
		"Figure/Whole":       {Figure(12345.6, 3), "12346"},
		"Figure/RoundsUp":    {Figure(999.7, 3), "1000"},
		"Figure/Four":        {Figure(999.74, 4), "999.7"},
		"Figure/Negative":    {Figure(-1234.5, 3), "-1234"},
		"Figure/NaN":         {Figure(math.NaN(), 3), "NaN"},
		"Percent":            {Percent(0.756), "76 %"},
		"Percent/Negative":   {Percent(-0.1), "-10 %"},
		"Percent1":           {Percent1(third), "33.3 %"},
		"Percent1/0":         {Percent1(0), "0.0 %"},
		"Share/0":            {Share(0), "0 %"},
		"Share/Small":        {Share(0.034), "3.4 %"},
		"Share/SmallLoss":    {Share(-0.034), "-3.4 %"},
		"Share/Large":        {Share(0.756), "76 %"},
		"Known":              {Known(&third, "-", Percent), "33 %"},
		"Known/Nil":          {Known(nil, "-", Percent), "-"},
	})
}

func TestBytes(t *testing.T) {
	check(t, map[string]written{
		"0":        {Bytes(int64(0)), "0 bytes"},
		"1023":     {Bytes(int64(1023)), "1023 bytes"},
		"Mean":     {Bytes(12.6), "13 bytes"},
		"kB":       {Bytes(int64(20 << 10)), "20 kB"},
		"MB":       {Bytes(1.5 * (1 << 20)), "1.5 MB"},
		"1000MB":   {Bytes(int64(1020 << 20)), "1020 MB"},
		"GB":       {Bytes(int64(1)<<30 + 1<<28), "1.3 GB"},
		"TB":       {Bytes(int64(3) << 40), "3 TB"},
		"Negative": {Bytes(-5.0), "-5 bytes"},
	})
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"20GB": 20 << 30, "1.5 TB": 3 << 39, "300mb": 300 << 20, "1kB": 1 << 10,
		"": 0, "GB": 0, "20": 0, "-1GB": 0, "0MB": 0, "1e30TB": 0, "20 apples": 0, "NaNMB": 0} {
		if got, err := ParseBytes(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestParseBytes_ReadsWhatBytesWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1<<10, 1<<50).Draw(t, "bytes")
		got, err := ParseBytes(Bytes(n))
		if err != nil || math.Abs(float64(got-n)) > 0.05*float64(n)+1 {
			t.Fatalf("%d is written %s and read as %d, %v", n, Bytes(n), got, err)
		}
	})
}

func TestTimes(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	check(t, map[string]written{
		"Millis/0":           {Millis(0.04), "0.0"},
		"Millis/Below10":     {Millis(9.94), "9.9"},
		"Millis/RoundsTo10":  {Millis(9.96), "10"},
		"Millis/Thousands":   {Millis(12345.6), "12,346"},
		"Seconds/0":          {Seconds(0), "0 s"},
		"Seconds/Fraction":   {Seconds(0.05), "0.05 s"},
		"Seconds/Tenth":      {Seconds(12.34), "12.3 s"},
		"Seconds/Odd":        {Seconds(130), "130 s"},
		"Seconds/Minutes":    {Seconds(1200), "20 min"},
		"Duration/0":         {Duration(0), "0s"},
		"Duration/10s":       {Duration(10 * s), "10s"},
		"Duration/1m":        {Duration(m), "1m"},
		"Duration/1m30s":     {Duration(90 * s), "1m30s"},
		"Duration/1h":        {Duration(h), "1h"},
		"Duration/1h30m":     {Duration(90 * m), "1h30m"},
		"Duration/1h0m1s":    {Duration(h + s), "1h0m1s"},
		"Duration/20ms":      {Duration(20 * time.Millisecond), "20ms"},
		"Roughly/Seconds":    {Roughly(90 * s), "90 s"},
		"Roughly/Minutes":    {Roughly(25*m + 20*s), "25 min"},
		"Roughly/Hours":      {Roughly(150 * m), "2.5 h"},
		"Elapsed/Seconds":    {Elapsed(45 * s), "45s"},
		"Elapsed/Minutes":    {Elapsed(125 * s), "2m05s"},
		"Elapsed/Hours":      {Elapsed(70*m + 59*s), "1h10m"},
		"Elapsed/RoundsUp":   {Elapsed(59*s + 700*time.Millisecond), "1m00s"},
		"Took/Nanoseconds":   {Took(1234), "1.23µs"},
		"Took/Microseconds":  {Took(52345), "52µs"},
		"Took/Milliseconds":  {Took(1234567), "1.23ms"},
		"Took/MoreThanASec.": {Took(1234567890), "1.23457s"},
	})
	if got := MS(1234567); got != 1.234 {
		t.Errorf("1234567 ns are %v ms, want 1.234", got)
	}
}

func TestFigure_IsNeverInPowersOfTen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0.001, 1e15).Draw(t, "x")
		if got := Figure(x, rapid.IntRange(2, 5).Draw(t, "digits")); strings.Contains(got, "e") {
			t.Fatalf("%v is written %s", x, got)
		}
	})
}

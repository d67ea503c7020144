package score_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/recorded/score"
)

// log writes a folder of logs: lines of one process by hour.
func log(t *testing.T, hours map[int][]string) string {
	t.Helper()
	dir := t.TempDir()
	for hour, lines := range hours {
		path := filepath.Join(dir, "rphost_1", fmt.Sprintf("261128%02d.log", hour))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)); err != nil {
			t.Fatal("write a log:", err)
		}
	}
	return dir
}

// event that ends at a second of its hour.
func event(second float64, took time.Duration, name, fields string) string {
	minute := int(second) / 60
	return fmt.Sprintf("%02d:%09.6f-%d,%s,3,process=rphost,t:clientID=5%s", minute, second-float64(60*minute),
		took.Microseconds(), name, fields)
}

func call(second float64, took time.Duration, operation string) string {
	return event(second, took, "CALL", ",Context='\n\tФорма.Вызов : "+operation+"\n\tМодуль : 7 : Записать()'")
}

func TestRead_CountsWhatHappened(t *testing.T) {
	dir := log(t, map[int][]string{
		10: {
			event(1, 300*time.Millisecond, "DBPOSTGRS", ",Sql='SELECT 1'"), // before the call: of no call
			event(10.2, 100*time.Millisecond, "DBPOSTGRS", ",Sql=x"),
			event(10.4, 200*time.Millisecond, "TLOCK", ",WaitConnections=9,Locks=y"),
			event(10.5, 0, "TLOCK", ",WaitConnections=,Locks=y"), // had not to wait
			call(11, time.Second, "Заказ.Провести"),              // 10 to 11: not below T of 1 s
			call(12, 999_999*time.Microsecond, "Заказ.Провести"),
			call(20, 4*time.Second, "Заказ.Провести"), // frustrated from 4T on
			event(21, 0, "TTIMEOUT", ",WaitConnections=9"),
			event(21.1, 0, "EXCP", ",Descr=z"),
			call(21.2, 500*time.Millisecond, "Заказ.Провести"), // fast, but lost
			event(22, 10*time.Millisecond, "CALL", ",IName=IVResourceRemoteConnection"),
		},
		11: {call(1, 100*time.Millisecond, "Отчет.Сформировать"),
			event(2, time.Second, "CALL", ",Module=Фоновое,Method=Обменять")},
	})
	r, err := score.Read(t.Context(), score.Options{Paths: []string{dir}, Zone: time.UTC,
		Targets: map[string]time.Duration{"Заказ.Провести": time.Second}, Target: 2 * time.Second})
	if err != nil {
		t.Fatal("score:", err)
	}
	if len(r.Operations) != 3 || len(r.Hours) != 2 || r.Calls != 6 {
		t.Fatalf("%d operations, %d hours, %d calls; want 3, 2, 6: %+v", len(r.Operations), len(r.Hours), r.Calls, r)
	}
	op := r.Operations[0]
	if diff := cmp.Diff(apdex.Counts{Satisfied: 1, Tolerating: 1, Frustrated: 2}, op.Zones); diff != "" ||
		op.Name != "Заказ.Провести" {
		t.Errorf("%s (-want +got):\n%s", op.Name, diff)
	}
	spent := 1 + 0.999999 + 4 + 0.5
	want := score.Figures{N: 4, Zones: op.Zones, Apdex: 0.375, Interval: op.Interval, P50S: 1, P95S: 4, Beyond4T: 0.5,
		Database: 0.1 / spent, Waiting: 0.2 / spent, Statements: 0.25, LockWaits: 1, Timeouts: 1, Exceptions: 1}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if diff := cmp.Diff(want, op.Figures, near); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if got, want := r.Unscored, (score.Unscored{Calls: 1, CallsS: 0.01, Statements: 1, OfAll: 2}); got != want {
		t.Errorf("unscored %+v, want %+v", got, want)
	}
	if r.Apdex != 3.5/6 {
		t.Errorf("Apdex %v, want that of all calls, %v", r.Apdex, 3.5/6)
	}
}

// A proposed target must not hide a busy hour that is slow: it comes from the calm ones.
func TestRead_ProposedTargetsComeFromCalmHours(t *testing.T) {
	hours := map[int][]string{}
	for hour, calls := range map[int]int{9: 50, 10: 400, 11: 60} {
		took := 200 * time.Millisecond
		if calls > 100 {
			took = 5 * time.Second
		}
		for i := range calls {
			hours[hour] = append(hours[hour], call(float64(10+8*i), took, "Заказ.Провести"))
		}
	}
	r, err := score.Read(t.Context(), score.Options{Paths: []string{log(t, hours)}, Zone: time.UTC})
	if err != nil {
		t.Fatal("score:", err)
	}
	op := r.Operations[0]
	if op.TargetS != 0.2+0 && op.TargetS != 0.21 || !op.Proposed {
		t.Errorf("target %v s, proposed: %v; want that of the calm hours", op.TargetS, op.Proposed)
	}
	for _, h := range op.Hours {
		if busy := h.Hour.Hour() == 10; busy != (h.Beyond4T > 0.9) {
			t.Errorf("%s: %.0f %% beyond 4T; want the busy hour, and it alone, to be worse", h.Hour, 100*h.Beyond4T)
		}
	}
	if !strings.Contains(r.Basis(), "proposed") {
		t.Errorf("the text says %q; want that targets are proposed", r.Basis())
	}
	var page, text bytes.Buffer
	if err := errors.Join(r.HTML(&page), r.Text(&text, false)); err != nil {
		t.Fatal("write:", err)
	}
	for _, want := range []string{"Заказ.Провести", "2026-11-28 10:00", "0.2*"} {
		if !strings.Contains(page.String(), want) || !strings.Contains(text.String(), want) {
			t.Errorf("page or text without %q:\n%s", want, text.String())
		}
	}
}

func TestRead_SaysWhatALogLacks(t *testing.T) {
	for name, c := range map[string]struct {
		hours map[int][]string
		want  error
	}{
		"nothing":       {nil, score.ErrNoLog},
		"no operations": {map[int][]string{10: {event(1, 1, "SDBL", ",Func=x")}}, score.ErrNoCalls},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := score.Read(t.Context(), score.Options{Paths: []string{log(t, c.hours)}}); !errors.Is(err,
				c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestReadTargets(t *testing.T) {
	got, err := score.ReadTargets(strings.NewReader("\uFEFFОперация;T, " +
		"с\n\"Заказ.Провести\";1,5\nA,b\t800ms\nОтчет,2\n"))
	if err != nil {
		t.Fatal("read targets:", err)
	}
	if diff := cmp.Diff(map[string]time.Duration{"Заказ.Провести": 1500 * time.Millisecond,
		"A,b":   800 * time.Millisecond,
		"Отчет": 2 * time.Second}, got); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "A", "A;1\nB;x", "A;1\nA;2", "A;1\nB;0", "A;1\nB;1.2345", "A;1\nB;NaN",
		"A;1\nB;1e9"} {
		if got, err := score.ReadTargets(strings.NewReader(text)); err == nil {
			t.Errorf("of %q targets %v were read; want an error", text, got)
		}
	}
}

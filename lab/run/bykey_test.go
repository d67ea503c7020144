package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/client"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run/result"
	"plimsoll/platform/data/id"
)

// TestOperationsAreComparedKeyByKey: counts of an operation that is lost and of one that was carried out without an
// answer cancel out.
func TestOperationsAreComparedKeyByKey(t *testing.T) {
	const acknowledged, unknown, notDone = client.Acknowledged, client.Unknown, client.NotDone
	type stored struct {
		key, documentType string
		document          bool
	}
	for name, c := range map[string]struct {
		lost   bool
		fates  []client.Fate // of the series
		series string        // defaults to goods_sale
		stored []stored
		want   []string // what differs, and by how many missing and unexpected
	}{
		"AllThere": {fates: []client.Fate{acknowledged, acknowledged},
			stored: []stored{{"goods_sale-0", "goods_sale", true}, {"goods_sale-1", "goods_sale", true}}},
		"UnknownThereOrNot": {fates: []client.Fate{acknowledged, unknown, unknown},
			stored: []stored{{"goods_sale-0", "goods_sale", true}, {"goods_sale-2", "goods_sale", true}}},
		"RefusedAndNotThere": {fates: []client.Fate{notDone, acknowledged},
			stored: []stored{{"goods_sale-1", "goods_sale", true}}},
		"LostBesideUnknown": {fates: []client.Fate{acknowledged, unknown},
			stored: []stored{{"goods_sale-1", "goods_sale", true}},
			want:   []string{"documents goods_sale 1 0", "operations on goods_sale 1 0"}},
		"RefusedAndThereBesideLost": {fates: []client.Fate{acknowledged, notDone},
			stored: []stored{{"goods_sale-1", "goods_sale", true}},
			want:   []string{"documents goods_sale 1 1", "operations on goods_sale 1 1"}},
		"TwiceBesideLost": {fates: []client.Fate{acknowledged, acknowledged},
			stored: []stored{{"goods_sale-0", "goods_sale", true}, {"goods_sale-0", "goods_sale", true}},
			want:   []string{"documents goods_sale 1 1", "operations on goods_sale 1 1"}},
		"NeverSent": {fates: []client.Fate{acknowledged},
			stored: []stored{{"goods_sale-0", "goods_sale", true}, {"goods_sale-1", "goods_sale", true}},
			want:   []string{"documents goods_sale 0 1", "operations on goods_sale 0 1"}},
		"OfAnotherType": {fates: []client.Fate{acknowledged},
			stored: []stored{{"goods_sale-0", "goods_receipt", true}},
			want: []string{"documents goods_receipt 0 1", "documents goods_sale 1 0", "operations on goods_receipt 0 1",
				"operations on goods_sale 1 0"}},
		"NoKeyOfOurs": {stored: []stored{{"goods_sale-007", "goods_sale", false}},
			want: []string{"operations on goods_sale 0 1"}},
		"OnlyTheDocumentIsLost": {fates: []client.Fate{acknowledged, unknown},
			stored: []stored{{"goods_sale-0", "goods_sale", false}, {"goods_sale-1", "goods_sale", true}},
			want:   []string{"documents goods_sale 1 0"}},
		"ChangesMakeNoDocument": {fates: []client.Fate{acknowledged, acknowledged}, series: "goods_sale.change",
			stored: []stored{{"goods_sale.change-0", "goods_sale", true}},
			want:   []string{"operations on goods_sale 1 0"}},
		"LostAgentDidMore": {lost: true, fates: []client.Fate{acknowledged},
			stored: []stored{{"goods_sale-0", "goods_sale", true}, {"goods_sale-7", "goods_sale", true}}},
		"LostAgentsLostBesideMore": {lost: true, fates: []client.Fate{acknowledged},
			stored: []stored{{"goods_sale-7", "goods_sale", true}},
			want:   []string{"operations on documents of agent it, which was lost 1 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.series == "" {
				c.series = "goods_sale"
			}
			conn := clustertest.Connect(t, clustertest.Database(t).Secret(), "")
			exec := func(sql string, args ...any) {
				t.Helper()
				if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
					t.Fatal(err)
				}
			}
			exec(`CREATE TABLE plimsoll_operation (key text, document_type text, document uuid,
				made_at timestamptz DEFAULT now());
				CREATE TABLE doc_goods_sale (id uuid); CREATE TABLE doc_goods_receipt (id uuid)`)
			of, other := id.New().String(), id.New().String()
			exec("INSERT INTO plimsoll_operation VALUES ($1, 'goods_sale', $2)", other+"-goods_sale-0", id.New())
			for _, s := range c.stored {
				document := id.New()
				exec("INSERT INTO plimsoll_operation VALUES ($1, $2, $3)", of+"-"+s.key, s.documentType, document)
				if s.document {
					exec("INSERT INTO doc_"+s.documentType+" VALUES ($1)", document)
				}
			}
			w := Written{of, map[string]client.Fates{c.series: packedFates(c.fates)}}
			all := newWriters([]Written{w}, nil)
			if c.lost {
				all = newWriters(nil, []Lost{{"it", w}})
			}
			rows, err := reconcileKeys(t.Context(), conn, all, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			var differ []string
			for _, row := range rows {
				if row.Differs() {
					differ = append(differ, fmt.Sprint(row.What, " ", row.ByKey.Missing, " ", row.ByKey.Unexpected))
				}
				if n := len(row.ByKey.Examples); row.Differs() != (n > 0) {
					t.Errorf("%s names %d keys", row.What, n)
				}
			}
			if !slices.Equal(differ, c.want) {
				t.Errorf("%q, want %q", differ, c.want)
			}
		})
	}
}

func packedFates(fates []client.Fate) (f client.Fates) {
	f.N, f.Packed = int64(len(fates)), make([]byte, (len(fates)+3)/4)
	for i, fate := range fates {
		f.Packed[i/4] |= byte(fate) << (i % 4 * 2)
	}
	return f
}

// The reason names what counts hide.
func TestWhatCountsHideIsAReason(t *testing.T) {
	var v verdict
	judgeReconciliation(&v, &result.Reconciliation{Done: true, Rows: []result.Reconciled{{What: "a", Acknowledged: 7,
		Unknown: 1, Found: 7, ByKey: &result.ByKey{Missing: 1, Examples: []string{"x-goods_sale-3"}}}}})
	if got := strings.Join(v.reasons, "\n"); !strings.Contains(got,
		"the database has 7; 1 of the acknowledged are missing: key x-goods_sale-3") {
		t.Errorf("want the missing key named, got %q", got)
	}
}

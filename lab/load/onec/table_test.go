package onec

import (
	"slices"
	"testing"
)

// The names are those that the platform gives to the indexes of a base on PostgreSQL.
func TestIndexes_AreNamedAsThePlatformDoes(t *testing.T) {
	var names []string
	for _, table := range tables() {
		for _, i := range table.indexes {
			if slices.Contains(names, table.indexName(i)) {
				t.Errorf("%s stands twice", table.indexName(i))
			}
			names = append(names, table.indexName(i))
		}
	}
	for _, want := range []string{"_reference12_s_hpk", "_refere12_bycode_nsr", "_document34_s_hpk",
		"_docume34_bydocdate_ntr", "_document34_vt42_intkeyind", "_inforg60_bydims_nrrt", "_inforg66_bydims_nrr",
		"_accumr70_byrecorder_nrn", "_accumr70_bydims77_nrtrn", "_accumr78_bydims_ntrrrn", "_accrg80_byrecorder_nrn",
		"_accrga392_bydims_ntrrrrrn"} {
		if !slices.Contains(names, want) {
			t.Errorf("no index %s among %q", want, names)
		}
	}
}

func TestTable_CompositeValuesAreThreeColumns(t *testing.T) {
	if got, want := stockTotals.list("T1.", "_Fld73", "_Splitter"),
		"T1._Fld73_TYPE, T1._Fld73_RTRef, T1._Fld73_RRRef, T1._Splitter"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := stock.list("", "_Recorder"); got != "_RecorderTRef, _RecorderRRef" {
		t.Error(got)
	}
}

func TestOctal_IsWhatThePlatformWrites(t *testing.T) {
	if got, want := octal([]byte{0, 8, 255}), `'\\000\\010\\377'::bytea`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

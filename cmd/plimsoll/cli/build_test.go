package cli

import "testing"

// Every start of the program builds its command line: a worker's too, of which a load has many. What a command needs
// only once it runs has no place in that. 100,000 definitions of temp tables of one experiment once made each start a
// second long.
func TestNewApp_AsksForLittle(t *testing.T) {
	const most = 100_000
	if allocations := testing.AllocsPerRun(1, func() { newApp(nil, nil, nil) }); allocations > most {
		t.Errorf("building the command line allocates %.0f times, want at most %d", allocations, most)
	} else {
		t.Logf("%.0f allocations", allocations)
	}
}
